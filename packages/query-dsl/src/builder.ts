import { compare, decimalText, isBound, shortest } from './bounds.ts';
import { FilterArgumentError, FilterSyntaxError } from './errors.ts';
import {
  type Bound,
  type Clause,
  type Field,
  type Filter,
  type FilterInput,
  fieldsOf,
  type filterFields,
} from './filter.ts';
import { toFilter } from './parse.ts';
import { printFilter } from './print.ts';
import { type Stop, stopAtName, toProblem } from './problem.ts';
import { formOf, meantName, stopAtInverted } from './reader.ts';

/** A filter under construction. */
export interface FilterBuilder extends Filter {
  /** The filter as plain data. */
  toFilter(): Filter;
  /** The canonical text, as `printFilter` writes it. */
  toString(): string;
}

/** What a bound may be, by the type of its field. */
export interface BoundOf {
  /** A time without a zone: `YYYY-MM-DD HH:MM:SS`. */
  date: string;
  /** A number, or a string that is one. */
  decimal: number | `${number}`;
}

/**
 * The bounds of each field with ranges: of `date_added` a time without a zone, of `talk_minutes` a
 * number of minutes.
 */
export type Bounds = {
  readonly [N in keyof typeof filterFields.v2]: BoundOf[(typeof filterFields.v2)[N]];
};

/** A range that has no lower bound yet. */
export interface WithoutLower<B, Next> {
  /** At or after the bound; the same as `atLeast`. */
  from(bound: B): Next;
  /** The bound or more; the same as `from`. */
  atLeast(bound: B): Next;
  /** More than the bound, or after it. */
  above(bound: B): Next;
}

/** A range that has no upper bound yet. */
export interface WithoutUpper<B, Next> {
  /** Before the bound; the same as `below`. */
  before(bound: B): Next;
  /** Less than the bound; the same as `before`. */
  below(bound: B): Next;
  /** The bound or less. */
  atMost(bound: B): Next;
}

/** What `where` returns: a range that is a filter once it has a bound. Each end can be set once. */
export interface RangeBuilder<B>
  extends WithoutLower<B, FilterBuilder & WithoutUpper<B, FilterBuilder>>,
    WithoutUpper<B, FilterBuilder & WithoutLower<B, FilterBuilder>> {}

/**
 * Starts a range on a field.
 *
 * @example
 * where('talk_minutes').atLeast(2); // talk_minutes:[2 TO *]
 * where('date_added').from('2024-01-01 00:00:00').before('2024-02-01 00:00:00');
 */
export function where<N extends keyof Bounds>(field: N): RangeBuilder<Bounds[N]>;
export function where(field: string): object {
  const known = fieldsOf({}).find(({ name }) => name === field);
  if (known === undefined) return fail(field, stopAtName(field, 0, {}, meantName(field, {})));
  if (known.type === 'flag') {
    const sentence = `"${field}" has no range. Write '${field}:1' as a part of allOf.`;
    fail(field, { code: 'syntax', start: 0, end: field.length, expected: [], sentence });
  }

  return range(known, null, null);
}

/**
 * A filter whose clauses are those of all the parts, in this order. A record has to match them all.
 *
 * @example
 * String(allOf(where('talk_minutes').atLeast(2), 'inc_gce:1')); // talk_minutes:[2 TO *],inc_gce:1
 */
export function allOf(...parts: readonly FilterInput[]): FilterBuilder {
  return build(parts.flatMap((part) => toFilter(part).clauses));
}

const build = (clauses: readonly Clause[]): FilterBuilder => ({
  clauses,
  toFilter: () => ({ clauses }),
  toString: () => printFilter({ clauses }),
});

function fail(text: string, stop: Stop): never {
  throw new FilterSyntaxError(toProblem(text, stop));
}

type Value = string | number;

/** A range whose bounds are checked when it runs. */
type AnyRange = FilterBuilder &
  Readonly<
    Record<'from' | 'atLeast' | 'above' | 'before' | 'below' | 'atMost', (value: Value) => object>
  >;

function range(field: Field, lower: Bound | null, upper: Bound | null): AnyRange {
  const set =
    (end: 'lower' | 'upper', inclusive: boolean) =>
    (value: Value): AnyRange => {
      const ends = { lower, upper };
      if (ends[end] !== null)
        throw new FilterArgumentError(`The ${end} bound of ${field.name} is already set.`);
      ends[end] = { text: boundText(field, value), inclusive };
      refuseInverted(field.name, ends.lower, ends.upper);
      return range(field, ends.lower, ends.upper);
    };

  const bounds = {
    from: set('lower', true),
    atLeast: set('lower', true),
    above: set('lower', false),
    before: set('upper', false),
    below: set('upper', false),
    atMost: set('upper', true),
  };
  if (lower !== null || upper !== null)
    return { ...build([{ kind: 'range', field: field.name, lower, upper }]), ...bounds };

  // A range without a bound is no filter: what reads it as one says so.
  const refuse = (): never => {
    const example = field.type === 'date' ? ".from('2026-01-01 00:00:00')" : '.atLeast(2)';
    throw new FilterArgumentError(
      `where('${field.name}') has no bound yet. Add one, such as where('${field.name}')${example}; the filter for any value is '${field.name}:[* TO *]'.`,
    );
  };

  return {
    ...bounds,
    get clauses() {
      return refuse();
    },
    toFilter: refuse,
    toString: refuse,
  };
}

function refuseInverted(field: string, lower: Bound | null, upper: Bound | null): void {
  if (lower === null || upper === null || compare(lower, upper) <= 0) return;
  const text = printFilter({ clauses: [{ kind: 'range', field, lower, upper }] });
  fail(text, stopAtInverted(lower.text, upper.text, 0, text.length));
}

function boundText(field: Field, value: Value): string {
  const text =
    typeof value === 'number' && field.type === 'decimal' ? decimalText(value) : String(value);
  if (isBound(text, field.type)) return shortest(text);
  return fail(text, {
    code: 'bound',
    start: 0,
    end: text.length,
    expected: [formOf(field)],
    type: field.type,
  });
}

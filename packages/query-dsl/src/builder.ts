import { formatDate } from './calendar.ts';
import { Cursor } from './cursor.ts';
import { FilterArgumentError, FilterSyntaxError } from './errors.ts';
import { toProblem } from './explain.ts';
import {
  type Bound,
  type Clause,
  type ExtraFields,
  type Field,
  type Filter,
  type FilterLike,
  fieldsOf,
  filterOf,
  type Version,
} from './filter.ts';
import { printFilter, shortest } from './print.ts';
import type { Fact } from './problem.ts';
import { compare } from './ranges.ts';
import { isBound } from './scan.ts';
import { decimalText, readBound } from './tolerant-bound.ts';
import { factAboutName, vocabularyOf } from './tolerant-clause.ts';

/** A filter under construction. `V` are the versions that it may be sent to. */
export interface FilterBuilder<V extends Version = Version> extends Filter {
  /** The filter as plain data. */
  toFilter(): Filter;
  /** The canonical text, as `printFilter` writes it. */
  toString(): string;
  /** Whether it may be sent to a version. Its type keeps a filter for v3 from where one for v2 is expected. */
  readonly fits: (version: V) => boolean;
}

/** The time zone in which a JS `Date` is read: an IANA name such as `America/New_York`, or `UTC`. */
export interface InZone {
  /** The name of the time zone. */
  readonly timeZone: string;
}

/** Bounds of a date field: a string `YYYY-MM-DD HH:MM:SS`, or a `Date` with the time zone to read it in. */
export type DateArguments = [text: string] | [date: Date, zone: InZone];
/** Bounds of a decimal field: a number, or a string that is one. */
export type DecimalArguments = [value: number | `${number}`];

/** A range that has no lower bound yet. */
export interface WithoutLower<A extends unknown[], Next> {
  /** At or after the bound; the same as `atLeast`. */
  from(...bound: A): Next;
  /** The bound or more; the same as `from`. */
  atLeast(...bound: A): Next;
  /** More than the bound, or after it. */
  above(...bound: A): Next;
}

/** A range that has no upper bound yet. */
export interface WithoutUpper<A extends unknown[], Next> {
  /** Before the bound; the same as `below`. */
  before(...bound: A): Next;
  /** Less than the bound; the same as `before`. */
  below(...bound: A): Next;
  /** The bound or less. */
  atMost(...bound: A): Next;
}

/** What `where` returns. Each end can be set once. With no end set, it matches every record that has a value. */
export interface RangeBuilder<A extends unknown[]>
  extends FilterBuilder,
    WithoutLower<A, FilterBuilder & WithoutUpper<A, FilterBuilder>>,
    WithoutUpper<A, FilterBuilder & WithoutLower<A, FilterBuilder>> {}

/** The types of bounds by field type. */
export interface BoundArguments {
  /** Bounds of a date field. */
  date: DateArguments;
  /** Bounds of a decimal field. */
  decimal: DecimalArguments;
}

/** The fields of both versions that have ranges. */
export interface DocumentedRanges {
  /** When the call was added, a time without a zone. */
  date_added: 'date';
  /** Minutes of talk. */
  talk_minutes: 'decimal';
}

/** Starts a range on one of the fields in `F`. */
export type Where<F> = <N extends keyof F & string>(
  field: N,
) => RangeBuilder<BoundArguments[F[N] & keyof BoundArguments]>;

/** A tree that was parsed or written by hand. The types do not know which version it is for. */
export interface PlainFilter extends Filter {
  /** Only builders have it. */
  readonly fits?: undefined;
}

/** The builder functions of one version, with the caller's own fields. */
export interface Build<V extends Version, F extends ExtraFields> {
  /** Starts a range on a field. */
  readonly where: Where<DocumentedRanges & F>;
  /** A filter whose clauses are those of all the parts, in this order. A record has to match them all. */
  allOf(...parts: readonly (FilterBuilder<V> | PlainFilter)[]): FilterBuilder<V>;
}

/** What v3 has in addition: the switch for calls made through call extensions. */
export interface BuildV3<F extends ExtraFields> extends Build<'v3', F> {
  /** `inc_gce:1`: calls made through call extensions are included. */
  includeCallExtensions(): FilterBuilder<'v3'>;
}

/** What `builderFor` knows besides the documented fields. */
export interface BuildOptions<F extends ExtraFields> {
  /** Further fields that may be filtered, by name, each with the type of its bounds. */
  readonly fields?: F | undefined;
}

/**
 * Builder functions for one version. Those for v2 have no `includeCallExtensions` and accept no filter that has it.
 *
 * @example
 * const { where, allOf } = builderFor('v2', { fields: { smart_minutes: 'decimal' } });
 * where('smart_minutes').below(1);
 */
export function builderFor<F extends ExtraFields = Record<never, never>>(
  version: 'v2',
  options?: BuildOptions<F>,
): Build<'v2', F>;
/**
 * Builder functions for v3, which has `includeCallExtensions`.
 *
 * @example
 * const { allOf, includeCallExtensions, where } = builderFor('v3');
 * allOf(where('talk_minutes').atLeast(2), includeCallExtensions());
 */
export function builderFor<F extends ExtraFields = Record<never, never>>(
  version: 'v3',
  options?: BuildOptions<F>,
): BuildV3<F>;
export function builderFor(version: Version, options: BuildOptions<ExtraFields> = {}): object {
  const start = (field: string): object => startRange(field, version, options.fields);
  return version === 'v2' ? { where: start, allOf } : { where: start, allOf, includeCallExtensions };
}

/**
 * Starts a range on a documented field.
 *
 * @example
 * where('talk_minutes').atLeast(2); // talk_minutes:[2 TO *]
 * where('date_added').from('2024-01-01 00:00:00').before('2024-02-01 00:00:00');
 */
export const where = startRange as Where<DocumentedRanges>;

/**
 * A filter whose clauses are those of all the parts, in this order. A record has to match them all.
 *
 * @example
 * String(allOf(where('talk_minutes').atLeast(2), includeCallExtensions())); // talk_minutes:[2 TO *],inc_gce:1
 */
export function allOf<V extends Version>(
  ...parts: readonly (FilterBuilder<V> | PlainFilter)[]
): FilterBuilder<V> {
  return build(parts.flatMap((part: FilterLike) => filterOf(part).clauses));
}

/** `inc_gce:1` (v3): calls made through call extensions are included. */
export function includeCallExtensions(): FilterBuilder<'v3'> {
  return build([{ kind: 'flag', field: 'inc_gce' }]);
}

function build(clauses: readonly Clause[]) {
  return {
    clauses,
    fits: (version: Version) => version === 'v3' || clauses.every(({ kind }) => kind !== 'flag'),
    toFilter: () => ({ clauses }),
    toString: () => printFilter({ clauses }),
  };
}

function startRange(field: string, version?: Version, extra?: ExtraFields): object {
  const options = { version, fields: extra };
  const known = fieldsOf(options).find(({ name }) => name === field);
  const place = { start: 0, end: field.length };
  if (known === undefined) fail(field, factAboutName(field, place, vocabularyOf(options)));
  if (known.type === 'flag') fail(field, { reason: 'flag_range', ...place, field });
  return range(known, null, null);
}

function fail(text: string, fact: Fact): never {
  throw new FilterSyntaxError(toProblem(text, fact));
}

type Value = string | number | Date;

function range(field: Field, lower: Bound | null, upper: Bound | null): object {
  const set =
    (end: 'lower' | 'upper', inclusive: boolean) =>
    (value: Value, zone?: InZone): object => {
      const ends = { lower, upper };
      if (ends[end] !== null)
        throw new FilterArgumentError(`The ${end} bound of ${field.name} is already set.`);
      ends[end] = { text: boundText(field, value, zone), inclusive };
      refuseInverted(field.name, ends.lower, ends.upper);
      return range(field, ends.lower, ends.upper);
    };
  return {
    ...build([{ kind: 'range', field: field.name, lower, upper }]),
    from: set('lower', true),
    atLeast: set('lower', true),
    above: set('lower', false),
    before: set('upper', false),
    below: set('upper', false),
    atMost: set('upper', true),
  };
}

function refuseInverted(field: string, lower: Bound | null, upper: Bound | null): void {
  if (lower === null || upper === null || compare(lower, upper) <= 0) return;
  const text = printFilter({ clauses: [{ kind: 'range', field, lower, upper }] });
  const swapped = printFilter({ clauses: [{ kind: 'range', field, lower: upper, upper: lower }] });
  const values = { lower: lower.text, upper: upper.text, range: swapped.slice(field.length + 1) };
  fail(text, { reason: 'inverted', start: 0, end: text.length, ...values });
}

function boundText(field: Field, value: Value, zone: InZone | undefined): string {
  const isDate = field.type === 'date';
  if (value instanceof Date && isDate) return dateText(value, zone);
  const text = typeof value === 'number' && !isDate ? decimalText(value) : String(value);
  if (isBound(text, field.type)) return shortest(text);
  const cursor = new Cursor(text);
  readBound(cursor, field, 'lower');
  const [fact] = cursor.isAtEnd ? cursor.facts : [];
  const reason = isDate ? 'not_a_date' : 'not_a_number';
  fail(text, fact ?? { reason, start: 0, end: text.length });
}

/** The wall-clock time `YYYY-MM-DD HH:MM:SS` of an instant in a time zone. Parts of a second are dropped. */
function dateText(date: Date, zone: InZone | undefined): string {
  if (zone?.timeZone === undefined) {
    throw new FilterArgumentError(
      'A Date needs a time zone: pass { timeZone: ... } after it, or pass a string YYYY-MM-DD HH:MM:SS instead.',
    );
  }
  if (Number.isNaN(date.getTime())) throw new FilterArgumentError('This Date is not a valid time.');
  const parts = clockIn(zone.timeZone).formatToParts(date);
  const part = (type: string): number => Number(parts.find((found) => found.type === type)?.value);
  return formatDate([part('year'), part('month'), part('day'), part('hour'), part('minute'), part('second')]);
}

function clockIn(timeZone: string): Intl.DateTimeFormat {
  const number = 'numeric' as const;
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: number,
      month: number,
      day: number,
      hour: number,
      minute: number,
      second: number,
    });
  } catch {
    throw new FilterArgumentError(
      `${JSON.stringify(timeZone)} is not a time zone. Pass a name such as America/New_York or UTC.`,
    );
  }
}

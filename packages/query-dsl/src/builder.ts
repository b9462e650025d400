import { compare, decimalText, isBound, shortest } from './bounds.ts';
import { formatDate } from './calendar.ts';
import { FilterArgumentError, FilterSyntaxError } from './errors.ts';
import { toProblem } from './explain.ts';
import {
  type Bound,
  type Clause,
  type ExtraFields,
  type Field,
  type Filter,
  fieldsOf,
  type ParseOptions,
  type Version,
} from './filter.ts';
import { factAboutName, factAboutWhole } from './found.ts';
import { toFilter } from './parse.ts';
import { printFilter } from './print.ts';
import type { Fact } from './problem.ts';

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

/** Bounds by the type of the field. */
export interface Bounds {
  /** `YYYY-MM-DD HH:MM:SS`, or a `Date`, which needs the time zone to read it in after it. */
  date: string | Date;
  /** A number, or a string that is one. */
  decimal: number | `${number}`;
}

/** What follows a bound: the time zone of a `Date`, nothing after any other. */
export type ZoneOf<B> = B extends Date ? [zone: InZone] : [];

/** A range that has no lower bound yet. */
export interface WithoutLower<B, Next> {
  /** At or after the bound; the same as `atLeast`. */
  from<T extends B>(bound: T, ...zone: ZoneOf<T>): Next;
  /** The bound or more; the same as `from`. */
  atLeast<T extends B>(bound: T, ...zone: ZoneOf<T>): Next;
  /** More than the bound, or after it. */
  above<T extends B>(bound: T, ...zone: ZoneOf<T>): Next;
}

/** A range that has no upper bound yet. */
export interface WithoutUpper<B, Next> {
  /** Before the bound; the same as `below`. */
  before<T extends B>(bound: T, ...zone: ZoneOf<T>): Next;
  /** Less than the bound; the same as `before`. */
  below<T extends B>(bound: T, ...zone: ZoneOf<T>): Next;
  /** The bound or less. */
  atMost<T extends B>(bound: T, ...zone: ZoneOf<T>): Next;
}

/** What `where` returns: a range that is a filter once it has a bound. Each end can be set once. */
export interface RangeBuilder<B>
  extends WithoutLower<B, FilterBuilder & WithoutUpper<B, FilterBuilder>>,
    WithoutUpper<B, FilterBuilder & WithoutLower<B, FilterBuilder>> {}

/** The fields of both versions that have ranges. */
export interface DocumentedRanges {
  /** When the call was added, a time without a zone. */
  date_added: 'date';
  /** Minutes of talk. */
  talk_minutes: 'decimal';
}

/** Starts a range on one of the fields in `F`. */
export type Where<F> = <N extends keyof F & string>(field: N) => RangeBuilder<Bounds[F[N] & keyof Bounds]>;

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
  const start = (field: string): AnyRange => startRange(field, { version, fields: options.fields });
  return version === 'v2' ? { where: start, allOf } : { where: start, allOf, includeCallExtensions };
}

/**
 * Starts a range on a documented field.
 *
 * @example
 * where('talk_minutes').atLeast(2); // talk_minutes:[2 TO *]
 * where('date_added').from('2024-01-01 00:00:00').before('2024-02-01 00:00:00');
 */
export const where: Where<DocumentedRanges> = (field) => startRange(field, {});

/**
 * A filter whose clauses are those of all the parts, in this order. A record has to match them all.
 *
 * @example
 * String(allOf(where('talk_minutes').atLeast(2), includeCallExtensions())); // talk_minutes:[2 TO *],inc_gce:1
 */
export function allOf<V extends Version>(
  ...parts: readonly (FilterBuilder<V> | PlainFilter)[]
): FilterBuilder<V> {
  return build(parts.flatMap((part: Filter) => toFilter(part).clauses));
}

/** `inc_gce:1` (v3): calls made through call extensions are included. */
export function includeCallExtensions(): FilterBuilder<'v3'> {
  return build([{ kind: 'flag', field: 'inc_gce' }]);
}

function build(clauses: readonly Clause[]): FilterBuilder {
  return {
    clauses,
    fits: (version) => version === 'v3' || clauses.every(({ kind }) => kind !== 'flag'),
    toFilter: () => ({ clauses }),
    toString: () => printFilter({ clauses }),
  };
}

function startRange(field: string, options: ParseOptions): AnyRange {
  const known = fieldsOf(options).find(({ name }) => name === field);
  if (known === undefined) return fail(field, factAboutName(field, 0, options));
  if (known.type === 'flag') fail(field, { reason: 'flag_range', start: 0, end: field.length, field });
  return range(known, null, null);
}

function fail(text: string, fact: Fact): never {
  throw new FilterSyntaxError(toProblem(text, fact));
}

type Value = string | number | Date;

/** A range whose bounds are checked when it runs. */
interface AnyRange extends FilterBuilder {
  from(value: Value, zone?: InZone): AnyRange;
  atLeast(value: Value, zone?: InZone): AnyRange;
  above(value: Value, zone?: InZone): AnyRange;
  before(value: Value, zone?: InZone): AnyRange;
  below(value: Value, zone?: InZone): AnyRange;
  atMost(value: Value, zone?: InZone): AnyRange;
}

function range(field: Field, lower: Bound | null, upper: Bound | null): AnyRange {
  const set =
    (end: 'lower' | 'upper', inclusive: boolean) =>
    (value: Value, zone?: InZone): AnyRange => {
      const ends = { lower, upper };
      if (ends[end] !== null)
        throw new FilterArgumentError(`The ${end} bound of ${field.name} is already set.`);
      ends[end] = { text: boundText(field, value, zone), inclusive };
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
    fits: refuse,
    toFilter: refuse,
    toString: refuse,
  };
}
function refuseInverted(field: string, lower: Bound | null, upper: Bound | null): void {
  if (lower === null || upper === null || compare(lower, upper) <= 0) return;
  const text = printFilter({ clauses: [{ kind: 'range', field, lower, upper }] });
  const clause = printFilter({ clauses: [{ kind: 'range', field, lower: upper, upper: lower }] });
  const fact = {
    reason: 'inverted',
    start: 0,
    end: text.length,
    lower: lower.text,
    upper: upper.text,
  } as const;
  throw new FilterSyntaxError(toProblem(text, fact, { clause }));
}

function boundText(field: Field, value: Value, zone: InZone | undefined): string {
  const isDate = field.type === 'date';
  if (value instanceof Date && isDate) return dateText(value, zone);
  const text = typeof value === 'number' && !isDate ? decimalText(value) : String(value);
  return isBound(text, field.type) ? shortest(text) : fail(text, factAboutWhole(text, field));
}

/** The wall-clock time `YYYY-MM-DD HH:MM:SS` of an instant in a time zone. Parts of a second are dropped. */
function dateText(date: Date, zone: InZone | undefined): string {
  if (zone?.timeZone === undefined) {
    throw new FilterArgumentError(
      "A Date needs a time zone after it: from(date, { timeZone: 'America/New_York' }). Or pass a string YYYY-MM-DD HH:MM:SS.",
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

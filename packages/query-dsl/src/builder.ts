import type { BoundArguments, FilterBuilder, RangeBuilder } from './builder-types.ts';
import { decimalText } from './decimal.ts';
import { type ExtraFields, knownFields } from './dialects.ts';
import { type Bound, type Clause, type Filter, type FilterLike, filterOf, type Version } from './filter.ts';
import { parse } from './parse.ts';
import { print } from './print.ts';
import { dateText, type InZone } from './zone.ts';

interface DocumentedRanges {
  date_added: 'date';
  talk_minutes: 'decimal';
}

/** Starts a range on one of the fields of `F`. */
export type Where<F> = <N extends keyof F & string>(
  field: N,
) => RangeBuilder<BoundArguments[F[N] & keyof BoundArguments]>;

/** The builder functions of one version, with the caller's own fields. */
export interface Build<V extends Version, F extends ExtraFields> {
  readonly where: Where<DocumentedRanges & F>;
  /** All parts apply, in this order. */
  allOf(...parts: readonly (FilterBuilder<V> | PlainFilter)[]): FilterBuilder<V>;
}

/** What v3 has beside: the switch for calls made through call extensions. */
export interface BuildV3<F extends ExtraFields> extends Build<'v3', F> {
  includeCallExtensions(): FilterBuilder<'v3'>;
}

/** A tree that was parsed or written by hand. Its version is not known to the types. */
export interface PlainFilter extends Filter {
  readonly fits?: never;
}

/** Options of `builderFor`. */
export interface BuildOptions<F extends ExtraFields> {
  /** Fields to know beside the documented ones, by name. */
  readonly fields?: F;
}

/** Builder functions for one version. v2 has no `includeCallExtensions`, and takes no filter that has it. */
export function builderFor<F extends ExtraFields = Record<never, never>>(
  version: 'v2',
  options?: BuildOptions<F>,
): Build<'v2', F>;
export function builderFor<F extends ExtraFields = Record<never, never>>(
  version: 'v3',
  options?: BuildOptions<F>,
): BuildV3<F>;
export function builderFor(version: Version, options: BuildOptions<ExtraFields> = {}): object {
  const start = (field: string): object => startRange(field, version, options.fields);
  return version === 'v2' ? { where: start, allOf } : { where: start, allOf, includeCallExtensions };
}

/** Starts a range on a documented field: `where('talk_minutes').atLeast(2)`. */
export const where = startRange as Where<DocumentedRanges>;

/** A filter of which all parts apply, in this order. */
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
  return { clauses, toFilter: () => ({ clauses }), toString: () => print({ clauses }) };
}

function startRange(field: string, version?: Version, extra?: ExtraFields): object {
  const known = knownFields(version, extra);
  const type = Object.hasOwn(known, field) ? known[field] : undefined;
  // A name with nothing behind the colon is never a filter: reading it says what is wrong with the name.
  if (type === undefined || type === 'flag') return parse(`${field}:`, { version, fields: extra });
  return range(field, type, null, null);
}

type Ends = 'lower' | 'upper';
type Arguments = [value: string | number | Date, zone?: InZone];

function range(field: string, type: 'date' | 'decimal', lower: Bound | null, upper: Bound | null): object {
  const set =
    (end: Ends, inclusive: boolean) =>
    (...value: Arguments): object => {
      const ends = { lower, upper };
      if (ends[end] !== null) throw new TypeError(`The ${end} bound of ${field} is already set.`);
      ends[end] = { text: boundText(type, ...value), inclusive };
      const text = print({ clauses: [{ kind: 'range', field, ...ends }] });
      // Reading it back finds what is wrong with the bound, or with both together, and says so with a caret.
      const [clause] = parse(text, { fields: { [field]: type } }).clauses;
      const read = clause?.kind === 'range' ? clause : ends;
      return range(field, type, plain(read.lower), plain(read.upper));
    };
  return {
    ...build([{ kind: 'range', field, lower, upper }]),
    from: set('lower', true),
    atLeast: set('lower', true),
    above: set('lower', false),
    before: set('upper', false),
    below: set('upper', false),
    atMost: set('upper', true),
  };
}

const plain = (bound: Bound | null): Bound | null =>
  bound && { text: bound.text, inclusive: bound.inclusive };

function boundText(type: string, ...[value, zone]: Arguments): string {
  if (value instanceof Date && type === 'date') return dateText(value, zone);
  const text = typeof value === 'number' && type === 'decimal' ? decimalText(value) : String(value);
  if (/^[-\d.: ]+$/.test(text)) return text;
  const shape = type === 'date' ? 'a date as YYYY-MM-DD HH:MM:SS' : 'a number such as 2.5';
  throw new TypeError(`Expected ${shape}, found ${JSON.stringify(text.slice(0, 40))}.`);
}

import { boundFlaw } from './bound.ts';
import type { BoundArguments, FilterBuilder, RangeBuilder } from './builder-types.ts';
import { decimalText, shortest } from './decimal.ts';
import { type ExtraFields, knownFields } from './dialects.ts';
import { FilterSyntaxError } from './error.ts';
import { type Bound, type Clause, type FilterLike, filterOf, type Version } from './filter.ts';
import { parse } from './parse.ts';
import { print } from './print.ts';
import { toProblem } from './problem.ts';
import { dateText, type InZone } from './zone.ts';

interface DocumentedRanges {
  date_added: 'date';
  talk_minutes: 'decimal';
}

/** The builder functions of one version, with the caller's own fields. */
export interface Build<V extends Version, F extends ExtraFields> {
  /** Starts a range on a field. */
  where<N extends keyof (DocumentedRanges & F) & string>(
    field: N,
  ): RangeBuilder<BoundArguments[(DocumentedRanges & F)[N]]>;
  /** All parts apply, in this order. */
  allOf(...parts: readonly (FilterBuilder<V> | { readonly clauses: readonly Clause[] })[]): FilterBuilder<V>;
}

/** What v3 has beside: the switch for calls made through call extensions. */
export interface BuildV3<F extends ExtraFields> extends Build<'v3', F> {
  includeCallExtensions(): FilterBuilder<'v3'>;
}

// biome-ignore lint/complexity/noBannedTypes: no further fields.
type NoFields = {};

/** Builder functions for one version. v2 has no `includeCallExtensions`, and takes no filter that has it. */
export function builderFor<F extends ExtraFields = NoFields>(
  version: 'v2',
  options?: { readonly fields?: F },
): Build<'v2', F>;
export function builderFor<F extends ExtraFields = NoFields>(
  version: 'v3',
  options?: { readonly fields?: F },
): BuildV3<F>;
export function builderFor(version: Version, options: { readonly fields?: ExtraFields } = {}): object {
  const start = (field: string): object => startRange(field, version, options.fields);
  return version === 'v2' ? { where: start, allOf } : { where: start, allOf, includeCallExtensions };
}

/** Starts a range on a documented field: `where('talk_minutes').atLeast(2)`. */
export function where<N extends keyof DocumentedRanges>(
  field: N,
): RangeBuilder<BoundArguments[DocumentedRanges[N]]> {
  return startRange(field) as RangeBuilder<BoundArguments[DocumentedRanges[N]]>;
}

/** A filter of which all parts apply, in this order. */
export function allOf<V extends Version>(
  ...parts: readonly (FilterBuilder<V> | { readonly clauses: readonly Clause[] })[]
): FilterBuilder<V> {
  return build((parts as readonly FilterLike[]).flatMap((part) => filterOf(part).clauses));
}

/** `inc_gce:1` (v3): calls made through call extensions are included. */
export function includeCallExtensions(): FilterBuilder<'v3'> {
  return build([{ kind: 'flag', field: 'inc_gce' }]);
}

function build(clauses: readonly Clause[]) {
  const filter = { clauses };
  return { toFilter: () => filter, toString: () => print(filter) };
}

function startRange(field: string, version?: Version, extra?: ExtraFields): object {
  const known = knownFields(version, extra).find(({ name }) => name === field);
  // A name with a colon and nothing behind is never a filter: reading it says what is wrong with the name.
  if (known === undefined || known.type === 'flag') throw parse(`${field}:`, { version, fields: extra });
  return range(field, known.type, null, null);
}

function range(field: string, type: 'date' | 'decimal', lower: Bound | null, upper: Bound | null): object {
  const clause = { kind: 'range', field, lower, upper } as const;
  const built = build([clause]);
  // Reading it back finds a lower bound above the upper one, and says so with a fix.
  if (lower !== null && upper !== null) parse(built.toString(), { fields: { [field]: type } });
  const atLower =
    (inclusive: boolean) =>
    (...value: Arguments): object => {
      if (lower !== null) throw new TypeError(`The lower bound of ${field} is already set.`);
      return range(field, type, toBound(type, inclusive, ...value), upper);
    };
  const atUpper =
    (inclusive: boolean) =>
    (...value: Arguments): object => {
      if (upper !== null) throw new TypeError(`The upper bound of ${field} is already set.`);
      return range(field, type, lower, toBound(type, inclusive, ...value));
    };
  return {
    ...built,
    from: atLower(true),
    atLeast: atLower(true),
    above: atLower(false),
    before: atUpper(false),
    below: atUpper(false),
    atMost: atUpper(true),
  };
}

type Arguments = [value: string | number | Date, zone?: InZone];

function toBound(type: string, inclusive: boolean, ...[value, zone]: Arguments): Bound {
  let text = String(value);
  if (value instanceof Date && type === 'date') text = dateText(value, zone);
  if (typeof value === 'number' && type === 'decimal') text = decimalText(value);
  const flaw = boundFlaw(text, type);
  if (flaw !== undefined) {
    const { code, from, to, message, expected } = flaw;
    throw new FilterSyntaxError(toProblem(text, code, from, to, message, expected));
  }
  return { text: type === 'date' ? text : shortest(text), inclusive };
}

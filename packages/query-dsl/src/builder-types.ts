import type { Filter, Version } from './filter.ts';
import type { InZone } from './zone.ts';

/** A filter under construction. `V` are the versions it may be sent to. */
export interface FilterBuilder<V extends Version = Version> extends Filter {
  toFilter(): Filter;
  /** The canonical text, as `print` writes it. */
  toString(): string;
  /** Only for the types: a filter of v3 does not fit where v2 is wanted. */
  readonly fits?: (version: V) => void;
}

/** Bounds of a date field: text `YYYY-MM-DD HH:MM:SS`, or a `Date` with the time zone to read it in. */
export type DateArguments = [text: string] | [date: Date, zone: InZone];
/** Bounds of a decimal field: a number, or the text of one. */
export type DecimalArguments = [value: number | `${number}`];

/** A range that has no lower bound yet. */
export interface WithoutLower<A extends unknown[], Next> {
  /** At or after: the same as `atLeast`. */
  from(...bound: A): Next;
  atLeast(...bound: A): Next;
  /** After, the bound itself excluded. */
  above(...bound: A): Next;
}

/** A range that has no upper bound yet. */
export interface WithoutUpper<A extends unknown[], Next> {
  /** Before, the bound itself excluded: the same as `below`. */
  before(...bound: A): Next;
  below(...bound: A): Next;
  atMost(...bound: A): Next;
}

/** What `where` gives: each end can be set once. With no end set it takes every record that has a value. */
export interface RangeBuilder<A extends unknown[]>
  extends FilterBuilder,
    WithoutLower<A, FilterBuilder & WithoutUpper<A, FilterBuilder>>,
    WithoutUpper<A, FilterBuilder & WithoutLower<A, FilterBuilder>> {}

/** Argument types by field type. */
export interface BoundArguments {
  date: DateArguments;
  decimal: DecimalArguments;
}

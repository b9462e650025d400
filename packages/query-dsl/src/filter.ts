/** A version of the API. The path of each request names it. */
export type Version = 'v2' | 'v3';

/** One end of a range. `start` and `end` are UTF-16 offsets into the parsed text; a built bound has none. */
export interface Bound {
  /** A number in its shortest form or a date `YYYY-MM-DD HH:MM:SS`. */
  readonly text: string;
  /** Whether the bound itself is in the range: `[` and `]` say yes, `{` and `}` say no. */
  readonly inclusive: boolean;
  readonly start?: number;
  readonly end?: number;
}

/** `field:[lower TO upper]`. An end that is open (`*`) is null; when both are, any value matches. */
export interface RangeClause {
  readonly kind: 'range';
  readonly field: string;
  readonly lower: Bound | null;
  readonly upper: Bound | null;
  readonly start?: number;
  readonly end?: number;
}

/** `inc_gce:1`: a switch that adds the calls made through call extensions (v3). */
export interface FlagClause {
  readonly kind: 'flag';
  readonly field: 'inc_gce';
  readonly start?: number;
  readonly end?: number;
}

/** One part of a filter. All parts of a filter apply. */
export type Clause = RangeClause | FlagClause;

/** A filter as plain data. No clause means no restriction. */
export interface Filter {
  readonly clauses: readonly Clause[];
}

/** A filter, or something that makes one. What `where` and `allOf` give is both. */
export type FilterLike = Filter | { toFilter(): Filter };

/** The tree behind a filter or a builder. */
export function filterOf(input: FilterLike): Filter {
  return 'toFilter' in input ? input.toFilter() : input;
}

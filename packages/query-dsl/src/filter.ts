/** A version of the API. The path of each request names it. */
export type Version = 'v2' | 'v3';

/**
 * One end of a range. `start` and `end` are UTF-16 offsets into the text it was read from; a built
 * bound has none.
 */
export interface Bound {
  /** A number in its shortest form, or a date `YYYY-MM-DD HH:MM:SS`. */
  readonly text: string;
  /** Whether the bound itself is in the range: yes for `[` and `]`, no for `{` and `}`. */
  readonly inclusive: boolean;
  /** Where the bound starts in the text. */
  readonly start?: number;
  /** Where it ends. */
  readonly end?: number;
}

/** `field:[lower TO upper]`. An open end (`*`) is null; when both are open, any value matches. */
export interface RangeClause {
  /** Tells a range from a flag. */
  readonly kind: 'range';
  /** The name of the field. */
  readonly field: string;
  /** The lower bound; null when the range has none. */
  readonly lower: Bound | null;
  /** The upper bound; null when the range has none. */
  readonly upper: Bound | null;
  /** Where the clause starts in the text. */
  readonly start?: number;
  /** Where it ends, after the closing bracket. */
  readonly end?: number;
}

/** `inc_gce:1`, a switch that adds the calls made through call extensions (v3). */
export interface FlagClause {
  /** Tells a flag from a range. */
  readonly kind: 'flag';
  /** The one flag there is. */
  readonly field: 'inc_gce';
  /** Where the clause starts in the text. */
  readonly start?: number;
  /** Where it ends. */
  readonly end?: number;
}

/** One clause of a filter. A record has to match every clause. */
export type Clause = RangeClause | FlagClause;

/** A filter as plain data. No clauses means no restriction. */
export interface Filter {
  /** The clauses, in the order of the text. */
  readonly clauses: readonly Clause[];
}

/**
 * A filter as every function takes it: its text, a tree that was parsed or written by hand, or what
 * `where` and `allOf` build.
 */
export type FilterInput = string | Filter | { toFilter(): Filter };

/** What may follow a field: a range of dates, a range of decimal numbers, or `1` (a flag). */
export type FieldType = 'date' | 'decimal' | 'flag';

/** Fields that a caller adds to the documented ones, by name. */
export type ExtraFields = Readonly<Record<string, 'date' | 'decimal'>>;

/** How a filter is read. */
export interface ParseOptions {
  /** The version whose filters are allowed. Without it, those of both versions are. */
  readonly version?: Version | undefined;
  /** Further fields that may be filtered: names in lower case, each with the type of its bounds. */
  readonly fields?: ExtraFields | undefined;
  /** The longest text to read, in UTF-16 units. Default 1,000,000. */
  readonly maxLength?: number | undefined;
  /** The most clauses to read. Default 10,000. */
  readonly maxClauses?: number | undefined;
}

/** Defaults of the limits in `ParseOptions`. */
export const limits = { maxLength: 1_000_000, maxClauses: 10_000 } as const;

const ranges = { date_added: 'date', talk_minutes: 'decimal' } as const;

/**
 * The fields that `q` of each version can filter, each with its type: the one place that names
 * them.
 */
export const filterFields = {
  v2: ranges,
  v3: { ...ranges, inc_gce: 'flag' },
} as const satisfies Readonly<Record<Version, Readonly<Record<string, FieldType>>>>;

/** A field that may be filtered. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
}

const listOf = (fields: Readonly<Record<string, FieldType>>): readonly Field[] =>
  Object.entries(fields).map(([name, type]) => ({ name, type }));

const documented = { v2: listOf(filterFields.v2), v3: listOf(filterFields.v3) };

/** The fields of a version (of both without one), then those that the caller adds. */
export function fieldsOf({ version = 'v3', fields }: ParseOptions): readonly Field[] {
  if (fields === undefined) return documented[version];
  return listOf({ ...filterFields[version], ...fields });
}

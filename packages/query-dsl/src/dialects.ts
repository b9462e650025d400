import type { Version } from './filter.ts';

/** What a field's bounds look like: dates, decimal numbers, or no bounds at all (a switch). */
export type FieldType = 'date' | 'decimal' | 'flag';

/** Fields a caller adds to the known ones, by name. */
export type ExtraFields = Readonly<Record<string, 'date' | 'decimal'>>;

/** What one version of the API documents about `q`. */
export interface Dialect {
  readonly version: Version;
  readonly fields: Readonly<Record<string, FieldType>>;
  /** Whether `{` and `}` are documented. They are accepted in any case, with a warning where they are not. */
  readonly exclusiveBounds: boolean;
}

const ranges = { date_added: 'date', talk_minutes: 'decimal' } as const;
const v3Fields = { ...ranges, inc_gce: 'flag' } as const;

/** The two documented dialects, as data. */
export const dialects = {
  v2: { version: 'v2', fields: ranges, exclusiveBounds: true },
  v3: { version: 'v3', fields: v3Fields, exclusiveBounds: false },
} as const satisfies Record<Version, Dialect>;

/** The fields of a version (of both when none is given) and those the caller registers, with their types. */
export const knownFields = (version?: Version, extra?: ExtraFields): Readonly<Record<string, FieldType>> => {
  const fields = version === 'v2' ? ranges : v3Fields;
  return extra ? { ...fields, ...extra } : fields;
};

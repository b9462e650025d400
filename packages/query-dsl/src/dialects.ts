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

/** The two documented dialects, as data. */
export const dialects = {
  v2: { version: 'v2', fields: { date_added: 'date', talk_minutes: 'decimal' }, exclusiveBounds: true },
  v3: {
    version: 'v3',
    fields: { date_added: 'date', talk_minutes: 'decimal', inc_gce: 'flag' },
    exclusiveBounds: false,
  },
} as const satisfies Record<Version, Dialect>;

/** A field as the parser meets it: `head` is its name with the colon. */
export interface KnownField {
  readonly name: string;
  readonly head: string;
  readonly type: FieldType;
}

const fieldName = /^[A-Za-z_]\w*$/;

// A list and not an object: a lookup by name must never find `constructor` or `__proto__`.
const listFields = (fields: Readonly<Record<string, FieldType>>): KnownField[] =>
  Object.entries(fields).map(([name, type]) => ({ name, head: `${name}:`, type }));

const v2Fields = /* @__PURE__ */ listFields(dialects.v2.fields);
const v3Fields = /* @__PURE__ */ listFields(dialects.v3.fields);

/** The fields of a version (of both when none is given) and those the caller registers. */
export function knownFields(version?: Version, extra?: ExtraFields): readonly KnownField[] {
  const known = version === 'v2' ? v2Fields : v3Fields;
  if (extra === undefined) return known;
  for (const name of Object.keys(extra)) {
    if (!fieldName.test(name)) {
      throw new TypeError(`Cannot register the field ${JSON.stringify(name)}: use letters, digits and "_".`);
    }
  }
  return [...known, ...listFields(extra)];
}

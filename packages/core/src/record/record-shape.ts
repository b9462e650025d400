import { fields, type Version } from './fields.ts';
import { aliases } from './generated/adapters.ts';

/** What the names of a record's fields say, before any value is read. */
export interface RecordShape {
  /** Names that are neither documented nor known aliases. */
  readonly unknown: readonly string[];
  /** Does it use a name that some servers send instead of the documented one? */
  readonly aliased: boolean;
}

const known = {
  v2: new Set(fields.flatMap((spec) => spec.v2 ?? [])),
  // The three deprecated fields are not in the v3 list, but a v3 server may still send them.
  v3: new Set(fields.flatMap((spec) => spec.v3 ?? spec.name)),
};

interface Remembered {
  readonly names: readonly string[];
  readonly shape: RecordShape;
}

/** A server sends all its records with the same names in the same order, so the last result nearly always fits. */
const last: Record<Version, Remembered> = {
  v2: { names: [], shape: { unknown: [], aliased: false } },
  v3: { names: [], shape: { unknown: [], aliased: false } },
};

const documented = {
  v2: fields.filter((spec) => spec.v2 !== null).length,
  v3: fields.filter((spec) => spec.v3 !== null).length,
};

/** Has a record as many fields as its version documents? Together with `keepsTable`: these and no others. */
export function hasOnlyDocumented(record: object, version: Version): boolean {
  let count = 0;
  // A for-in loop makes no list of names; such lists would be most of the garbage of a page.
  for (const _ in record) count += 1;
  return count === documented[version];
}

/** The shape of a record; cheap when it has the same names as the record before. */
export function shapeOf(record: object, version: Version): RecordShape {
  const remembered = last[version];
  if (hasNames(record, remembered.names)) return remembered.shape;
  const names = Object.keys(record);
  const unknown = names.filter((name) => !known[version].has(name));
  const shape = { unknown, aliased: unknown.some((name) => Object.hasOwn(aliases, name)) };
  last[version] = { names, shape };
  return shape;
}

function hasNames(record: object, names: readonly string[]): boolean {
  let i = 0;
  for (const name in record) {
    if (name !== names[i]) return false;
    i += 1;
  }
  return i === names.length;
}

import { type FieldSpec, fields, type Version } from './fields.ts';
import { keepsTableV2, keepsTableV3, type Row } from './generated/checks.ts';
import { isDateTime, isDateTimeTenths, isDecimalString, isIntegerString } from './wire-forms.ts';

/**
 * One way in which a record differs from the table of fields. It names types and fields, never
 * values.
 */
export interface RecordProblem {
  /** What is wrong. */
  readonly kind: 'unknown_field' | 'missing' | 'null' | 'type' | 'form' | 'value';
  /** Name of the field, as in the record. */
  readonly field: string;
  /** What the table says, such as `string or null`. */
  readonly expected: string;
  /** What the record has, such as `number`. */
  readonly found: string;
}

const forms: Partial<Record<FieldSpec['type'], (value: unknown) => boolean>> = {
  'integer-string': isIntegerString,
  'decimal-string': isDecimalString,
  datetime: isDateTime,
  'datetime-tenths': isDateTimeTenths,
};

/**
 * Does every documented field hold what the table says? This is the quick check; `findProblems`
 * names what is wrong.
 */
export function keepsTable(record: Row, version: Version): boolean {
  return version === 'v3' ? keepsTableV3(record) : keepsTableV2(record);
}

/** The fields of the table that a record does not hold as it says. */
export const brokenFields = (record: Row, version: Version): RecordProblem[] =>
  fields
    .map((spec) => problemOf(record as Record<string, unknown>, spec, version))
    .filter((problem) => problem !== undefined);

/** The problems of fields that are not in the table. */
export const unknownFields = (record: Row, names: readonly string[]): RecordProblem[] =>
  names.map((field) => {
    const found = typeName((record as Record<string, unknown>)[field]);
    return { kind: 'unknown_field', field, expected: 'a field of the table', found };
  });

function problemOf(
  row: Record<string, unknown>,
  spec: FieldSpec,
  version: Version,
): RecordProblem | undefined {
  const name = spec[version];
  if (name === null) return undefined;
  const value = Object.hasOwn(row, name) ? row[name] : undefined;
  const expected = spec.nullable && spec.type !== 'null' ? `${spec.type} or null` : spec.type;

  const problem = (kind: RecordProblem['kind'], found: string) => ({
    kind,
    field: name,
    expected,
    found,
  });

  if (value === undefined) return problem('missing', 'nothing');
  if (value === null) return spec.nullable ? undefined : problem('null', 'null');
  const rightType =
    spec.type === 'integer' ? Number.isSafeInteger(value) : typeof value === 'string';
  if (!rightType || spec.type === 'null') return problem('type', typeName(value));
  if (spec.values && !spec.openValues && !spec.values.includes(value as string | number))
    return { ...problem('value', 'another value'), expected: `one of ${spec.values.join(', ')}` };
  if (forms[spec.type]?.(value) === false) return problem('form', 'a string of another form');
  return undefined;
}

/** The type of a value, as JSON names it. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const known = {
  v2: new Set(fields.map((spec) => spec.v2).filter((name) => name !== null)),
  // The three deprecated fields are not in the v3 list, but a v3 server may still send them.
  v3: new Set(fields.map((spec) => spec.v3 ?? spec.name)),
};

/** What the names of a record say, before any value is read. */
interface Shape {
  readonly names: readonly string[];
  /** Those that are not documented. */
  readonly unknown: readonly string[];
  /**
   * Names that some servers send instead of the documented ones, where those are missing: from, to.
   */
  readonly renames: readonly (readonly [string, string])[];
}

const empty: Shape = { names: [], unknown: [], renames: [] };

/**
 * A server sends all its records with the same names in the same order, so the last result nearly
 * always fits.
 */
const last: Record<Version, Shape> = { v2: empty, v3: empty };

const documented = {
  v2: fields.filter((spec) => spec.v2 !== null).length,
  v3: fields.filter((spec) => spec.v3 !== null).length,
};

/**
 * Has a record as many fields as its version documents? Together with `keepsTable`: these and no
 * others.
 */
export function hasOnlyDocumented(record: object, version: Version): boolean {
  let count = 0;
  // A for-in loop makes no list of names; such lists would be most of the garbage of a page.
  for (const _ in record) count += 1;
  return count === documented[version];
}

/** The shape of a record; cheap when it has the same names as the record before. */
export function shapeOf(record: object, version: Version): Shape {
  if (hasNames(record, last[version].names)) return last[version];
  const names = Object.keys(record);
  const unknown = names.filter((name) => !known[version].has(name));
  const renames: [found: string, right: string][] = [];
  for (const { name, [version]: own, aliases = [] } of fields) {
    const right = own ?? name;
    if (Object.hasOwn(record, right)) continue;
    const found = aliases.find((alias) => unknown.includes(alias));
    if (found !== undefined) renames.push([found, right]);
  }

  last[version] = { names, unknown, renames };
  return last[version];
}

function hasNames(record: object, names: readonly string[]): boolean {
  let i = 0;
  for (const name in record) {
    if (name !== names[i]) return false;
    i += 1;
  }
  return i === names.length;
}

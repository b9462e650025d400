import type { Call } from '@call-attribution/core';
import { WarehouseError } from '../errors.ts';
import { fieldColumns, quoted } from './columns.ts';
import { insteadOfOther } from './row-writer.ts';
import { wireValue } from './wire-values.ts';

/**
 * SQL of a record as one JSON array of strings: a row reaches JavaScript as one value, and strings keep a leading byte order
 * mark. `from` names the table.
 */
export function recordJson(from = 'records'): string {
  const cells = fieldColumns.map(({ name, type }) => {
    const column = `${from}.${quoted(name)}`;
    return type === 'VARCHAR' ? column : `${column}::VARCHAR`;
  });
  const extra = ['other', 'wire', 'absent'].map((name) => `${from}.${name}::VARCHAR`);
  return `json_array(${[...cells, ...extra].join(', ')})::VARCHAR`;
}

/**
 * The same as one column for each string: JSON of a record of tens of megabytes takes many times as much memory. Each string has
 * a character in front, so that a byte order mark is not the first one.
 */
export function recordColumns(from = 'records'): string {
  const cells = [...fieldColumns.map(({ name }) => name), 'other', 'wire', 'absent'];
  return cells.map((name, i) => `'.' || ${from}.${quoted(name)}::VARCHAR AS c${i}`).join(', ');
}

/** The call of these columns. */
export const callOfColumns = (row: Readonly<Record<string, unknown>>): Call =>
  callOfCells(Object.values(row).map((value) => (typeof value === 'string' ? value.slice(1) : null)));

const nothing: ReadonlySet<string> = new Set();
const sets = new Map<string, ReadonlySet<string>>();

/** The call of such an array, exactly as it was stored. */
export function callOf(json: string): Call {
  return callOfCells(JSON.parse(json));
}

function callOfCells(cells: readonly (string | null)[]): Call {
  const [other = null, wire = null, absent = null] = cells.slice(fieldColumns.length);
  const missing = absent === null ? nothing : namesOf(absent);
  const call: Record<string, unknown> = {};
  fieldColumns.forEach(({ name, wire: type }, i) => {
    if (!missing.has(name)) call[name] = wireValue(type, cells[i] ?? null);
  });
  const isReplaced = wire?.startsWith(insteadOfOther) === true;
  if (other !== null && !isReplaced) putAll(call, other);
  if (wire !== null) putAll(call, isReplaced ? wire.slice(insteadOfOther.length) : wire);
  return call as unknown as Call;
}

function putAll(call: Record<string, unknown>, json: string): void {
  const values = objectIn(json);
  for (const [name, value] of Object.entries(values)) {
    if (name !== '__proto__') call[name] = value;
    else Object.defineProperty(call, name, { value, enumerable: true, configurable: true, writable: true });
  }
}

/** What `other` and `wire` hold. The error of `JSON.parse` would quote the data of a caller. */
function objectIn(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // It is damaged, as something else than an object is.
  }
  throw new WarehouseError(
    'damaged',
    'A stored call cannot be read: something else than this package has written its columns `other` or `wire`.',
  );
}

/** The few lists of absent fields that there are, each split once. */
function namesOf(absent: string): ReadonlySet<string> {
  let names = sets.get(absent);
  if (names === undefined) {
    names = new Set(absent.split(','));
    if (sets.size >= 1000) sets.clear();
    sets.set(absent, names);
  }
  return names;
}

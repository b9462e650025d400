import { type Call, type FieldType, isCallExtension } from '@call-attribution/core';
import { callerKey } from './caller-key.ts';
import { type Column, extraColumns, fieldColumns } from './columns.ts';
import { columnText, isCanonical } from './wire-values.ts';

// A call becomes one line of CSV, because DuckDB reads typed CSV with less work than anything else it can be given. JSON
// writes the values of nearly every line in the form DuckDB reads here: strings in quotes, `\` before `"` and `\`, `null`.

type Row = Readonly<Record<string, unknown>>;

/** Columns of a staged line, in order. */
export const stagedColumns = [...fieldColumns, ...extraColumns];

/** How DuckDB reads staged lines. `maxLine` is the length of the longest in bytes. */
export const csvOptions = (maxLine: number, columns: readonly Column[] = stagedColumns): string =>
  `auto_detect=false, header=false, delim=',', quote='"', escape='\\', nullstr='null', allow_quoted_nulls=false,` +
  ` strict_mode=true, new_line='\\n', max_line_size=${Math.max(maxLine, 2_000_000)},` +
  ` columns={${columns.map(({ name, type }) => `'${name}': '${type}'`).join(', ')}}`;

/** What decides about a call: columns of the short line that goes with each staged line. */
export const keyColumns = ['sid', 'caller_key', 'date_added', 'ani'].map(
  (wanted) => stagedColumns.find(({ name }) => name === wanted) as Column,
);

/** The fields of calls with the same names in the same order, worked out once. */
interface Plan {
  readonly names: readonly string[];
  /** Where the value of each column is among the values of the call; -1 where the call lacks the field. */
  readonly places: readonly number[];
  /** Names that the field table does not know, with their places. */
  readonly others: readonly (readonly [name: string, place: number])[];
  readonly absent: string | null;
  /** Does the call begin with all fields of the table, in its order? */
  readonly isInOrder: boolean;
}

const noPlan: Plan = { names: [], places: [], others: [], absent: null, isInOrder: false };

const known = new Map(fieldColumns.map(({ name }, place) => [name, place]));
const wires: readonly FieldType[] = fieldColumns.map(({ wire }) => wire);
const width = fieldColumns.length;
const sidAt = known.get('sid') as number;
const dateAt = known.get('date_added') as number;
const aniAt = known.get('ani') as number;

/** Writes calls as staged lines. Servers send all records with the same names, so what they imply is remembered. */
export class RowWriter {
  #plan: Plan = noPlan;

  /** The line of a call and the short line of what decides about it, without their line breaks. */
  write(call: Call): StagedLine {
    if (!hasNames(call, this.#plan.names)) this.#plan = planOf(call);
    return quickLine(call, this.#plan) ?? carefulLine(call, this.#plan);
  }
}

/** A staged line, and the short line with the values of `keyColumns`. */
export interface StagedLine {
  readonly line: string;
  readonly keys: string;
}

/** The line of a call whose every value is as the field table says, when JSON and CSV escape it alike. */
function quickLine(call: Call, { places, others, absent, isInOrder }: Plan): StagedLine | null {
  const values: unknown[] = Object.values(call);
  // Where the fields come in the order of the table, nothing has to be put in order.
  const row: unknown[] = isInOrder ? values : [];
  for (let i = 0; i < width; i += 1) {
    const place = places[i] as number;
    const value = place < 0 ? null : values[place];
    if (value !== null) {
      const wire = wires[i] as FieldType;
      if (wire === 'string' || wire === 'url') {
        if (typeof value !== 'string') return null;
      } else if (wire === 'null' || !isCanonical(wire, value)) return null;
    }
    if (!isInOrder) row[i] = value;
  }
  const other = others.length === 0 ? null : otherText(others, values);
  row.length = width;
  const caller = callerKey(row[aniAt]);
  row.push(other, null, absent, caller, isCallExtension(call));
  const json = JSON.stringify(row);
  // JSON writes control characters and halves of surrogate pairs with escapes that CSV does not know.
  if (json.includes('\\') && /\\[^"\\]/.test(json)) return null;
  const keys = JSON.stringify([row[sidAt], caller, row[dateAt], caller === null ? row[aniAt] : null]);
  return { line: json.slice(1, -1), keys: keys.slice(1, -1) };
}

/** Precedes the values of `wire` when those of `other` are among them, exactly as they were sent. */
export const insteadOfOther = '!';

/** The line of any call. */
function carefulLine(call: Call, { places, others, absent }: Plan): StagedLine {
  const values: unknown[] = Object.values(call);
  const exact: string[] = [];
  const missing: string[] = absent === null ? [] : [absent];
  const cells = fieldColumns.map(({ name, wire }, i) => {
    const place = places[i] as number;
    const value = place < 0 ? undefined : values[place];
    if (value === undefined && place >= 0) missing.push(name);
    else if (value !== undefined && !isCanonical(wire, value)) exact.push(entryText(name, value));
    return columnText(wire, value);
  });
  const other = others.length === 0 ? null : otherText(others, values);
  // DuckDB refuses JSON that names half of a surrogate pair.
  const sound = other?.replace(/(?<=(?<!\\)(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '\\ufffd') ?? null;
  const isOtherExact = sound === other;
  if (!isOtherExact && other !== null) exact.push(other.slice(1, -1));
  const caller = callerKey(cells[aniAt]);
  const extra = [
    sound,
    exact.length === 0 ? null : `${isOtherExact ? '' : insteadOfOther}{${exact.join(',')}}`,
    missing.length === 0 ? null : missing.join(','),
    caller,
    String(isCallExtension(call)),
  ];
  const ani = caller === null ? (cells[aniAt] ?? null) : null;
  return {
    line: csvLine([...cells, ...extra]),
    keys: csvLine([cells[sidAt] ?? null, caller, cells[dateAt] ?? null, ani]),
  };
}

const csvLine = (cells: readonly (string | null)[]): string =>
  cells.map((cell) => (cell === null ? 'null' : `"${cell.replace(/["\\]/g, '\\$&')}"`)).join(',');

const entryText = (name: string, value: unknown): string =>
  `${JSON.stringify(name)}:${JSON.stringify(value)}`;

function otherText(others: Plan['others'], values: readonly unknown[]): string | null {
  const entries = others.filter(([, place]) => values[place] !== undefined);
  return entries.length === 0
    ? null
    : `{${entries.map(([name, place]) => entryText(name, values[place])).join(',')}}`;
}

function planOf(call: Call): Plan {
  const names = Object.keys(call);
  const places = new Array<number>(width).fill(-1);
  const others: [string, number][] = [];
  for (const [place, name] of names.entries()) {
    const column = known.get(name);
    if (column === undefined) others.push([name, place]);
    else places[column] = place;
  }
  const absent = fieldColumns.filter((_, i) => places[i] === -1).map(({ name }) => name);
  const isInOrder = places.every((place, i) => place === i);
  return { names, places, others, absent: absent.length === 0 ? null : absent.join(','), isInOrder };
}

function hasNames(call: Row, names: readonly string[]): boolean {
  const own = Object.keys(call);
  return own.length === names.length && own.every((name, i) => name === names[i]);
}

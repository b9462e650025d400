import { type Call, type FieldType, isCallExtension } from '@call-attribution/core';
import { callerKey, columnText } from '@call-attribution/questions';
import { type Column, extraColumns, fieldColumns } from './columns.ts';
import { isCanonical } from './wire-values.ts';

// A call becomes one line of CSV, because DuckDB reads typed CSV with less work than anything else it can be given. The
// separator and the quotation mark are control characters, which next to no value has: so the values of nearly every call
// are written as they are, and nothing where a value is null.
const separator = '\u001f';
const mark = '\u001e';
const emptyText = mark + mark;

type Row = Readonly<Record<string, unknown>>;

/** Columns of a staged line, in order. */
export const stagedColumns = [...fieldColumns, ...extraColumns];

/** How DuckDB reads staged lines. `maxLine` is the length of the longest in bytes. */
export const csvOptions = (maxLine: number, columns: readonly Column[] = stagedColumns): string =>
  `auto_detect=false, header=false, delim='${separator}', quote='${mark}', escape='${mark}', nullstr='', allow_quoted_nulls=false,` +
  ` strict_mode=true, new_line='\\n', max_line_size=${Math.max(maxLine + 1_024, 2_000_000)},` +
  // DuckDB would take sixteen lines of the longest at once.
  ` buffer_size=${Math.max(2 * maxLine, 32_000_000)},` +
  ` columns={${columns.map(({ name, type }) => `'${name}': '${type}'`).join(', ')}}`;

/** What decides about a call: columns of the short line that goes with each staged line. */
export const keyColumns = ['sid', 'caller_key', 'date_added', 'ani'].flatMap((wanted) =>
  stagedColumns.filter(({ name }) => name === wanted),
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
const placeOf = (wanted: string): number => fieldColumns.findIndex(({ name }) => name === wanted);
const [sidAt, dateAt, aniAt] = [placeOf('sid'), placeOf('date_added'), placeOf('ani')];

/** Writes calls as staged lines. Servers send all records with the same names, so what they imply is remembered. */
export class RowWriter {
  #plan: Plan = noPlan;
  #bytes = Buffer.allocUnsafe(1 << 20);
  #end = 0;
  #keys = '';

  /** The lines of the calls since `clear`. */
  get lines(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  /** For each of these lines a short one with the values of `keyColumns`. */
  get keys(): string {
    return this.#keys;
  }

  clear(): void {
    this.#end = 0;
    this.#keys = '';
  }

  /** Adds the line of a call. Gives its length in bytes. */
  add(call: Call): number {
    if (!hasNames(call, this.#plan.names)) this.#plan = planOf(call);
    const quick = quickLine(call, this.#plan);
    if (quick !== null) {
      const length = this.#write(quick.line);
      if (isPlain(this.#bytes, this.#end, this.#end + length, quick.marks)) return this.#keep(length, quick);
    }
    const careful = carefulLine(call, this.#plan);
    return this.#keep(this.#write(careful.line), careful);
  }

  /** Writes a line after those that are kept. */
  #write(line: string): number {
    // UTF-8 takes at most three bytes for a unit of UTF-16.
    const needed = this.#end + line.length * 3 + 1;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    return this.#bytes.write(line, this.#end);
  }

  #keep(length: number, { keys }: StagedLine): number {
    this.#bytes[this.#end + length] = 10;
    this.#end += length + 1;
    this.#keys += `${keys}\n`;
    return length;
  }
}

/** A staged line, and the short line with the values of `keyColumns`. */
interface StagedLine {
  readonly line: string;
  readonly keys: string;
}

/** A line with as many separators and quotation marks as `marks`. With more control characters it is wrong. */
interface QuickLine extends StagedLine {
  readonly marks: number;
}

/** The line of a call whose every value is as the field table says, when none has to be put in quotes. */
function quickLine(call: Call, { places, others, absent, isInOrder }: Plan): QuickLine | null {
  const values: unknown[] = Object.values(call);
  // Where the fields come in the order of the table, nothing has to be put in order.
  const row: unknown[] = isInOrder ? values : [];
  let marks = stagedColumns.length - 1;
  for (let i = 0; i < width; i += 1) {
    const place = places[i] ?? -1;
    const value = place < 0 ? null : values[place];
    if (!isInOrder) row[i] = value;
    if (value === null) continue;
    const wire = wires[i];
    if (wire !== 'string' && wire !== 'url') {
      if (wire === undefined || wire === 'null' || !isCanonical(wire, value)) return null;
    } else if (typeof value !== 'string') {
      return null;
    } else if (value === '') {
      row[i] = emptyText;
      marks += emptyText.length;
    }
  }
  const other = others.length === 0 ? null : otherText(others, values);
  // Half of a surrogate pair may be among what JSON escapes.
  if (other?.includes('\\u')) return null;
  row.length = width;
  const caller = callerKey(row[aniAt]);
  row.push(other, null, absent, caller, isCallExtension(call));
  const keys = [row[sidAt], caller, row[dateAt], caller === null ? row[aniAt] : null];
  return { line: row.join(separator), keys: keys.join(separator), marks };
}

/**
 * Are the control characters of a line only those that were put there, and is nothing in it that half of a surrogate pair may
 * have become? UTF-8 cannot write one: it becomes U+FFFD, whose first byte is rare.
 */
function isPlain(bytes: Uint8Array, from: number, to: number, marks: number): boolean {
  let found = 0;
  for (let i = from; i < to; i += 1) {
    const byte = bytes[i] ?? 0;
    if (byte < 32) found += 1;
    else if (byte === 0xef) return false;
  }
  return found === marks;
}

/** Precedes the values of `wire` when those of `other` are among them, exactly as they were sent. */
export const insteadOfOther = '!';

/** The line of any call. */
function carefulLine(call: Call, { places, others, absent }: Plan): StagedLine {
  const values: unknown[] = Object.values(call);
  const exact: string[] = [];
  const missing: string[] = absent === null ? [] : [absent];
  const cells = fieldColumns.map(({ name, wire }, i) => {
    const place = places[i] ?? -1;
    const value = place < 0 ? undefined : values[place];
    if (value === undefined && place >= 0) missing.push(name);
    else if (value !== undefined && !isCanonical(wire, value)) exact.push(entryText(name, value));
    return columnText(wire, value);
  });
  const other = others.length === 0 ? null : otherText(others, values);
  const sound = other === null ? null : soundJson(other);
  const isOtherExact = sound === other;
  if (!isOtherExact && other !== null) exact.push(other.slice(1, -1));
  const caller = callerKey(cells[aniAt]);
  const mark = isOtherExact ? '' : insteadOfOther;
  const extra = [
    sound,
    exact.length === 0 ? null : `${mark}{${exact.join(',')}}`,
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

/**
 * DuckDB refuses JSON that names half of a surrogate pair. A regular expression that finds each escape would end the process where
 * there are tens of millions.
 */
function soundJson(json: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = json.indexOf('\\'); at >= 0; at = json.indexOf('\\', at + 2)) {
    if (json[at + 1] !== 'u' || !/^[dD][89a-fA-F]/.test(json.slice(at + 2, at + 4))) continue;
    parts.push(json.slice(from, at), '\\ufffd');
    from = at + 6;
  }
  return from === 0 ? json : parts.join('') + json.slice(from);
}

/** Text with each mark twice, part by part: of tens of millions in one string V8 would end the process. */
function doubled(text: string): string {
  if (!text.includes(mark)) return text;
  const parts: string[] = [];
  for (let from = 0; from < text.length; from += partLength)
    parts.push(text.slice(from, from + partLength).replaceAll(mark, mark + mark));
  return parts.join('');
}

const partLength = 1 << 20;

const csvLine = (cells: readonly (string | null)[]): string =>
  cells.map((cell) => (cell === null ? '' : `${mark}${doubled(cell)}${mark}`)).join(separator);

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

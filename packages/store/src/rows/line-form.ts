import { currentLayout, separator, slotOf } from './layouts.ts';

/**
 * The form of a line: its keys in order, and where each value goes. A file or a server writes all its records in one form, so
 * that the values are found in the bytes and nothing is parsed.
 */
export interface LineForm {
  /** What is in front of each value (`{"sid":`, then `,"acct_id":` and so on), one after the other. */
  readonly keys: Buffer;
  /** Where each of them ends in `keys`. */
  readonly keyEnds: readonly number[];
  /** By slot of the current layout, the index of the key; -1 when the line does not have it. */
  readonly keyOfSlot: readonly number[];
  /** The indexes of keys that are not in the layout. */
  readonly unknown: readonly number[];
  /** Where values were found: used again for each line. */
  readonly spans: Int32Array;
}

/** A line as packed values. */
export interface PackedLine {
  /** The values of the current layout and the unknown fields, each after a separator. */
  readonly packed: Buffer;
  /** The stored value in a slot. True until the next line is packed. */
  valueIn(slot: number): string;
}

/** The form of lines with these keys in this order. `fieldOf` is the name of a field in the layout. */
export function lineForm(keys: readonly string[], fieldOf: (key: string) => string): LineForm {
  const starts = keys.map((key, i) => Buffer.from(`${i === 0 ? '{' : ','}${JSON.stringify(key)}:`));
  const keyOfSlot = currentLayout.map(() => -1);
  const unknown: number[] = [];
  const keyEnds: number[] = [];
  let end = 0;
  for (const [i, key] of keys.entries()) {
    const slot = slotOf(fieldOf(key));
    if (slot < 0) unknown.push(i);
    else keyOfSlot[slot] = i;
    end += (starts[i] as Buffer).length;
    keyEnds.push(end);
  }
  return { keys: Buffer.concat(starts), keyEnds, keyOfSlot, unknown, spans: new Int32Array(2 * keys.length) };
}

const quote = 0x22;
const backslash = 0x5c;
const equals = 0x3d;
const comma = 0x2c;
const closingBrace = 0x7d;
const between = separator.charCodeAt(0);

/** Bytes that are part of a string as they are. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === quote || byte === backslash ? 0 : 1,
);
// Escapes as JSON.stringify writes them. Others are parsed, as are numbers of another form, so that equal values are stored equally.
const isEscaped = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
const literal = /^(?:-?[1-9]\d{0,14}|0|true|false)$/;

/** Finds the values of a line of this form. False when the line has another one, or when a value has to be parsed. */
function findValues(line: Buffer, { keys, keyEnds, spans }: LineForm): boolean {
  let at = 0;
  let key = 0;
  for (let i = 0; i < keyEnds.length; i += 1) {
    const keyEnd = keyEnds[i] as number;
    if (at + keyEnd - key > line.length) return false;
    for (; key < keyEnd; key += 1, at += 1) if (line[at] !== keys[key]) return false;
    const end = endOfValue(line, at);
    if (end < 0) return false;
    spans[2 * i] = at;
    spans[2 * i + 1] = end;
    at = end;
  }
  return at === line.length - 1 && line[at] === closingBrace;
}

/** Where the value ends that begins here; -1 when it has to be parsed. */
function endOfValue(line: Buffer, start: number): number {
  const { length } = line;
  if (start >= length) return -1;
  if (line[start] === quote) {
    for (let at = start + 1; at < length; at += 1) {
      const byte = line[at] as number;
      if (isPlain[byte] === 1) continue;
      if (byte === quote) return at + 1;
      at += 1;
      if (byte !== backslash || at >= length || isEscaped[line[at] as number] !== 1) return -1;
    }
    return -1;
  }
  if (isNull(line, start)) return start + 4;
  let end = start;
  while (end < length && line[end] !== comma && line[end] !== closingBrace) end += 1;
  return end - start <= 16 && literal.test(line.toString('latin1', start, end)) ? end : -1;
}

function isNull(line: Buffer, at: number): boolean {
  return (
    at + 4 <= line.length &&
    line[at] === 0x6e &&
    line[at + 1] === 0x75 &&
    line[at + 2] === 0x6c &&
    line[at + 3] === 0x6c
  );
}

const slots = currentLayout.length;
/** Where the values of the last line begin in its packed form. */
const valueAt = new Int32Array(slots + 1);
const slabSize = 256 * 1024;
let slab = Buffer.alloc(0);
let used = 0;

/** Packs a line of UTF-8 of this form. Null when it has another one, or when a value has to be parsed. */
export function packLine(line: Buffer, form: LineForm): PackedLine | null {
  if (!findValues(line, form)) return null;
  const { spans, keyOfSlot, unknown, keys, keyEnds } = form;
  // Each value can grow by an equals sign, and has a separator.
  const most = line.length + 2 * slots;
  if (slab.length - used < most) {
    // Rows that were packed before hold on to the previous slab.
    slab = Buffer.allocUnsafeSlow(Math.max(slabSize, most));
    used = 0;
  }
  const out = slab;
  const start = used;
  let at = start;
  for (let slot = 0; slot < slots; slot += 1) {
    valueAt[slot] = at;
    const key = keyOfSlot[slot] as number;
    if (key >= 0) at = putValue(out, at, line, spans[2 * key] as number, spans[2 * key + 1] as number);
    out[at] = between;
    at += 1;
  }
  valueAt[slots] = at;
  for (const key of unknown) {
    const nameStart = key === 0 ? 1 : (keyEnds[key - 1] as number) + 1;
    at += keys.copy(out, at, nameStart, keyEnds[key]);
    at += line.copy(out, at, spans[2 * key], spans[2 * key + 1]);
    out[at] = comma;
    at += 1;
  }
  used = at;
  return {
    packed: out.subarray(start, at),
    valueIn: (slot) => out.toString('utf8', valueAt[slot], (valueAt[slot + 1] as number) - 1),
  };
}

/** Writes the stored form of a JSON literal (see `storedForm`) and returns where it ends. */
function putValue(out: Buffer, start: number, line: Buffer, from: number, to: number): number {
  let at = start;
  if (line[from] === quote) {
    // Quotes stay where the string could be mistaken for something else.
    const isBare = to - from > 2 && line[from + 1] !== equals;
    return putBytes(out, at, line, isBare ? from + 1 : from, isBare ? to - 1 : to);
  }
  if (isNull(line, from)) return at;
  out[at] = equals;
  at += 1;
  return putBytes(out, at, line, from, to);
}

function putBytes(out: Buffer, start: number, line: Buffer, from: number, to: number): number {
  // A call of copy costs more than a short loop.
  if (to - from > 48) return start + line.copy(out, start, from, to);
  let at = start;
  for (let i = from; i < to; i += 1, at += 1) out[at] = line[i] as number;
  return at;
}

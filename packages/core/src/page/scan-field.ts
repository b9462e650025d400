import type { ByteRange } from './split-records.ts';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const numeric: ReadonlySet<number | undefined> = new Set(Buffer.from('0123456789.eE+-'));

/**
 * The value of one field of a record as a string, found in the bytes: nothing is parsed unless a string has escapes.
 * Undefined when the record does not have the field, or has neither a string nor a number there.
 *
 * @example
 * for (const range of splitRecords(bytes)) console.log(scanField(bytes, range, 'sid'));
 */
export function scanField(bytes: Uint8Array, range: ByteRange, name: string): string | undefined {
  // Of this record only: a search for what it does not have must not go through the rest of the page.
  const record = Buffer.from(bytes.buffer, bytes.byteOffset + range.start, range.end - range.start);
  const key = Buffer.from(JSON.stringify(name));
  for (let at = record.indexOf(key); at >= 0; at = record.indexOf(key, at + key.length)) {
    const value = valueAt(record, at, key.length);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * The same for all records of a page, in their order: the bytes are gone through once.
 *
 * @example
 * const sids = scanRecords(page.bytes, page.byteRanges(), 'sid');
 */
export function scanRecords(
  bytes: Uint8Array,
  ranges: readonly ByteRange[],
  name: string,
): (string | undefined)[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const key = Buffer.from(JSON.stringify(name));
  let at = -1;
  return ranges.map((range) => {
    if (at < range.start) {
      const next = buffer.indexOf(key, range.start);
      at = next < 0 ? buffer.length : next;
    }
    if (at >= range.end) return undefined;
    return valueAt(buffer, at, key.length) ?? scanField(bytes, range, name);
  });
}

/** The string or number after what looks like a key; undefined when it is none, or has another value. */
function valueAt(bytes: Buffer, key: number, length: number): string | undefined {
  const mark = pastSpace(bytes, key + length);
  // A string is a key where a colon follows. A quote after a backslash does not begin one.
  if (bytes[mark] !== colon || bytes[key - 1] === backslash) return undefined;
  const from = pastSpace(bytes, mark + 1);
  return bytes[from] === quote ? stringAt(bytes, from) : numberAt(bytes, from);
}

/** The place of the next byte that is not white space. */
function pastSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

/** The string whose first quote is here; undefined when it does not end. */
function stringAt(bytes: Buffer, from: number): string | undefined {
  let isPlain = true;
  for (let to = from + 1; to < bytes.length; to += 1) {
    const byte = bytes[to] ?? 0;
    if (byte === quote) {
      if (isPlain) return bytes.toString('latin1', from + 1, to);
      try {
        return String(JSON.parse(bytes.toString('utf8', from, to + 1)));
      } catch {
        return undefined;
      }
    }
    if (byte === backslash) to += 1;
    if (byte === backslash || byte > 0x7e) isPlain = false;
  }
  return undefined;
}

/** The number that is here, digit by digit as it was sent. */
function numberAt(bytes: Buffer, from: number): string | undefined {
  let to = from;
  while (numeric.has(bytes[to])) to += 1;
  return to > from ? bytes.toString('latin1', from, to) : undefined;
}

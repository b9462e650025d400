import type { ByteRange } from './split-records.ts';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const numeric: ReadonlySet<number | undefined> = new Set(Buffer.from('0123456789.eE+-'));

/**
 * The value of one field of a record as a string, found in the bytes: nothing is parsed unless it looks unusual.
 * Undefined when the record does not have the field, or has neither a string nor a number there.
 *
 * @example
 * for (const range of splitRecords(bytes)) console.log(scanField(bytes, range, 'sid'));
 */
export function scanField(bytes: Uint8Array, range: ByteRange, name: string): string | undefined {
  // Of this record only: a search for what it does not have must not go through the rest of the page.
  const record = Buffer.from(bytes.buffer, bytes.byteOffset + range.start, range.end - range.start);
  return scanned(record, keyOf(name)) ?? parsed(record, name);
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
  const key = keyOf(name);
  let at = -1;
  return ranges.map((range) => {
    if (at < range.start) {
      const next = buffer.indexOf(key, range.start);
      at = next < 0 ? buffer.length : next;
    }
    const value = at < range.end ? plainStringAfter(buffer, at + key.length, range.end) : undefined;
    return value !== undefined && buffer[at - 1] !== backslash ? value : scanField(buffer, range, name);
  });
}

/** The string after a key where nothing needs a closer look: no white space, no escapes, no character outside of ASCII. */
function plainStringAfter(buffer: Buffer, mark: number, end: number): string | undefined {
  if (buffer[mark] !== colon || buffer[mark + 1] !== quote) return undefined;
  for (let to = mark + 2; to < end; to += 1) {
    const byte = buffer[to] ?? 0;
    if (byte === quote) return buffer.toString('latin1', mark + 2, to);
    if (byte === backslash || byte > 0x7e) return undefined;
  }
  return undefined;
}

const keys = new Map<string, Buffer>();
const mostKeys = 200;

function keyOf(name: string): Buffer {
  let key = keys.get(name);
  if (key === undefined) {
    key = Buffer.from(JSON.stringify(name));
    if (keys.size >= mostKeys) keys.clear();
    keys.set(name, key);
  }
  return key;
}

function scanned(record: Buffer, key: Buffer): string | undefined {
  for (let at = record.indexOf(key); at >= 0; at = record.indexOf(key, at + key.length)) {
    const mark = pastSpace(record, at + key.length);
    // A string is a name where a colon follows. A quote after a backslash does not begin one.
    if (record[mark] !== colon || record[at - 1] === backslash) continue;
    const from = pastSpace(record, mark + 1);
    const value = record[from] === quote ? stringAt(record, from) : numberAt(record, from);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The place of the next byte that is not white space. */
function pastSpace(record: Buffer, from: number): number {
  let at = from;
  while (record[at] === 0x20 || record[at] === 0x0a || record[at] === 0x0d || record[at] === 0x09) at += 1;
  return at;
}

/** The string whose first quote is here; undefined when it does not end. */
function stringAt(record: Buffer, from: number): string | undefined {
  let isPlain = true;
  for (let to = from + 1; to < record.length; to += 1) {
    const byte = record[to] ?? 0;
    if (byte === quote)
      return isPlain
        ? record.toString('latin1', from + 1, to)
        : unescaped(record.toString('utf8', from, to + 1));
    if (byte === backslash) to += 1;
    if (byte === backslash || byte > 0x7e) isPlain = false;
  }
  return undefined;
}

/** The number that is here, digit by digit as it was sent. */
function numberAt(record: Buffer, from: number): string | undefined {
  let to = from;
  while (numeric.has(record[to])) to += 1;
  return to > from ? record.toString('latin1', from, to) : undefined;
}

function unescaped(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}

function parsed(record: Buffer, name: string): string | undefined {
  try {
    const value: unknown = Reflect.get(Object(JSON.parse(record.toString('utf8'))), name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  } catch {
    return undefined;
  }
}

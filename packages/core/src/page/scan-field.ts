import type { ByteRange } from './split-records.ts';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const numeric: ReadonlySet<number | undefined> = new Set(Buffer.from('0123456789.eE+-'));

/**
 * The value of one field of each record as a string, found in the bytes, which are gone through once: nothing is parsed unless a
 * string has escapes. Undefined for a record that does not have the field, or has neither a string nor a number there.
 *
 * @example
 * const sids = scanField(page.bytes, page.byteRanges(), 'sid');
 */
export function scanField(
  bytes: Uint8Array,
  ranges: readonly ByteRange[],
  name: string,
): (string | undefined)[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const key = Buffer.from(JSON.stringify(name));
  let at = buffer.indexOf(key);
  return ranges.map(({ start, end }) => {
    if (at >= 0 && at < start) at = buffer.indexOf(key, start);
    while (at >= 0 && at < end) {
      const value = valueAt(buffer, at, key.length);
      if (value !== undefined) return value;
      at = buffer.indexOf(key, at + key.length);
    }
    return undefined;
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

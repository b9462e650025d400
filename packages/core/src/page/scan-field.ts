import type { ByteRange } from './split-records.ts';

const quote = 0x22;
const backslash = 0x5c;
const keys = new Map<string, Buffer>();
const mostKeys = 200;

/**
 * The value of one field of a record as a string, found in the bytes: nothing is parsed unless it looks unusual.
 * Undefined when the record does not have the field, or has neither a string nor a number there.
 *
 * @example
 * for (const range of splitRecords(bytes)) console.log(scanField(bytes, range, 'sid'));
 */
export function scanField(bytes: Uint8Array, record: ByteRange, name: string): string | undefined {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return scanned(buffer, record, keyOf(name)) ?? parsed(buffer, record, name);
}

function keyOf(name: string): Buffer {
  let key = keys.get(name);
  if (key === undefined) {
    key = Buffer.from(`${JSON.stringify(name)}:"`);
    if (keys.size >= mostKeys) keys.clear();
    keys.set(name, key);
  }
  return key;
}

// A quote inside a JSON string is escaped, so a quoted name after a brace or a comma is the key itself.
function scanned(buffer: Buffer, { start, end }: ByteRange, key: Buffer): string | undefined {
  const at = buffer.indexOf(key, start);
  if (at < 0 || at >= end) return undefined;
  if (buffer[at - 1] !== 0x7b && buffer[at - 1] !== 0x2c) return undefined;
  const from = at + key.length;
  let isPlain = true;
  for (let to = from; to < end; to++) {
    const byte = buffer[to] as number;
    if (byte === quote)
      return isPlain
        ? buffer.toString('latin1', from, to)
        : unescaped(buffer.toString('utf8', from - 1, to + 1));
    if (byte === backslash) to += 1;
    if (byte === backslash || byte > 0x7e) isPlain = false;
  }
  return undefined;
}

function unescaped(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

function parsed(buffer: Buffer, { start, end }: ByteRange, name: string): string | undefined {
  try {
    const record: unknown = JSON.parse(buffer.toString('utf8', start, end));
    const value = record !== null && typeof record === 'object' ? Reflect.get(record, name) : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  } catch {
    return undefined;
  }
}

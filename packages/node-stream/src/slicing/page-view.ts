import type { RawPage } from '@call-attribution/core';

const quote = 0x22;
const backslash = 0x5c;

/** The sid of each record of a page, found in the bytes: nothing is parsed unless it looks unusual. */
export function sidsOf(page: RawPage): string[] {
  const bytes = bufferOf(page);
  return page.slices().map(({ start, end }) => {
    const found = textAt(bytes, sidKey, start, end) ?? parsed(bytes, start, end, 'sid');
    // A record without a sid goes by its own bytes: it is counted, and fails when it is read.
    return found ?? bytes.toString('utf8', start, end);
  });
}

/** The `date_added` of one record of a page; empty when it has none. */
export function dateOf(page: RawPage, index: number): string {
  const border = page.slices()[index];
  if (border === undefined) return '';
  const bytes = bufferOf(page);
  const { start, end } = border;
  return textAt(bytes, dateKey, start, end) ?? parsed(bytes, start, end, 'date_added') ?? '';
}

const sidKey = Buffer.from('"sid":"');
const dateKey = Buffer.from('"date_added":"');

function bufferOf({ bytes }: RawPage): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// A quote inside a JSON string is escaped, so the name with its quotes behind a brace or a comma is the key itself.
function textAt(bytes: Buffer, key: Buffer, start: number, end: number): string | undefined {
  const at = bytes.indexOf(key, start);
  if (at < 0 || at >= end) return undefined;
  if (bytes[at - 1] !== 0x7b && bytes[at - 1] !== 0x2c) return undefined;
  const from = at + key.length;
  const to = bytes.indexOf(quote, from);
  if (to < 0 || to >= end) return undefined;
  for (let i = from; i < to; i++) {
    if (bytes[i] === backslash || (bytes[i] as number) > 0x7e) return undefined;
  }
  return bytes.toString('latin1', from, to);
}

function parsed(bytes: Buffer, start: number, end: number, name: string): string | undefined {
  try {
    const record: unknown = JSON.parse(bytes.toString('utf8', start, end));
    const value = record !== null && typeof record === 'object' ? Reflect.get(record, name) : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  } catch {
    return undefined;
  }
}

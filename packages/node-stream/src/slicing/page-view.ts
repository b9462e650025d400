import { crc32 } from 'node:zlib';
import type { RawPage } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';

/** What the planning needs to know of a page. Everything is read from the bytes on demand; nothing else is kept. */
export interface PageView {
  readonly count: number;
  /** Place of the first record in the list, from 1, and the length of the list; null when the server did not say. */
  readonly first: number | null;
  readonly total: number | null;
  readonly bytes: number;
  /** The sid of each record. A record without one goes by its own bytes: it is counted, and fails when it is parsed. */
  sids(): readonly string[];
  /** `date_added` of one record, in naive milliseconds; NaN when it has none. */
  timeOf(index: number): number;
  /** A checksum of the bytes of one record, from 0 to 2 ** 32 - 1. */
  checksumOf(index: number): number;
}

/** The view of a page as it came from the client. */
export function viewOf(page: RawPage): PageView {
  const bytes = Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength);
  const borders = page.slices();
  return {
    count: page.count,
    first: page.range?.first ?? null,
    total: page.range?.total ?? null,
    bytes: page.bytes.byteLength,
    sids: () =>
      borders.map(
        ({ start, end }) => fieldOf(bytes, sidKey, start, end, 'sid') ?? bytes.toString('utf8', start, end),
      ),
    timeOf(index) {
      const border = borders[index];
      if (border === undefined) return Number.NaN;
      return parseNaive(fieldOf(bytes, dateKey, border.start, border.end, 'date_added'));
    },
    checksumOf(index) {
      const border = borders[index];
      return border === undefined ? 0 : crc32(bytes.subarray(border.start, border.end));
    },
  };
}

const quote = 0x22;
const backslash = 0x5c;
const sidKey = Buffer.from('"sid":"');
const dateKey = Buffer.from('"date_added":"');

function fieldOf(bytes: Buffer, key: Buffer, start: number, end: number, name: string): string | undefined {
  return textAt(bytes, key, start, end) ?? parsed(bytes, start, end, name);
}

// A quote inside a JSON string is escaped, so the name with its quotes after a brace or a comma is the key itself.
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

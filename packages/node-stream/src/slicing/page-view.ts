import { crc32 } from 'node:zlib';
import type { RawPage } from '@call-attribution/core';
import { scanField } from '@call-attribution/core/page';
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
  const ranges = page.byteRanges();
  return {
    count: page.count,
    first: page.range?.first ?? null,
    total: page.range?.total ?? null,
    bytes: page.bytes.byteLength,
    sids: () =>
      ranges.map((range) => scanField(bytes, range, 'sid') ?? bytes.toString('utf8', range.start, range.end)),
    timeOf(index) {
      const range = ranges[index];
      return range === undefined ? Number.NaN : parseNaive(scanField(bytes, range, 'date_added'));
    },
    checksumOf(index) {
      const range = ranges[index];
      return range === undefined ? 0 : crc32(bytes.subarray(range.start, range.end));
    },
  };
}

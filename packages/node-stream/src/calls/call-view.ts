import { crc32 } from 'node:zlib';
import type { RawPage } from '@call-attribution/core';
import { scanField } from '@call-attribution/core/page';
import { parseNaive } from '@call-attribution/core/time';
import type { PageView } from '../reader/page-view.ts';

/** The view of a page as it came from the client. A record without a sid goes by its own bytes: it is counted, and fails when it is parsed. */
export function viewOf(page: RawPage): PageView {
  const bytes = Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength);
  const ranges = page.byteRanges();
  return {
    count: page.count,
    first: page.range?.first ?? null,
    total: page.range?.total ?? null,
    bytes: page.bytes.byteLength,
    ids: () =>
      ranges.map((range) => scanField(bytes, range, 'sid') ?? bytes.toString('utf8', range.start, range.end)),
    positionOf(index) {
      const range = ranges[index];
      return range === undefined ? Number.NaN : parseNaive(scanField(bytes, range, 'date_added'));
    },
    checksumOf(index) {
      const range = ranges[index];
      return range === undefined ? 0 : crc32(bytes.subarray(range.start, range.end));
    },
  };
}

import { crc32 } from 'node:zlib';
import type { RawPage } from '@call-attribution/core';
import { type ByteRange, scanField, scanRecords } from '@call-attribution/core/page';
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
    ids: () => scanRecords(bytes, ranges, 'sid').map((sid, i) => sid ?? textOf(bytes, ranges[i])),
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

const textOf = (bytes: Buffer, range: ByteRange | undefined) =>
  bytes.toString('utf8', range?.start, range?.end);

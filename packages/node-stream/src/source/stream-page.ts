import type { Call } from '@call-attribution/core';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { type TimeSlice, timeSliceOf } from '../query/time-slice.ts';
import type { Batch } from '../slicing/run.ts';

/** One page of a stream: the records that go out with it, and the place behind them. */
export interface StreamPage {
  readonly slice: TimeSlice;
  /** Page within the slice, from 0. */
  readonly page: number;
  /** The slice is whole with this page. */
  readonly isLast: boolean;
  readonly count: number;
  /** The records, parsed on first use. */
  readonly records: readonly Call[];
  /** The records as lines of JSON, as the server sent them, never parsed. */
  ndjson(): Buffer;
  /** Where to go on from once this page was dealt with. */
  readonly checkpoint: Checkpoint;
}

function recordsOf(batch: Batch, read: (batch: Batch, index: number) => Call | null): Call[] {
  const { keep, sids, page } = batch;
  if (keep === null) {
    try {
      return page.records();
    } catch {
      // One of them cannot be read: which, and what becomes of it, is found out one by one.
    }
  }
  return [...(keep ?? sids.keys())].map((i) => read(batch, i)).filter((call) => call !== null);
}

/** The page a batch makes. `read` gives null for a record that is left out. */
export function pageOf(
  batch: Batch,
  checkpoint: Checkpoint,
  read: (batch: Batch, index: number) => Call | null,
): StreamPage {
  const { keep, sids, span, index, isLast } = batch;
  let records: readonly Call[] | null = null;
  return {
    slice: timeSliceOf(span),
    page: index,
    isLast,
    count: keep?.length ?? sids.length,
    checkpoint,
    get records() {
      records ??= recordsOf(batch, read);
      return records;
    },
    ndjson: () => ndjsonOf(batch, false),
  };
}

const newline = 0x0a;
const return_ = 0x0d;
const blank = 0x20;

/**
 * The records of a batch as lines of JSON, cut out of the page. `mayReuse`: the page is read by nobody else, so that
 * the commas between its records may become line ends where they stand and nothing is copied.
 */
export function ndjsonOf({ page, keep }: Batch, mayReuse: boolean): Buffer {
  const borders = page.byteRanges();
  const [first, last] = [borders[0], borders.at(-1)];
  if (first === undefined || last === undefined) return Buffer.alloc(0);
  const bytes = Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength);
  const body = bytes.subarray(first.start, last.end);
  const isPretty = body.includes(newline) || body.includes(return_);
  const isTight =
    last.end < bytes.length &&
    borders.every(({ start }, i) => i === 0 || start === (borders[i - 1]?.end ?? 0) + 1);
  if (keep === null && !isPretty && isTight) {
    const lines = mayReuse ? bytes : Buffer.from(bytes);
    for (const { end } of borders) lines[end] = newline;
    return lines.subarray(first.start, last.end + 1);
  }
  const lines = [...(keep ?? borders.keys())].map((i) => {
    const { start, end } = borders[i] ?? first;
    const text = bytes.subarray(start, end);
    return isPretty ? onOneLine(text) : text;
  });
  return Buffer.concat(lines.flatMap((line) => [line, lineEnd]));
}

/** Line ends lie between the values only, for in a text they are escaped: as blanks they change no value. */
function onOneLine(text: Buffer): Buffer {
  return Buffer.from(text.map((byte) => (byte === newline || byte === return_ ? blank : byte)));
}

const lineEnd = Buffer.from('\n');

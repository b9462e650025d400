import type { Call, RawPage } from '@call-attribution/core';
import type { Checkpoint } from '../reader/checkpoint.ts';
import { sizeOf } from '../reader/ledger.ts';
import type { Batch } from '../reader/run.ts';
import { StreamError } from './errors.ts';
import type { DeadRecord } from './options.ts';
import type { Session } from './session.ts';
import { type TimeSlice, timeSliceOf } from './time-slice.ts';

/** One page of a stream: its records, and the checkpoint after them. */
export interface StreamPage {
  /** The slice it is part of. */
  readonly slice: TimeSlice;
  /** Page within the slice, from 0. */
  readonly page: number;
  /** The slice is complete with this page. */
  readonly isLast: boolean;
  /** Records delivered with this page. */
  readonly count: number;
  /** The records, parsed on first use. */
  readonly records: readonly Call[];
  /** The records as lines of JSON, exactly as the server sent them. */
  ndjson(): Buffer;
  /** Where to resume once this page has been handled. */
  readonly checkpoint: Checkpoint;
}

/** Parses a record of a batch. Null for one that is left out. */
type ReadRecord = (batch: Batch<RawPage>, index: number) => Call | null;

/** The records of a batch. */
export function recordsOf(batch: Batch<RawPage>, read: ReadRecord): Call[] {
  const { keep, ids, page } = batch;
  if (keep === null) {
    try {
      return page.records();
    } catch {
      // One of them cannot be parsed. Reading them one by one shows which, and handles it.
    }
  }
  return [...(keep ?? ids.keys())].map((i) => read(batch, i)).filter((call) => call !== null);
}

/** The records of a batch before one that cannot be parsed, and the error of that one. */
interface Cut {
  readonly records: readonly Call[];
  /** The batch with these records alone. */
  readonly batch: Batch<RawPage>;
  /** Records of the batch that are still to be read. */
  readonly left: number;
  readonly error: unknown;
}

/** The records of a batch, or the part of it that comes before an error. */
export function parsed(batch: Batch<RawPage>, read: ReadRecord): readonly Call[] | Cut {
  const records: Call[] = [];
  const keep: number[] = [];
  let done = 0;
  try {
    return recordsOf(batch, (from, index) => {
      const call = read(from, index);
      done += 1;
      if (call === null) return null;
      records.push(call);
      keep.push(index);
      return call;
    });
  } catch (error) {
    return { records, batch: { ...batch, isLast: false, keep }, left: sizeOf(batch) - done, error };
  }
}

/** Parses one record. What cannot be parsed goes where `onError` says, and is counted in the session. */
export function recordOf(session: Session, batch: Batch<RawPage>, index: number): Call | null {
  const { onError } = session.options;
  try {
    return batch.page.record(index);
  } catch (error) {
    if (onError === 'fail')
      throw StreamError.from(error, { slice: timeSliceOf(batch.span), page: batch.index });
    const kept = typeof onError === 'function' ? onError(deadRecordOf(batch, index, error)) : onError;
    session.ledger.skip(index, kept === 'skip');
    return null;
  }
}

function deadRecordOf(
  { page, span, index: pageIndex }: Batch<RawPage>,
  index: number,
  error: unknown,
): DeadRecord {
  const border = page.byteRanges()[index];
  // A copy, so that a record that is kept does not keep its page.
  const bytes = new Uint8Array(border === undefined ? [] : page.bytes.subarray(border.start, border.end));
  return { bytes, error, slice: timeSliceOf(span), page: pageIndex, index };
}

/** The page of a batch: with its records, or with what parses one of them when they are wanted. */
export function pageOf(
  batch: Batch<RawPage>,
  checkpoint: Checkpoint,
  given: readonly Call[] | ReadRecord,
): StreamPage {
  const { keep, ids, span, index, isLast } = batch;
  let records = typeof given === 'function' ? null : given;
  return {
    slice: timeSliceOf(span),
    page: index,
    isLast,
    count: keep?.length ?? ids.length,
    checkpoint,
    get records() {
      if (typeof given === 'function') records ??= recordsOf(batch, given);
      return records ?? [];
    },
    ndjson: () => ndjsonOf(batch),
  };
}

const newline = 0x0a;
const return_ = 0x0d;
const space = 0x20;

/** The records of a batch as lines of JSON: a copy. */
export function ndjsonOf({ page, keep }: Batch<RawPage>): Buffer {
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
    // Line ends take the place of the commas between the records.
    const lines = Buffer.from(bytes.subarray(first.start, last.end + 1));
    for (const { end } of borders) lines[end - first.start] = newline;
    return lines;
  }
  const lines = [...(keep ?? borders.keys())].map((i) => {
    const { start, end } = borders[i] ?? first;
    const text = bytes.subarray(start, end);
    return isPretty ? onOneLine(text) : text;
  });
  return Buffer.concat(lines.flatMap((line) => [line, lineEnd]));
}

/** Line ends occur only between values, since strings escape them: spaces in their place change no value. */
function onOneLine(text: Buffer): Buffer {
  return Buffer.from(text.map((byte) => (byte === newline || byte === return_ ? space : byte)));
}

const lineEnd = Buffer.from('\n');

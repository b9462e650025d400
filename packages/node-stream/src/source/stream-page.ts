import type { Call } from '@call-attribution/core';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { type Slice, sliceOf } from '../query/time-slice.ts';
import { ndjsonOf } from './ndjson.ts';
import type { Batch } from '../slicing/run.ts';

/** One page of a stream: the records that go out with it, and the place behind them. */
export interface StreamPage {
  readonly slice: Slice;
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
  const { keep, sids, slice, index, isLast } = batch;
  let records: readonly Call[] | null = null;
  return {
    slice: sliceOf(slice.span),
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

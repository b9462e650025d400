import { createHash } from 'node:crypto';
import { parseNaive } from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import { CheckpointError } from '../errors.ts';
import { addSpan, openSpans } from '../query/spans.ts';
import { type Span, spanOf, timeSliceOf } from '../query/time-slice.ts';
import type { WindowQuery } from '../query/window-query.ts';

/** How far a read came: small, plain JSON, safe to store and to print. */
export interface Checkpoint {
  /** The form of the checkpoint. */
  readonly version: 1;
  /** Hash of the filter and the API version; a checkpoint fits no other query. */
  readonly query: string;
  /** Half-open ranges of `date_added` that were delivered completely; null is the query's own end. */
  readonly done: readonly (readonly [from: string | null, to: string | null])[];
  /** A slice delivered in part: how many of its records in the server's order, and a checksum of their sids. */
  readonly place: {
    readonly from: string | null;
    readonly to: string | null;
    readonly taken: number;
    readonly sidChecksum: number;
  } | null;
  /** Records that the ranges held, in all runs so far. */
  readonly total: number;
  /** The most records that the server counted in the whole query. Absent until it gave a total. */
  readonly expected?: number;
  /** Records delivered in all runs so far. */
  readonly delivered: number;
  /** Records left out because they could not be read, in all runs so far. Absent when there are none. */
  readonly skipped?: number;
  /** Records that could not be read and were passed to `onError`. Absent when there are none, as are the next two. */
  readonly setAside?: number;
  /** Records that changed while their slice was read. */
  readonly changed?: number;
  /** Slices read again because their pages did not agree. */
  readonly rereads?: number;
  /**
   * Records of `done` from before a time that lay safely in the past when the first run began, in stretches: where each ends, and its
   * records.
   */
  readonly settled: {
    readonly before: string;
    readonly stretches: readonly (readonly [to: string, count: number])[];
  };
  /** The server gave no total for part of it, so nothing proves that part complete. */
  readonly unproven?: true;
}

/** What ties a checkpoint, or the state of a sync of a named period, to its query. */
export function queryHash(query: WindowQuery, version: string, period?: string): string {
  return createHash('sha256')
    .update(`${version} ${printFilter(query.filter)}${period === undefined ? '' : ` ${period}`}`)
    .digest('hex')
    .slice(0, 16);
}

/** Returns a checkpoint of this query. Throws for anything else. */
export function checkCheckpoint(value: unknown, query: string): Checkpoint {
  if (!isCheckpoint(value)) {
    throw new CheckpointError(
      'checkpoint_invalid',
      'The option checkpoint is not a checkpoint. Pass what checkpoint() returned, unchanged, or leave it out to start from the beginning.',
    );
  }
  if (value.query !== query) {
    throw new CheckpointError(
      'checkpoint_mismatch',
      `The checkpoint belongs to another query (${value.query}, this is ${query}): the filter or the API version changed. ` +
        'Resume with the filter it was made for, or leave the checkpoint out to start from the beginning.',
    );
  }
  return value;
}

/** The spans that a checkpoint covers as a whole. */
function doneSpans({ done }: Pick<Checkpoint, 'done'>): Span[] {
  return done.map(([from, to]) => spanOf({ from, to }));
}

/** What is left to be read: first the slice that was delivered in part, then all that is not done. */
export function spansToRead(from: Checkpoint | null): Span[] {
  const open = openSpans(from === null ? [] : doneSpans(from));
  const place = from?.place;
  if (place == null) return open;
  const begun = spanOf(place);
  const after = begun.to === null ? [] : open.slice(1);
  const [first] = open;
  if (begun.to !== null && first !== undefined && first.to !== begun.to)
    after.unshift({ from: begun.to, to: first.to });
  return [begun, ...after];
}

/** The same spans and one more, as a checkpoint holds them. */
export function withDone(checkpoint: Pick<Checkpoint, 'done'>, added: Span): Checkpoint['done'] {
  return addSpan(doneSpans(checkpoint), added).map((span) => {
    const { from, to } = timeSliceOf(span);
    return [from, to] as const;
  });
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (value === null || typeof value !== 'object') return false;
  const {
    version,
    query,
    done,
    place,
    total,
    expected = 0,
    delivered,
    skipped = 0,
    setAside = 0,
    changed = 0,
    rereads = 0,
    settled,
    unproven = true,
  } = value as Partial<Checkpoint>;
  return (
    version === 1 &&
    typeof query === 'string' &&
    [total, expected, delivered, skipped, setAside, changed, rereads].every(isCount) &&
    typeof settled?.before === 'string' &&
    isEnd(settled.before) &&
    Array.isArray(settled.stretches) &&
    settled.stretches.every((pair) => Array.isArray(pair) && isEnd(pair[0]) && isCount(pair[1])) &&
    unproven === true &&
    Array.isArray(done) &&
    done.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isEnd)) &&
    (place === null ||
      (typeof place === 'object' &&
        isEnd(place.from) &&
        isEnd(place.to) &&
        isCount(place.taken) &&
        isCount(place.sidChecksum)))
  );
}

function isEnd(value: unknown): boolean {
  return value === null || !Number.isNaN(parseNaive(value));
}

/** Whether a value that was kept in a file can be a number of records or bytes. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

import { createHash } from 'node:crypto';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { print } from '@call-attribution/query-dsl';
import type { Span } from '../query/time-slice.ts';
import type { WindowQuery } from '../query/window-query.ts';

/** Where a read stands: small, plain JSON, safe to store and to print. */
export interface Checkpoint {
  readonly version: 1;
  /** Hash of the filter and the API version; a checkpoint fits no other query. */
  readonly query: string;
  /** Half-open intervals of `date_added` that were handed out as a whole; null is the query's own end. */
  readonly done: readonly (readonly [from: string | null, to: string | null])[];
  /** A slice handed out in part: how many of its records in the server's order, and a checksum of their sids. */
  readonly place: {
    readonly from: string | null;
    readonly to: string | null;
    readonly taken: number;
    readonly mark: number;
  } | null;
  /** Records the intervals held, and records handed out, in all runs so far. */
  readonly total: number;
  readonly delivered: number;
}

/** A checkpoint cannot be used. */
export class CheckpointError extends Error {
  /** `checkpoint_mismatch`: made for another query. `checkpoint_invalid`: no checkpoint of this package. */
  readonly code: 'checkpoint_mismatch' | 'checkpoint_invalid';

  constructor(code: CheckpointError['code'], message: string) {
    super(message);
    this.name = 'CheckpointError';
    this.code = code;
  }
}

/** What a checkpoint is bound to. */
export function queryHash(query: WindowQuery, version: string): string {
  return createHash('sha256')
    .update(`${version} ${print(query.filter)}`)
    .digest('hex')
    .slice(0, 16);
}

/** Refuses what is no checkpoint, and a checkpoint of another query. */
export function checkCheckpoint(value: unknown, query: string): Checkpoint {
  if (!isCheckpoint(value)) {
    throw new CheckpointError(
      'checkpoint_invalid',
      'The checkpoint is not one of version 1; expected the value of an earlier checkpoint() as it was. Start without one to read anew.',
    );
  }
  if (value.query !== query) {
    throw new CheckpointError(
      'checkpoint_mismatch',
      `The checkpoint belongs to another query (${value.query}, this is ${query}): the filter or the API version changed. ` +
        'Resume with the filter it was made for, or start without a checkpoint.',
    );
  }
  return value;
}

/** Spans of a checkpoint's intervals. */
export function spanOf([from, to]: readonly [string | null, string | null]): Span {
  return { from: from === null ? null : parseNaive(from), to: to === null ? null : parseNaive(to) };
}

/** The interval of a span, as checkpoints hold it. */
export function intervalOf(span: Span): [string | null, string | null] {
  return [span.from === null ? null : formatNaive(span.from), span.to === null ? null : formatNaive(span.to)];
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (value === null || typeof value !== 'object') return false;
  const { version, query, done, place, total, delivered } = value as Partial<Checkpoint>;
  return (
    version === 1 &&
    typeof query === 'string' &&
    isCount(total) &&
    isCount(delivered) &&
    Array.isArray(done) &&
    done.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isEnd)) &&
    (place === null ||
      (typeof place === 'object' &&
        isEnd(place.from) &&
        isEnd(place.to) &&
        isCount(place.taken) &&
        isCount(place.mark)))
  );
}

function isEnd(value: unknown): boolean {
  return value === null || !Number.isNaN(parseNaive(value));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

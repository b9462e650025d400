import type { Duration } from '@call-attribution/core/time';
import type { FilterLike } from '@call-attribution/query-dsl';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { TimeSlice } from '../query/time-slice.ts';
import type { BoundStyle } from '../query/window-query.ts';
import type { Progress } from './progress.ts';

/** How the range of `date_added` is cut into slices. */
export interface WindowOptions {
  /**
   * Pages a slice may have. Default 1: a slice that fits in one page comes in one answer, so nothing can shift while it
   * is read. More pages need fewer requests, and are proved whole by totals and distinct sids alone.
   */
  pages?: number;
  /** How long after a naive time its records are taken to be at rest, in every time zone. Default `14h`. */
  settle?: Duration;
  /** Naive time before which records are at rest, for those who know the server's clock. Replaces `settle`. */
  sealedBefore?: string;
  /** Passes over one slice before it is named incomplete. Default 5. */
  tries?: number;
  /** How the upper end of a slice is written: `[a TO b}` or `[a TO b - 1 s]`. Default: the server is asked once. */
  bounds?: 'auto' | BoundStyle;
}

/** A record that could not be read. */
export interface DeadRecord {
  /** The record as it came. */
  readonly bytes: Uint8Array;
  readonly error: unknown;
  readonly slice: TimeSlice;
  /** Page within the slice, and record within the page. */
  readonly page: number;
  readonly index: number;
}

/** Options of the streams over call records. */
export interface StreamOptions {
  /** Which calls: text of `q`, a filter or a builder. Default all. */
  filter?: string | FilterLike;
  /** Records asked for in one request. Default 1000; a server that gives fewer is noticed and followed. */
  rows?: number;
  /** Pages held ahead of the consumer at most, and their bytes. Default 4 pages and 64 MiB. */
  prefetch?: number | { pages?: number; bytes?: number };
  /** How the query is cut by `date_added`; `false` reads it as one list. Default on. */
  window?: WindowOptions | false;
  /** Where to go on from: what an earlier stream of the same query gave. */
  checkpoint?: Checkpoint | null;
  /** Ends the stream and its requests. */
  signal?: AbortSignal;
  /** Told of each page that was handed out. */
  onProgress?: (progress: Progress) => void;
  /** What becomes of a record that cannot be read: fail (default), leave out, or hand over its bytes. */
  onError?: 'fail' | 'skip' | ((dead: DeadRecord) => void);
  /** `report`: end quietly with `complete: false` when a server gives no totals. Default `fail`: an IncompleteError. */
  incomplete?: 'fail' | 'report';
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

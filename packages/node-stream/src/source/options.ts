import type { RequestOptions } from '@call-attribution/core';
import type { Duration } from '@call-attribution/core/time';
import type { FilterInput } from '@call-attribution/query-dsl';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { TimeSlice } from '../query/time-slice.ts';
import type { BoundStyle } from '../query/window-query.ts';
import type { Progress } from './progress.ts';

/** How a query is cut into slices by `date_added`. */
export interface WindowOptions {
  /**
   * Pages a slice may have. Default 1: a slice that fits in one page comes in one response, so nothing can shift while it is
   * read. More pages need fewer requests, but are checked by totals and distinct sids only.
   */
  pages?: number | undefined;
  /** Age from which records count as settled: none is expected to appear or change, in any time zone. Default `14h`. */
  settle?: Duration | undefined;
  /** Naive time before which records count as settled, if you know the server's clock. Replaces `settle`. */
  sealedBefore?: string | undefined;
  /** Passes over one slice before the read fails as incomplete. Default 5. */
  tries?: number | undefined;
  /** How the upper end of a slice is written: `[a TO b}` or `[a TO b - 1 s]`. Default `auto`: one request finds out. */
  bounds?: 'auto' | BoundStyle | undefined;
}

/** A record that could not be parsed. */
export interface DeadRecord {
  /** The record as it was received. */
  readonly bytes: Uint8Array;
  /** Why it could not be parsed. */
  readonly error: unknown;
  /** The slice it is in. */
  readonly slice: TimeSlice;
  /** Page within the slice, from 0. */
  readonly page: number;
  /** Record within the page, from 0. */
  readonly index: number;
}

/** Settings of the streams of call records. `timeout`, `retry` and `headers` are those of every request of the stream. */
export interface StreamOptions extends Pick<RequestOptions, 'timeout' | 'retry' | 'headers'> {
  /** Which calls: a string in the language of `q`, a filter or a builder. Default: all. */
  filter?: FilterInput | undefined;
  /** Records per request. Default 1000; when the server returns fewer, the reader adapts. */
  rows?: number | undefined;
  /** Most pages held ahead of the consumer, and their bytes. Default 4 pages and 64 MiB. */
  prefetch?: number | { pages?: number; bytes?: number } | undefined;
  /** How the query is cut by `date_added`. `false` reads it as one list. */
  window?: WindowOptions | false | undefined;
  /** Where to resume: the checkpoint of an earlier stream of the same query. */
  checkpoint?: Checkpoint | null | undefined;
  /** Ends the stream and its requests. */
  signal?: AbortSignal | undefined;
  /** Called after each page. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** What happens to a record that cannot be parsed: `fail` (default), `skip`, or a function that takes its bytes. */
  onError?: ('fail' | 'skip' | ((dead: DeadRecord) => void)) | undefined;
  /**
   * A record that has changed when its slice has to be read again: deliver it `again` (default), for a store that upserts,
   * or `keep` what was delivered, for a file with one line per record. The verdict counts such records as `changed`.
   */
  onChange?: 'again' | 'keep' | undefined;
  /** When the server returns no totals: `fail` (default) with an IncompleteError, or `report` it in the verdict. */
  incomplete?: 'fail' | 'report' | undefined;
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  now?: (() => number) | undefined;
}

import { listOptions, type RequestOptions, requestOptions } from '@call-attribution/core';
import {
  checkOption,
  defineOptions,
  type OptionsOf,
  option,
  type ReadOf,
} from '@call-attribution/core/options';
import { naiveTime } from '../option-kinds.ts';
import type { Checkpoint } from '../reader/checkpoint.ts';
import type { Progress } from '../reader/ledger.ts';
import type { PageClient } from './call-source.ts';
import type { TimeSlice } from './time-slice.ts';

const windowOptions = defineOptions({
  /**
   * Pages a slice may have. Default 1: a slice that fits in one page comes in one response, so nothing can shift while it is
   * read. More pages need fewer requests, but are checked by totals and distinct sids only.
   */
  pages: option.whole(1).default(1),
  /** Age from which records count as settled: none is expected to appear or change, in any time zone. Default `14h`. */
  settle: option.duration().default('14h'),
  /** Naive time before which records count as settled, if you know the server's clock. Replaces `settle`. */
  sealedBefore: naiveTime(),
  /** Passes over one slice before the read fails as incomplete. Default 5. */
  tries: option.whole(1).default(5),
  /** How the upper end of a slice is written: `[a TO b}` or `[a TO b - 1 s]`. Default `auto`: one request finds out. */
  bounds: option.oneOf('auto', 'half-open', 'closed').default('auto'),
});

/** How a query is cut into slices by `date_added`. */
export interface WindowOptions extends OptionsOf<typeof windowOptions> {}
/** How a list is read that is not cut, where that matters to it too. */
export const windowDefaults = windowOptions.fill({});
/** The same with the defaults. */
export interface WindowSettings extends ReadOf<typeof windowOptions> {}

const prefetchOptions = defineOptions({
  /** Most pages held ahead of the consumer. Default 4. */
  pages: option.whole(1).default(4),
  /** Most bytes of them. Default 64 MiB. */
  bytes: option.whole(1).default(64 * 2 ** 20),
});

/** What may be held ahead of the consumer. */
export interface PrefetchOptions extends OptionsOf<typeof prefetchOptions> {}

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

const { filter } = listOptions.entries;
const { timeout, retry, headers } = requestOptions.entries;

/** The options that all reads have. */
export const streamOptions = defineOptions({
  /** Which calls: a string in the language of `q`, a filter or a builder. Default: all. */
  filter,
  /** Records per request. Default 1000; when the server returns fewer, the reader adapts. */
  rows: option.whole(1).default(1000),
  /** Most pages held ahead of the consumer, and their bytes. Default 4 pages and 64 MiB. */
  prefetch: option
    .whole(1)
    .as((pages) => prefetchOptions.fill({ pages }))
    .or(option.table<PrefetchOptions, ReadOf<typeof prefetchOptions>>(prefetchOptions))
    .default({}),
  /** How the query is cut by `date_added`. `false` reads it as one list. */
  window: option
    .only(false)
    .or(option.table<WindowOptions, ReadOf<typeof windowOptions>>(windowOptions))
    .default({}),
  /** Where to resume: the checkpoint of an earlier stream of the same query. */
  checkpoint: option.anything<Checkpoint | null>(),
  /** Ends the stream and its requests. */
  signal: option.signal(),
  ...{ timeout, retry, headers },
  /** Called after each page. An error it throws ends nothing. */
  onProgress: option.callback<(progress: Progress) => void>(),
  /**
   * What happens to a record that cannot be parsed: `fail` (default), `skip`, or a function that takes its bytes. One that returns
   * `skip` has not kept them, so the result is incomplete.
   */
  onError: option.oneOf('fail', 'skip').or(option.callback<(dead: DeadRecord) => unknown>()).default('fail'),
  /**
   * A record that has changed when its slice has to be read again: deliver it `again` (default), for a store that upserts,
   * or `keep` what was delivered, for a file with one line per record. The verdict counts such records as `changed`.
   */
  onChange: option.oneOf('again', 'keep').default('again'),
  /** When the server returns no totals: `fail` (default) with an IncompleteError, or `report` it in the verdict. */
  incomplete: option.oneOf('fail', 'report').default('fail'),
  /** The clock. Default: that of the machine. */
  clock: option.clock(),
});

/** Settings of the streams of call records. `timeout`, `retry` and `headers` are those of every request of the stream. */
export interface StreamOptions
  extends Pick<RequestOptions, 'timeout' | 'retry' | 'headers'>,
    OptionsOf<typeof streamOptions> {}
/** The same with the defaults. */
export interface StreamSettings extends ReadOf<typeof streamOptions> {}

const clientKind = option.methods<PageClient>('a client made by createClient()', 'fetchPage');

/** Refuses what is not a client, before anything is sent. */
export function checkClient(client: unknown): void {
  checkOption('client', clientKind, client);
}

import { listOptions, type RequestOptions, requestOptions } from '@call-attribution/core';
import {
  checkOption,
  defineOptions,
  type OptionsOf,
  option,
  type ReadOf,
} from '@call-attribution/core/options';
import type { Checkpoint } from '../reader/checkpoint.ts';
import type { Progress } from '../reader/ledger.ts';
import type { PageClient } from './call-source.ts';
import type { TimeSlice } from './time-slice.ts';

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

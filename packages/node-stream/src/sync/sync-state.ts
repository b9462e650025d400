import type { Call } from '@call-attribution/core';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';

/** What is remembered of a record that was seen: when it was made, and a hash of its contents. */
export type SeenRecord = readonly [dateAdded: string, hash: string];

/** Where a sync stands. Plain JSON; kept by a `StateStore` or beside the records by an `UpsertSink`. */
export interface SyncState {
  readonly version: 1;
  /** Hash of the filter and the API version; a state fits no other query. */
  readonly query: string;
  /** Latest `date_added` seen by the last finished run; the next one begins a lookback before it. Null at first. */
  readonly watermark: string | null;
  /** Records inside the lookback, by sid. */
  readonly seen: Readonly<Record<string, SeenRecord>>;
  /** Records older than that whose `ppc_status` was not final, by sid. */
  readonly pending: Readonly<Record<string, SeenRecord>>;
  /** A run that has not finished: where it began, the latest time it saw, and its place. */
  readonly run: {
    readonly from: string | null;
    readonly latest: string | null;
    readonly checkpoint: Checkpoint;
  } | null;
}

/** Keeps the state of a sync between runs. */
export interface StateStore {
  load(): Promise<SyncState | null>;
  save(state: SyncState): Promise<void>;
  /** Keeps other runs out until the returned function is called. */
  lock?(): Promise<() => Promise<void>>;
}

/** New and changed records, with the state behind them. */
export interface SyncBatch {
  readonly calls: readonly Call[];
  readonly state: SyncState;
}

/**
 * Takes the records of a sync. `commit` stores records (by `sid`, the later one wins) and state in one transaction, so
 * that a run that dies at any point goes on exactly where its last commit ended.
 */
export interface UpsertSink {
  load(): Promise<SyncState | null>;
  commit(batch: SyncBatch): Promise<void>;
}

import type { Call } from '@call-attribution/core';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';

/** What is remembered of a record that was seen: its sid, when it was made, and a hash of its contents. */
export type SeenRecord = readonly [sid: string, dateAdded: string, hash: string];

/** A run of a sync that was interrupted, and is taken up by the next. */
export interface SyncRun {
  readonly from: string | null;
  /** Latest `date_added` it saw. */
  readonly latest: string | null;
  /** The same when the run was last taken up: what came behind its place meanwhile lies after a lookback before this. */
  readonly resumedAt: string | null;
  readonly checkpoint: Checkpoint;
}

/** Where a sync stands. Plain JSON; kept by a `StateStore` or beside the records by an `UpsertSink`. */
export interface SyncState {
  readonly version: 1;
  /** Hash of the filter and the API version; a state fits no other query. */
  readonly query: string;
  /** The next run begins a lookback before this `date_added`: the latest the last one saw. Null at first. */
  readonly watermark: string | null;
  /** Records inside the lookback. */
  readonly seen: readonly SeenRecord[];
  /** Records whose `ppc_status` was not final, in the order in which they are read again. */
  readonly pending: readonly SeenRecord[];
  /** A run that has not finished. */
  readonly run: SyncRun | null;
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

/** The state of a sync cannot be used. */
export class StateError extends Error {
  /**
   * `state_mismatch`: made for another query. `state_invalid`: no state of this package. `state_locked`: another run
   * has it.
   */
  readonly code: 'state_mismatch' | 'state_invalid' | 'state_locked';

  constructor(code: StateError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StateError';
    this.code = code;
  }
}

/** Refuses what is no state, and a state of another query. */
export function checkState(state: SyncState, query: string): SyncState {
  const { version, seen, pending, run } = state as Partial<SyncState>;
  if (version !== 1 || !Array.isArray(seen) || !Array.isArray(pending) || run === undefined) {
    throw new StateError(
      'state_invalid',
      'The sync state is not one of version 1; start with an empty one to read anew.',
    );
  }
  if (state.query === query) return state;
  throw new StateError(
    'state_mismatch',
    `The sync state belongs to another query (${state.query}, this is ${query}): the filter or the API version changed. ` +
      'Sync with the filter it was made for, or into another state.',
  );
}

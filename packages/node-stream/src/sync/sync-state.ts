import type { Call } from '@call-attribution/core';
import { printFilter } from '@call-attribution/query-dsl';
import { type Checkpoint, queryHash } from '../checkpoint/checkpoint.ts';
import { StateError } from '../errors.ts';
import type { WindowQuery } from '../query/window-query.ts';

/** What is remembered of a record: its sid, its `date_added` and a hash of its contents. */
export type SeenRecord = readonly [sid: string, dateAdded: string, hash: string];

/** A run that was interrupted, which the next one resumes. */
export interface SyncRun {
  /** Where it began. */
  readonly from: string | null;
  /** Where it ends, when it is a run of a moving period. */
  readonly to?: string;
  /** Latest `date_added` it saw. */
  readonly latest: string | null;
  /** The same when the run was last resumed: calls that appeared before its position since then lie within a lookback of it. */
  readonly resumedAt: string | null;
  /** How far it came. */
  readonly checkpoint: Checkpoint;
}

/** The state of a sync: plain JSON, kept by a `StateStore`, or together with the records by an `UpsertSink`. */
export interface SyncState {
  /** The form of the state. */
  readonly version: 1;
  /** Hash of the filter, the name of the moving period and the API version; the state fits no other query. */
  readonly query: string;
  /** The same in words, for messages. */
  readonly about: string;
  /** The latest `date_added` that the last run saw; the next run begins a lookback before it. Null at first. */
  readonly watermark: string | null;
  /** Records within the lookback. */
  readonly seen: readonly SeenRecord[];
  /** Records whose `ppc_status` was not final, in the order in which they will be read again. */
  readonly pending: readonly SeenRecord[];
  /** A run that has not finished. */
  readonly run: SyncRun | null;
}

/** Keeps the state of a sync between runs. */
export interface StateStore {
  /** The state saved last; null at first. */
  load(): Promise<SyncState | null>;
  /** Replaces the state. */
  save(state: SyncState): Promise<void>;
  /** Keeps other runs out until the returned function is called. */
  lock?(): Promise<() => Promise<void>>;
}

/** New and changed records, with the state after them. */
export interface SyncBatch {
  /** The records. */
  readonly calls: readonly Call[];
  /** The state once they are stored. */
  readonly state: SyncState;
}

/** What became of the records of a batch, and of those of earlier batches that were only stored with it. */
export interface SyncOutcome {
  /** Records that it did not have. */
  readonly added: number;
  /** Records that it had with other contents. */
  readonly changed: number;
  /** Records of the batch that it did not take. Default 0. */
  readonly refused?: number;
}

/**
 * Takes the records of a sync. `commit` stores records (by `sid`, the later one wins) and state in one transaction, so
 * that a run that is interrupted at any point resumes exactly after its last commit.
 */
export interface UpsertSink {
  /**
   * The sink compares records with those it has. It then gets all records that were read, the unchanged ones too. The state stays small, because the sync does not have to remember what it has seen.
   */
  readonly compares?: true;
  /** The state committed last; null at first. */
  load(): Promise<SyncState | null>;
  /**
   * Stores records and state, both or neither. What it returns is counted instead of what the sync remembers, which knows
   * nothing of records that were stored by a sync before it was told to begin again.
   */
  commit(batch: SyncBatch): Promise<SyncOutcome | undefined> | Promise<void>;
}

/** What ties a state to its query: the hash, and the same in words. */
export function queryOfState(
  query: WindowQuery,
  version: string,
  period?: string,
): Pick<SyncState, 'query' | 'about'> {
  const about = [
    printFilter(query.filter) || 'all calls',
    ...(period === undefined ? [] : [period]),
    version,
  ];
  return { query: queryHash(query, version, period), about: about.join(', ') };
}

/** Returns a state of this query. Throws for anything else. */
export function checkState(state: SyncState, query: string, about: string): SyncState {
  const known: Partial<SyncState> = state;
  const isWhole =
    known.version === 1 &&
    typeof known.about === 'string' &&
    Array.isArray(known.seen) &&
    Array.isArray(known.pending) &&
    known.run !== undefined;
  if (!isWhole) {
    throw new StateError(
      'state_invalid',
      'The value is not a sync state of this package. Start with an empty one to read everything again.',
    );
  }
  if (state.query === query) return state;
  throw new StateError(
    'state_mismatch',
    `The sync state belongs to another query: it was made for ${state.about}, and this is ${about}. Sync with the filter it was made for, or use another state.`,
  );
}

import type { Call } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { StateError } from '../errors.ts';
import type { Outlook } from '../reader/state.ts';
import { isWhole, rest, type Stretch, type Stretches, spansOf } from './stretches.ts';

/** What is remembered of a record: its sid, its `date_added` and a hash of its contents. */
export type SeenRecord = readonly [sid: string, dateAdded: string, hash: string];

/** What a copy has of the calls of one filter. */
export interface SyncPart {
  /** The version of the API that they were read with. */
  readonly version: 'v2' | 'v3';
  /** The filter without its times, in one canonical form; empty for all calls. */
  readonly filter: string;
  /** The latest `date_added` that was seen; null before the first call. */
  readonly latest: string | null;
  /** What was read of the order of calls, and what was asked for and not read. */
  readonly stretches: Stretches;
  /** What the reader found out about the server, which saves requests when it goes on at `from`. */
  readonly reader?: Outlook & { readonly from: string | null };
}

/** The state of a sync: plain JSON, kept by a `StateStore`, or together with the records by an `UpsertSink`. */
export interface SyncState {
  /** The form of the state. */
  readonly version: 1;
  /** What the copy has, by filter and version of the API. */
  readonly parts: readonly SyncPart[];
  /** Records within the lookback. */
  readonly seen: readonly SeenRecord[];
  /** Records whose `ppc_status` was not final, in the order in which they will be read again. */
  readonly pending: readonly SeenRecord[];
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
  /** The run ends with them. */
  readonly isLast: boolean;
  /**
   * How far the run is: `reading`; `read`, and what was read is counted next; `counted`, and what the count did not find is read once
   * more. A run that is cut off after it has counted begins its lookback again, so one that may be cut is best cut before.
   */
  readonly stage?: 'reading' | 'read' | 'counted';
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
   * The sink compares records with those it has. It then gets all records that were read, the unchanged ones too.
   * The state stays small, because the sync does not have to remember what it has seen.
   */
  readonly compares?: true;
  /** The state committed last; null at first. */
  load(): Promise<SyncState | null>;
  /**
   * Was this call removed on purpose? Then the sync does not even remember it. Asked after `load`; what is removed while a run is
   * under way is left out by `commit`.
   */
  leavesOut?(call: Call): boolean;
  /**
   * Stores records and state, both or neither. What it returns is counted instead of what the sync remembers, which knows
   * nothing of records that were stored by a sync before it was told to begin again.
   */
  commit(batch: SyncBatch): Promise<SyncOutcome | undefined> | Promise<void>;
}

/** A state that remembers nothing of some records. */
export function withoutRecords(state: SyncState, sids: ReadonlySet<string>): SyncState {
  const isKept = ([sid]: SeenRecord): boolean => !sids.has(sid);
  return { ...state, seen: state.seen.filter(isKept), pending: state.pending.filter(isKept) };
}

/** Returns the state of a sync. Throws for anything else. */
export function checkState(state: unknown): SyncState {
  if (isState(state)) return state;
  throw new StateError(
    'state_invalid',
    'The value is not a sync state of this package. Start with an empty one to read everything again.',
  );
}

function isState(value: unknown): value is SyncState {
  const { version, parts, seen, pending }: Partial<Record<keyof SyncState, unknown>> = fieldsOf(value);
  return (
    version === 1 &&
    Array.isArray(seen) &&
    Array.isArray(pending) &&
    Array.isArray(parts) &&
    parts.every(isPart)
  );
}

function isPart(value: unknown): boolean {
  const { version, filter, latest, stretches }: Partial<Record<keyof SyncPart, unknown>> = fieldsOf(value);
  return (
    (version === 'v2' || version === 'v3') &&
    typeof filter === 'string' &&
    isEnd(latest) &&
    Array.isArray(stretches) &&
    stretches.every(isStretch)
  );
}

function isStretch(value: unknown): boolean {
  const { from, to, is, calls, at }: Partial<Record<keyof Stretch, unknown>> = fieldsOf(value);
  const isCount = (count: unknown) => count === null || Number.isSafeInteger(count);
  return isEnd(from) && isEnd(to) && typeof is === 'string' && kinds.has(is) && isCount(calls) && isCount(at);
}

const kinds: ReadonlySet<string> = new Set<Stretch['is']>(['unread', 'read', 'whole', 'unproven', 'short']);
const isEnd = (time: unknown): boolean => time === null || !Number.isNaN(parseNaive(time));
const fieldsOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

/**
 * The parts without what another one has: where all calls were read since, it does not matter what a filter, or another version,
 * left undone.
 */
export function withoutCovered(parts: readonly SyncPart[]): SyncPart[] {
  const hasAll = ({ version, filter }: SyncPart) => filter === (version === 'v3' ? 'inc_gce:1' : '');
  const isCovered = (stretch: Stretch, part: SyncPart): boolean =>
    parts.some((other) => {
      if (other === part || !hasAll(other)) return false;
      const since = other.stretches.filter((one) => isWhole(one) && (one.at ?? 0) >= (stretch.at ?? 0));
      return spansOf(since).some((span) => rest([stretch], span).length === 0);
    });
  return parts.flatMap((part) => {
    const stretches = part.stretches.filter((stretch) => isWhole(stretch) || !isCovered(stretch, part));
    if (stretches.length === part.stretches.length) return [part];
    return stretches.length > 0 ? [{ ...part, stretches }] : [];
  });
}

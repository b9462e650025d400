import type { Call, CopyScope } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { CheckpointError } from '../errors.ts';
import { byBegin, type CopyStretch, missing, type Range, type ReadState } from '../proof.ts';
import type { Pace } from '../reader/list.ts';
import { positionOf } from '../times.ts';
import type { Position, Span } from '../verdict.ts';

/** How many calls the first answer counted in a range. */
export interface FirstCount<P extends Position = string> extends Span<P> {
  /** What it counted. */
  readonly total: number;
  /** Calls of them that were not found by a run that has come to its end. */
  readonly lacks?: number;
}

/** A stretch of a copy. */
export type SyncStretch<P extends Position = string> = Omit<CopyStretch, keyof Range> & Span<P>;

/** What a copy has of the calls of one filter. */
export interface SyncPart<P extends Position = string> {
  /** The version of the API that they were read with. */
  readonly version: 'v2' | 'v3';
  /** The filter without its times, in one canonical form; empty for all calls. */
  readonly filter: string;
  /** The latest `date_added` that was seen; null before the first call. */
  readonly latest: P | null;
  /** What the copy was asked for. */
  readonly asked: readonly Span<P>[];
  /** What was read. A stretch without `at` was read by a run that has not come to its end. */
  readonly stretches: readonly SyncStretch<P>[];
  /** What the first answers counted. */
  readonly firsts: readonly FirstCount<P>[];
  /** Calls after this were too young to be counted by the last run. */
  readonly countedTo: P | null;
  /** How close calls lay where they were read last. */
  readonly pace: Pace | null;
  /** A range that is read page by page, and how far it is. */
  readonly paged: (Span<P> & { readonly pages: NonNullable<ReadState['pages']> }) | null;
}

/** A part as a run works on it: positions are numbers, and times when it is kept. */
export type Part = SyncPart<number>;

/** A part with each of its positions written in another way. */
export function written<A extends Position, B extends Position>(
  part: SyncPart<A>,
  write: (position: A | null) => B | null,
): SyncPart<B> {
  const { asked, stretches, firsts, paged } = part;
  const each = <S extends Span<A>>({ from, to, ...rest }: S) => ({
    from: write(from),
    to: write(to),
    ...rest,
  });
  return {
    ...part,
    latest: write(part.latest),
    asked: asked.map(each),
    stretches: stretches.map(each),
    firsts: firsts.map(each),
    countedTo: write(part.countedTo),
    paged: paged && each(paged),
  };
}

/**
 * The state of a sync: plain JSON, kept by a `StateStore`, or together with the calls by an
 * `UpsertSink`.
 */
export interface SyncState {
  /** The form of the state. */
  readonly version: 2;
  /** The account of all calls so far, as the API names it. */
  readonly account: string | null;
  /** What the copy has, by filter and version of the API. */
  readonly parts: readonly SyncPart[];
  /** Of `syncCalls`: what is remembered of calls that will be read again. */
  readonly seen?: readonly SeenRecord[];
  /** Which calls the server has, where it serves a copy that was filled with a filter. */
  readonly only?: readonly CopyScope[];
}

/** What is remembered of a call: its sid, its `date_added` and a hash of its contents. */
export type SeenRecord = readonly [sid: string, dateAdded: string, hash: string];

/** Keeps the state of `syncCalls` between runs. */
export interface StateStore {
  /** The state saved last; null at first. */
  load(): Promise<SyncState | null>;
  /** Replaces the state. */
  save(state: SyncState): Promise<void>;
}

/**
 * Keeps the state of a sync in memory, for tests and for programs that keep running.
 *
 * @example
 * const state = memoryState();
 */
export function memoryState(initial: SyncState | null = null): StateStore {
  let state = initial;
  return {
    load: async () => state,
    async save(next) {
      state = next;
    },
  };
}

/** Calls that were read together, with the state after them. */
export interface SyncBatch {
  /** The calls: new ones, changed ones, and those that the copy has already. */
  readonly calls: readonly Call[];
  /** The state once they are stored. */
  readonly state: SyncState;
  /**
   * The state once they are stored but for so many, which the receiver does not take. It says that
   * they are missing, and later runs read them again.
   */
  stateWithout(refused: number): SyncState;
  /** The run ends with them. */
  readonly isLast: boolean;
}

/**
 * What became of the calls of a batch, and of those of earlier batches that were only stored with
 * it.
 */
export interface SyncOutcome {
  /** Calls that it did not have. */
  readonly added: number;
  /** Calls that it had with other contents. */
  readonly changed: number;
  /** Calls of the batch that it did not take; it then stores `stateWithout(refused)`. Default 0. */
  readonly refused?: number;
}

/**
 * Takes the calls of a sync. `commit` stores calls (by `sid`, the later one wins) and state in one
 * transaction, so that a run that is interrupted at any point resumes exactly after its last
 * commit.
 */
export interface UpsertSink {
  /** The state committed last; null at first. */
  load(): Promise<SyncState | null>;
  /**
   * Was this call removed on purpose? Asked after `load`; what is removed while a run is under way
   * is left out by `commit`.
   */
  leavesOut?(call: Call): boolean;
  /**
   * Stores calls and state, both or neither. Calls come again with the same contents: it compares
   * them with those it has. Where it leaves calls out that it cannot store, it stores the state that
   * `stateWithout` gives, and says how many they are.
   */
  commit(batch: SyncBatch): Promise<SyncOutcome>;
}

/** A state that names none of these calls. */
export function withoutRecords(state: SyncState, sids: ReadonlySet<string>): SyncState {
  const isKept = (sid: string): boolean => !sids.has(sid);
  const parts = state.parts.map((part) => ({
    ...part,
    stretches: part.stretches.map((one) =>
      one.sids ? { ...one, sids: one.sids.filter(isKept) } : one,
    ),
  }));
  return {
    ...state,
    parts,
    ...(state.seen ? { seen: state.seen.filter(([sid]) => isKept(sid)) } : {}),
  };
}

/**
 * A state for which no calls of a period were read: the next run reads them, with those that were
 * read together with them.
 */
export function withUnread(state: SyncState, period: Span): SyncState {
  const isOutside = ({ from, to }: Span): boolean =>
    (to !== null && period.from !== null && to < period.from) ||
    (from !== null && period.to !== null && from > period.to);

  const unread = (one: SyncStretch): SyncStretch =>
    isOutside(one) ? one : { ...one, is: 'unproven', why: 'unread' };
  return {
    ...state,
    parts: state.parts.map((part) => ({ ...part, stretches: part.stretches.map(unread) })),
  };
}

/** The parts of a state, to work on. */
export const partsOf = ({ parts }: Pick<SyncState, 'parts'>): Part[] =>
  parts.map((part) => written(part, positionOf));

/** Returns the state of a sync. Throws for anything else. */
export function checkState(state: unknown): SyncState {
  const { version, parts } = Object(state) as Partial<SyncState>;
  const isSpan = ({ from, to }: Span): boolean =>
    [from, to].every((end) => end === null || !Number.isNaN(parseNaive(end)));

  const isPart = ({ asked, stretches, firsts }: Partial<SyncPart>): boolean =>
    [asked, stretches, firsts].every(
      (list) => Array.isArray(list) && list.every((one) => isSpan(Object(one))),
    );

  if (version === 2 && Array.isArray(parts) && parts.every((part) => isPart(Object(part))))
    return state as SyncState;
  throw new CheckpointError(
    'checkpoint_invalid',
    'The value is not a sync state of this package. Start with an empty one to read everything again.',
  );
}

/**
 * The parts without those that are not whole while all of their calls were read since: without a
 * filter, in this or another version.
 */
export function withoutCovered(parts: readonly SyncPart[]): SyncPart[] {
  const hasAll = ({ version, filter }: Part): boolean =>
    filter === (version === 'v3' ? 'inc_gce:1' : '');
  const all = partsOf({ parts });
  return parts.filter((_, i) => {
    const part = all[i] as Part;
    const covers = (list: readonly CopyStretch[]): boolean =>
      part.asked.every((range) => missing(list, range).length === 0);
    if (part.firsts.length === 0 && covers(part.stretches.filter(({ is }) => is === 'proved')))
      return true;
    const since = latestRun([part]);
    const others = all.filter((other) => other !== part && hasAll(other));
    const newer = others.flatMap(({ stretches }) =>
      stretches.filter(({ is, at, run = 0 }) => is === 'proved' && at !== null && run > since),
    );
    return !covers(newer.sort(byBegin));
  });
}

/**
 * The number of the last run that has read or counted something of these parts; 0 before the first
 * one, and where a version wrote them that did not number its runs.
 */
export const latestRun = (parts: readonly Pick<SyncPart<Position>, 'stretches'>[]): number =>
  parts
    .flatMap(({ stretches }) => stretches)
    .reduce((latest, { run = 0 }) => Math.max(latest, run), 0);

/** Ranges in order, those that touch as one. */
export function merged(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const { from, to } of [...ranges].sort(byBegin)) {
    const last = all.at(-1);
    const touches = last !== undefined && (last.to === null || (from ?? -Infinity) <= last.to);
    if (last === undefined || !touches) all.push({ from, to });
    else if (last.to !== null && (to === null || to > last.to))
      all[all.length - 1] = { from: last.from, to };
  }

  return all;
}

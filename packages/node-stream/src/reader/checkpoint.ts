import { CheckpointError } from '../errors.ts';
import type { Source } from './source.ts';
import type { Span } from './span.ts';
import { addSpan, openSpans } from './spans.ts';
import type { PageStart } from './work.ts';

/** How far a read came: small, plain JSON, safe to store and to print. */
export interface Checkpoint {
  /** The form of the checkpoint. */
  readonly version: 1;
  /** Hash of what was read: the filter and the API version, or the list. A checkpoint fits no other read. */
  readonly query: string;
  /** What operators behind the read keep, which is theirs; see `through`. */
  readonly chain?: unknown;
  /** Half-open ranges of positions that were delivered completely; null is the read's own end. */
  readonly done: readonly (readonly [from: string | null, to: string | null])[];
  /** A slice delivered in part: how many of its items in the server's order, and a checksum of their ids. */
  readonly place: {
    readonly from: string | null;
    readonly to: string | null;
    readonly taken: number;
    readonly idChecksum: number;
    /** The page it is on, of a list that goes on by cursors. */
    readonly page?: PageStart;
  } | null;
  /** Items that the ranges held, in all runs so far. */
  readonly total: number;
  /** The most items that the server counted in the whole read. Absent until it gave a total. */
  readonly expected?: number;
  /** Items delivered in all runs so far. */
  readonly delivered: number;
  /** Items left out because they could not be read, in all runs so far. Absent when there are none. */
  readonly skipped?: number;
  /** Items that could not be read and were passed to `onError`. Absent when there are none, as are the next two. */
  readonly setAside?: number;
  /** Items that changed while their slice was read. */
  readonly changed?: number;
  /** Slices read again because their pages did not agree. */
  readonly rereads?: number;
  /**
   * Items of `done` from before a position that lay safely in the past when the first run began, in stretches: where each ends,
   * and its items.
   */
  readonly settled: {
    readonly before: string;
    readonly stretches: readonly (readonly [to: string, count: number])[];
  };
  /** The server gave no total for part of it, so nothing proves that part complete. */
  readonly unproven?: true;
  /** Items that lie beyond what the server gives of one position; 0 when nobody knows how many. Absent when there are none. */
  readonly outOfReach?: number;
}

/** The same as numbers, as a read keeps it. */
export interface ReadState
  extends Omit<Checkpoint, 'version' | 'query' | 'done' | 'place' | 'settled' | 'unproven' | 'outOfReach'> {
  readonly done: readonly Span[];
  readonly place:
    | (Span & { readonly taken: number; readonly idChecksum: number; readonly page?: PageStart })
    | null;
  readonly expected: number;
  readonly skipped: number;
  readonly setAside: number;
  readonly changed: number;
  readonly rereads: number;
  readonly settled: Settled;
  readonly isUnproven: boolean;
  readonly outOfReach: number | null;
}

/** Items from before a position, in stretches: where each ends, and its items. */
export interface Settled {
  readonly before: number;
  readonly stretches: readonly (readonly [to: number, count: number])[];
}

/** How positions are written. */
type Ends = Pick<Source<unknown>, 'print' | 'parse'>;

/** The state of a read that has not begun. `done`: items that earlier runs delivered, where no checkpoint says it. */
export function newState(before: number, done = 0): ReadState {
  return {
    ...{ done: [], place: null, total: done, expected: 0, delivered: done },
    ...{ skipped: 0, setAside: 0, changed: 0, rereads: 0, isUnproven: false, outOfReach: null },
    settled: { before, stretches: [] },
  };
}

/** A state as plain JSON. */
export function checkpointOf(state: ReadState, query: string, { print }: Ends): Checkpoint {
  const end = (position: number | null): string | null => (position === null ? null : print(position));
  const { done, place, total, delivered, settled, isUnproven, outOfReach } = state;
  const { expected, skipped, setAside, changed, rereads } = state;
  const counts = Object.entries({ expected, skipped, setAside, changed, rereads });
  return {
    version: 1,
    query,
    done: done.map(({ from, to }) => [end(from), end(to)]),
    place: place && { ...place, from: end(place.from), to: end(place.to) },
    ...{ total, delivered },
    ...Object.fromEntries(counts.filter(([, count]) => count > 0)),
    settled: {
      before: print(settled.before),
      stretches: settled.stretches.map(([to, count]) => [print(to), count]),
    },
    ...(isUnproven ? { unproven: true } : {}),
    ...(outOfReach === null ? {} : { outOfReach }),
  };
}

/** The state that a checkpoint of this query holds. Throws for anything else. */
export function stateFrom(value: unknown, query: string, ends: Ends): ReadState {
  if (!isCheckpoint(value, ends)) {
    throw new CheckpointError(
      'checkpoint_invalid',
      'The option checkpoint is not a checkpoint. Pass what checkpoint() returned, unchanged, or leave it out to start from the beginning.',
    );
  }
  if (value.query !== query) {
    throw new CheckpointError(
      'checkpoint_invalid',
      `The checkpoint belongs to another query (${value.query}, this is ${query}): the filter or the API version changed. ` +
        'Resume with the filter it was made for, or leave the checkpoint out to start from the beginning.',
    );
  }
  const end = (text: string | null): number | null => (text === null ? null : ends.parse(text));
  const { done, place, total, delivered, settled, unproven, outOfReach = null } = value;
  const { expected = 0, skipped = 0, setAside = 0, changed = 0, rereads = 0 } = value;
  return {
    ...{ total, delivered, expected, skipped, setAside, changed, rereads, outOfReach },
    done: done.map(([from, to]) => ({ from: end(from), to: end(to) })),
    place: place && { ...place, from: end(place.from), to: end(place.to) },
    settled: {
      before: ends.parse(settled.before),
      stretches: settled.stretches.map(([to, count]) => [ends.parse(to), count]),
    },
    isUnproven: unproven === true,
  };
}

/** What is left to be read: first the slice that was delivered in part, then all that is not done. */
export function spansToRead({ done, place }: Pick<ReadState, 'done' | 'place'>): Span[] {
  const open = openSpans(done);
  if (place === null) return open;
  const begun = { from: place.from, to: place.to };
  const after = begun.to === null ? [] : open.slice(1);
  const [first] = open;
  if (begun.to !== null && first !== undefined && first.to !== begun.to)
    after.unshift({ from: begun.to, to: first.to });
  return [begun, ...after];
}

/** The same spans and one more. */
export const withDone = ({ done }: Pick<ReadState, 'done'>, added: Span): Span[] => addSpan(done, added);

function isCheckpoint(value: unknown, ends: Ends): value is Checkpoint {
  if (value === null || typeof value !== 'object') return false;
  const isEnd = (end: unknown): boolean => end === null || isPosition(end);
  const isPosition = (end: unknown): boolean => typeof end === 'string' && !Number.isNaN(ends.parse(end));
  const {
    version,
    query,
    done,
    place,
    total,
    expected = 0,
    delivered,
    skipped = 0,
    setAside = 0,
    changed = 0,
    rereads = 0,
    settled,
    unproven = true,
    outOfReach = 0,
  } = value as Partial<Checkpoint>;
  return (
    version === 1 &&
    typeof query === 'string' &&
    [total, expected, delivered, skipped, setAside, changed, rereads, outOfReach].every(isCount) &&
    isPosition(settled?.before) &&
    Array.isArray(settled?.stretches) &&
    settled.stretches.every((pair) => Array.isArray(pair) && isPosition(pair[0]) && isCount(pair[1])) &&
    unproven === true &&
    Array.isArray(done) &&
    done.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isEnd)) &&
    (place === null ||
      (typeof place === 'object' &&
        isEnd(place.from) &&
        isEnd(place.to) &&
        isCount(place.taken) &&
        isCount(place.idChecksum) &&
        (place.page === undefined || isPageStart(place.page))))
  );
}

function isPageStart(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  const { index, after, offset, idChecksum, settled } = value as Partial<PageStart>;
  return (
    [index, offset, idChecksum, settled].every(isCount) &&
    (typeof after === 'string' || typeof after === 'number')
  );
}

/** Whether a value that was kept in a file can be a number of records or bytes. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

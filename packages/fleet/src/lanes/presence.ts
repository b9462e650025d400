import type { Board, BoardEntry } from '../board/board.ts';
import { workerKey } from './keys.ts';
import type { WorkerValue } from './values.ts';

/** What is known about whoever holds something on the board. All times are board times. */
export interface Traces {
  readonly now: number;
  /** Silence after which a worker counts as dead. */
  readonly ttl: number;
  /** Since when this worker's own writes have gone through; null while they do not. */
  readonly contactSince: number | null;
  /** Last sign of life of the holder; null when there is none. */
  readonly beatAt: number | null;
  /** When what it holds was written. */
  readonly writtenAt: number;
}

/**
 * Whether a holder counts as dead. What it wrote itself is a sign of life, too, since the live copy may not have its beat yet. And
 * after an outage of the board everybody looks dead: that is believed only after this worker has had contact for a TTL.
 */
export function isDead({ now, ttl, contactSince, beatAt, writtenAt }: Traces): boolean {
  if (contactSince === null || now - contactSince < ttl) return false;
  return now - Math.max(beatAt ?? 0, writtenAt) >= ttl;
}

/** Who is there, by the live copy of a board at this moment. */
export interface Presence {
  /** Whether something that `by` wrote at `writtenAt` is free: nobody holds it, the holder has left, or it is dead. */
  isFree(by: string | null, writtenAt: number): boolean;
  /** Slots of all workers that are there. */
  readonly slots: number;
}

/**
 * Looks who is there.
 *
 * @param me the own name.
 * @param ttl silence after which a worker counts as dead, in milliseconds.
 */
export function lookAround(board: Board, me: string, ttl: number): Presence {
  const now = board.now();
  const { contactSince } = board;
  let slots = 0;
  for (const { key, value, at } of board.entries('worker.')) {
    const { state, slots: theirs } = value as unknown as WorkerValue;
    if (key !== workerKey(me) && state !== 'gone' && state !== 'leaving' && now - at < ttl) slots += theirs;
  }
  const beats = new Map<string, BoardEntry | undefined>();
  return {
    slots,
    isFree(by, writtenAt) {
      // What this worker holds and does not work on, it holds without knowing: the answer to a write was lost.
      if (by === null || by === me) return true;
      if (!beats.has(by)) beats.set(by, board.get(workerKey(by)));
      const beat = beats.get(by);
      if ((beat?.value as unknown as WorkerValue | undefined)?.state === 'gone') return true;
      return isDead({ now, ttl, contactSince, beatAt: beat?.at ?? null, writtenAt });
    },
  };
}

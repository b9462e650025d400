import { setTimeout as sleep } from 'node:timers/promises';
import { CallsError } from '@call-attribution/core/errors';
import type { Board } from '../board/board.ts';
import { changeEntry } from './change-entry.ts';
import type { WorkerEvent } from './events.ts';

/** How a worker writes to the board. */
export interface Writing {
  readonly board: Board;
  emit(event: WorkerEvent): void;
  /** The worker ends: only a little patience is left. */
  readonly stop: AbortSignal;
}

/** What is left for each write once the worker ends. */
const lastMs = 2000;

/** Tells listeners how a write to the board went. */
export async function observed<T>(emit: Writing['emit'], write: () => Promise<T | null>): Promise<T | null> {
  const began = performance.now();
  const tell = (outcome: 'won' | 'lost' | 'failed'): void =>
    emit({ kind: 'board', outcome, seconds: (performance.now() - began) / 1000 });
  try {
    const written = await write();
    tell(written === null ? 'lost' : 'won');
    return written;
  } catch (error) {
    tell('failed');
    throw error;
  }
}

/**
 * Changes a value as `changeEntry` does, and tries again for as long as the board is away: what was committed must not be read
 * again only because nobody knows. Gives up soon when the worker ends; then others find out by themselves.
 */
export async function keepTrying<T>(
  { board, emit, stop }: Writing,
  key: string,
  change: (value: T) => T | null,
): Promise<void> {
  const began = performance.now();
  let stoppedAt: number | null = null;
  for (let wait = 100; ; wait = Math.min(5000, wait * 2)) {
    try {
      await observed(emit, () => changeEntry(board, key, change));
      break;
    } catch (error) {
      if (!CallsError.is(error, 'board_unavailable')) throw error;
    }
    if (stop.aborted) stoppedAt ??= performance.now();
    if (stoppedAt !== null && performance.now() - stoppedAt >= lastMs) break;
    await sleep(wait, undefined, stop.aborted ? {} : { signal: stop }).catch(() => {});
  }
  const seconds = (performance.now() - began) / 1000;
  if (seconds > 1) emit({ kind: 'wait', for: 'board', seconds });
}

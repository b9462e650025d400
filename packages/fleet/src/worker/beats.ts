import { hostname } from 'node:os';
import type { Board, Json } from '../board/board.ts';
import { workerKey } from '../lanes/keys.ts';
import type { WorkerValue } from '../lanes/values.ts';
import type { WorkerEvent } from './events.ts';
import { observed } from './keep-trying.ts';

/** What changes from one sign of life to the next. */
export type BeatFacts = Omit<WorkerValue, 'host' | 'pid' | 'version' | 'beat' | 'rss'>;

/** The signs of life of a worker. */
export interface Beats {
  /** One at once, since something has changed. Does not wait and never throws. */
  beat(): void;
  /** The last one. */
  close(): Promise<void>;
}

/** Begins to write signs of life: one now, and one each `everyMs`. A board that is away misses them. */
export function beginBeats(set: {
  readonly board: Board;
  readonly name: string;
  readonly version: string;
  readonly everyMs: number;
  readonly facts: () => BeatFacts;
  readonly emit: (event: WorkerEvent) => void;
}): Beats {
  const { board, version, emit } = set;
  const key = workerKey(set.name);
  let beats = 0;
  let writing: Promise<void> | null = null;
  let isDue = false;

  const write = async (): Promise<void> => {
    beats += 1;
    const value: WorkerValue = {
      host: hostname(),
      pid: process.pid,
      version,
      ...set.facts(),
      rss: process.memoryUsage.rss(),
      beat: beats,
    };
    const plain = value as unknown as Json;
    await observed(emit, () => board.write(key, plain, board.get(key)?.revision ?? 0)).catch(() => {});
  };
  const beat = (): Promise<void> => {
    if (writing !== null) {
      isDue = true;
      return writing;
    }
    writing = write().finally(() => {
      writing = null;
      if (!isDue) return;
      isDue = false;
      void beat();
    });
    return writing;
  };
  const timer = setInterval(beat, set.everyMs);
  void beat();
  return {
    beat: () => void beat(),
    async close() {
      clearInterval(timer);
      await beat();
      // The one under way may have begun before the state changed.
      if (writing !== null) await writing;
    },
  };
}

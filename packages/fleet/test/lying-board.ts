import {
  type Board,
  type BoardEntry,
  BoardMemory,
  FleetError,
  type Json,
  memoryBoard,
} from '../src/index.ts';

/** A generator of numbers from 0 up to 1: the same seed gives the same ones. */
export function numbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** What boards over one memory lie about, and whether they still do. */
export interface Lies {
  /** How often, from 0 to 1. */
  rate: number;
  readonly random: () => number;
  /** How many there were, by kind. */
  readonly told: Record<string, number>;
}

/**
 * A board of one worker that lies: it lets two win, says that something was written which was not, and the other way around, loses
 * entries, repeats old ones, forgets signs of life, and has lost contact without knowing.
 */
export function lyingBoard(memory: BoardMemory, lies: Lies): Board {
  const honest = memoryBoard(memory);
  const before = new Map<string, BoardEntry[]>();
  const lost = new Set<string>();
  const lie = (kind: string, share: number): boolean => {
    if (lies.random() >= lies.rate * share) return false;
    lies.told[kind] = (lies.told[kind] ?? 0) + 1;
    return true;
  };
  const remember = (entry: BoardEntry): BoardEntry => {
    before.set(entry.key, [...(before.get(entry.key) ?? []), entry]);
    return entry;
  };
  const shown = (entry: BoardEntry | undefined): BoardEntry | undefined => {
    if (entry === undefined || entry.key === 'job' || lies.rate === 0) return entry;
    if (lie('lost', 0.02)) lost.add(entry.key);
    if (lost.has(entry.key)) {
      if (lies.random() < 0.2) lost.delete(entry.key);
      return undefined;
    }
    const old = before.get(entry.key);
    if (old === undefined || !lie('old', 0.1)) return entry;
    return old[Math.floor(lies.random() * old.length)];
  };
  return {
    name: 'lies',
    now: () => honest.now(),
    get contactSince() {
      return lies.rate > 0 && lie('no contact', 0.05) ? null : 0;
    },
    get: (key) => shown(honest.get(key)),
    *entries(prefix) {
      for (const entry of honest.entries(prefix)) {
        const one = shown(entry);
        if (one !== undefined) yield one;
      }
    },
    async write(key, value, revision) {
      if (key.startsWith('worker.') && lie('no beat', 0.5)) return { key, value, revision, at: honest.now() };
      if (lie('refused', 0.1)) throw new FleetError('board_unavailable', 'It does not answer.');
      if (lie('not written', 0.1)) return { key, value, revision: revision + 1, at: honest.now() };
      const written = await honest.write(key, value, revision);
      if (written === null && lie('two win', 1)) {
        const theirs = honest.get(key);
        const mine = await honest.write(key, value, theirs?.revision ?? 0);
        return mine ?? { key, value, revision: revision + 1, at: honest.now() };
      }
      if (written !== null) remember(written);
      if (lie('no answer', 0.1)) throw new FleetError('board_unavailable', 'The answer was lost.');
      return written !== null && lie('lost although won', 0.05) ? null : written;
    },
    changed: (options) => honest.changed(options),
    close: () => honest.close(),
    [Symbol.asyncDispose]: () => honest.close(),
  };
}

/** A board that has nothing of another but its job, as after the loss of all data. */
export async function emptied(memory: BoardMemory): Promise<BoardMemory> {
  const fresh = new BoardMemory();
  const job = memoryBoard(memory).get('job');
  if (job !== undefined) await memoryBoard(fresh).write('job', job.value as Json, 0);
  return fresh;
}

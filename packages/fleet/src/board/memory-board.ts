import { type Clock, systemClock } from '@call-attribution/core';
import { FleetError } from '../errors.ts';
import type { Board, BoardEntry, Json } from './board.ts';
import { LiveCopy } from './live-copy.ts';

/** What takes each entry that is written. */
export interface Follower {
  /** Takes an entry. */
  take(entry: BoardEntry): unknown;
}

/** What boards in memory share: the entries of one job, as a server would have them. */
export class BoardMemory {
  /** Its clock. */
  readonly clock: Pick<Clock, 'now'>;
  readonly #entries = new Map<string, BoardEntry>();
  readonly #copies = new Set<Follower>();
  #revision = 0;

  /** @param clock its clock; default that of the machine. */
  constructor(clock: Pick<Clock, 'now'> = systemClock) {
    this.clock = clock;
  }

  /** Compare-and-set; null when the key has another revision. */
  write(key: string, value: Json, revision: number): BoardEntry | null {
    if ((this.#entries.get(key)?.revision ?? 0) !== revision) return null;
    this.#revision += 1;
    // A copy that nobody can change, as it would be with a server in between.
    const kept = freeze(JSON.parse(JSON.stringify(value)));
    const entry = Object.freeze({ key, value: kept, revision: this.#revision, at: this.clock.now() });
    this.#entries.set(key, entry);
    for (const copy of this.#copies) copy.take(entry);
    return entry;
  }

  /** Begins a live copy. */
  follow(copy: Follower): void {
    for (const entry of this.#entries.values()) copy.take(entry);
    this.#copies.add(copy);
  }

  /** Ends it. */
  leave(copy: Follower): void {
    this.#copies.delete(copy);
  }
}

/**
 * A board in the memory of this process, for a job that one process works on and for tests. Boards over the same
 * {@link BoardMemory} see each other's writes, each in a live copy of its own.
 *
 * @example
 * const memory = new BoardMemory();
 * const [one, two] = [memoryBoard(memory), memoryBoard(memory)];
 * await one.write('job', { state: 'running' }, 0);
 * two.get('job')?.value; // { state: 'running' }
 */
export function memoryBoard(memory: BoardMemory = new BoardMemory()): Board {
  const copy = new LiveCopy();
  const since = memory.clock.now();
  let isOpen = true;
  memory.follow(copy);
  const board: Board = {
    name: 'memory:',
    now: () => memory.clock.now(),
    get contactSince() {
      return isOpen ? since : null;
    },
    get: (key) => copy.get(key),
    entries: (prefix) => copy.entries(prefix),
    async write(key, value, revision) {
      if (!isOpen) throw new FleetError('board_unavailable', 'The board memory: was closed.');
      return memory.write(key, value, revision);
    },
    changed: (options) => copy.changed(options),
    async close() {
      isOpen = false;
      memory.leave(copy);
      copy.wake();
    },
    [Symbol.asyncDispose]: () => board.close(),
  };
  return board;
}

function freeze(value: Json): Json {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { FleetError } from '../errors.ts';
import type { Board, BoardEntry, Json } from './board.ts';
import type { BoardClock } from './board-clock.ts';
import type { LiveCopy } from './live-copy.ts';

/** What a server says about a write: taken, refused because the revision is another one, or nothing that can be relied on. */
export type WriteReply =
  | { readonly kind: 'won'; readonly revision: number; readonly at: number }
  | { readonly kind: 'lost' }
  /** It may have been written, or may still be. */
  | { readonly kind: 'unknown'; readonly cause: unknown }
  /** It has not been written and will not be. */
  | { readonly kind: 'away'; readonly cause: unknown }
  /** It will never be written. */
  | { readonly kind: 'refused'; readonly error: FleetError };

/** What a server has under a key: revision 0 and no entry when it has nothing. */
export interface Stored {
  readonly revision: number;
  readonly entry: BoardEntry | null;
  /** Of the write that made it. */
  readonly nonce: string | null;
}

/** A server that keeps entries. It fills the live copy by itself. */
export interface BoardServer {
  /** Compare-and-set. Does not throw. */
  put(key: string, text: string, revision: number, nonce: string): Promise<WriteReply>;
  /** What is there now; null when that cannot be found out. Does not throw. */
  read(key: string): Promise<Stored | null>;
  close(): Promise<void>;
}

/** How long a write is tried. */
const patienceMs = 6_000;
const pauseMs = 200;

/** A board on a server. */
export function servedBoard(name: string, server: BoardServer, copy: LiveCopy, clock: BoardClock): Board {
  const writer = new BoardWriter(name, server, copy, clock);
  const board: Board = {
    name,
    now: () => clock.now(),
    get contactSince() {
      return writer.isOpen ? clock.contactSince : null;
    },
    get: (key) => copy.get(key),
    entries: (prefix) => copy.entries(prefix),
    write: (key, value, revision) => writer.write(key, value, revision),
    changed: (options) => copy.changed(options),
    async close() {
      if (!writer.isOpen) return;
      writer.isOpen = false;
      copy.wake();
      await server.close();
    },
    [Symbol.asyncDispose]: () => board.close(),
  };
  return board;
}

/** Writes entries, each until it is known what became of it. */
class BoardWriter {
  isOpen = true;
  readonly #name: string;
  readonly #server: BoardServer;
  readonly #copy: LiveCopy;
  readonly #clock: BoardClock;

  constructor(name: string, server: BoardServer, copy: LiveCopy, clock: BoardClock) {
    this.#name = name;
    this.#server = server;
    this.#copy = copy;
    this.#clock = clock;
  }

  async write(key: string, value: Json, revision: number): Promise<BoardEntry | null> {
    const text = JSON.stringify(value);
    // Tells a write of ours from others when its answer was lost. Trying again is safe: of all tries one is written at most.
    const nonce = randomUUID();
    const until = performance.now() + patienceMs;
    let mayBeWritten = false;
    for (;;) {
      if (!this.isOpen) throw new FleetError('board_unavailable', `The board ${this.#name} was closed.`);
      const answer = await this.#server.put(key, text, revision, nonce);
      if (answer.kind === 'won')
        return this.#won({ key, value: JSON.parse(text), revision: answer.revision, at: answer.at });
      if (answer.kind === 'refused') throw answer.error;
      mayBeWritten ||= answer.kind === 'unknown';
      if (answer.kind !== 'away') {
        const stored = await this.#server.read(key);
        if (stored?.nonce === nonce && stored.entry !== null) return this.#won(stored.entry);
        if (stored !== null && (stored.revision !== revision || answer.kind === 'lost'))
          return this.#learn(key, revision, stored);
        if (answer.kind === 'lost' && !mayBeWritten) {
          this.#clock.succeeded();
          return null;
        }
      }
      if (performance.now() >= until) {
        this.#clock.failed();
        throw unanswered(this.#name, answer.kind === 'lost' ? null : answer.cause);
      }
      await setTimeout(pauseMs);
    }
  }

  #won(entry: BoardEntry): BoardEntry {
    this.#clock.succeeded();
    this.#copy.take(entry);
    return entry;
  }

  /** The server has another entry than the writer thought. */
  #learn(key: string, revision: number, { entry }: Stored): null {
    this.#clock.succeeded();
    // What was written last can be gone when a cluster has lost its leader, and everything when a server has lost its data.
    const isLostThere = this.#copy.get(key)?.revision === revision && (entry?.revision ?? 0) < revision;
    if (entry === null) this.#copy.forget(key);
    else if (isLostThere) this.#copy.correct(entry);
    else this.#copy.take(entry);
    return null;
  }
}

const unanswered = (name: string, cause: unknown): FleetError =>
  new FleetError(
    'board_unavailable',
    `The board ${name} did not answer a write, which may have been made or not.`,
    { hint: 'Check that the server runs.', cause },
  );

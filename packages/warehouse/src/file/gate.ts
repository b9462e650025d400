import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { failureOf } from './failure.ts';
import {
  bytesHeld,
  isWanted,
  type Mode,
  type OpenedFile,
  type OpenOptions,
  openFile,
  stateOf,
} from './instance.ts';
import { Session, type StatementLimits } from './session.ts';

// Operating systems lock files per process, so two instances of one process would not see each other.
const gates = new Map<string, Gate>();

/** The gate of a file: all sessions of this process on it go through it. */
export function gateOf(path: string): Gate {
  const key = realPath(path);
  let gate = gates.get(key);
  if (gate === undefined) {
    gate = new Gate(path);
    gates.set(key, gate);
  }
  return gate;
}

function realPath(path: string): string {
  try {
    return join(realpathSync(dirname(resolve(path))), basename(path));
  } catch {
    return resolve(path);
  }
}

interface Opened {
  readonly mode: Mode;
  readonly file: OpenedFile;
  /** What the file was like, and how it was opened. */
  readonly state: string;
  /** Sessions at work. */
  sessions: number;
  /** All sessions there have been. */
  uses: number;
}

/** How long a file stays open for the next question, which takes half the time then. */
const restMs = 3_000;
/** How often a look is taken whether another process wants it meanwhile. */
const lookMs = 50;
/** Bytes of a file that may stay in memory between questions, next to which the next one would need its own. */
const mostHeld = 64e6;

/**
 * Lets sessions of one mode at a time into a file, in the order in which they came. Writers come alone.
 *
 * All that read share one instance, those with somebody's SQL too (`reading.ts` says why they may): a process loses its lock of a
 * file when it closes any descriptor of it, as a second instance does even while it is opened, and another process could write
 * under those that still read. For the same reason a file that is kept open for the next question is used only if nothing has
 * changed in it.
 */
export class Gate {
  readonly #path: string;
  #opened: Opened | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> = Promise.resolve();
  #signalClosed: () => void = () => {};
  /** Does a session of another mode wait for those at work? */
  #isAwaited = false;
  readonly #sessions = new Set<Session>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Is DuckDB still at work for a session that has ended? */
  get isAtWork(): boolean {
    return [...this.#sessions].some(({ isGivenUp }) => isGivenUp);
  }

  /** Runs `body` in a session of its own. */
  async use<T>(
    mode: Mode,
    options: OpenOptions,
    body: (session: Session) => Promise<T>,
    limits: StatementLimits = {},
  ): Promise<T> {
    const session = await this.open(mode, options, limits);
    try {
      return await body(session);
    } finally {
      await session.close();
    }
  }

  /** A session that the caller closes. */
  async open(mode: Mode, options: OpenOptions, limits: StatementLimits = {}): Promise<Session> {
    const opened = await this.#enter(mode, options);
    try {
      const connection = await opened.file.db.connect();
      const session = new Session(connection, this.#path, limits, () => {
        this.#sessions.delete(session);
        return this.#leave(opened);
      });
      this.#sessions.add(session);
      return session;
    } catch (error) {
      await this.#leave(opened);
      throw failureOf(error, this.#path);
    }
  }

  /** Closes a file that is only kept open for the next question. */
  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened?.mode === 'ask' && opened.sessions === 0) await this.#shut(opened);
  }

  #enter(mode: Mode, options: OpenOptions): Promise<Opened> {
    const turn = this.#queue.then(async () => {
      if (this.#opened !== null) {
        const shared = mode === 'ask' ? await this.#share(this.#opened, options) : null;
        if (shared !== null) return shared;
        this.#isAwaited = true;
        await this.close();
        await this.#closed;
        this.#isAwaited = false;
      }
      const state = stateOf(this.#path, options);
      const file = await openFile(this.#path, mode, options);
      this.#closed = new Promise((done) => {
        this.#signalClosed = done;
      });
      this.#opened = { mode, file, state, sessions: 1, uses: 1 };
      return this.#opened;
    });
    this.#queue = turn.catch(() => {});
    return turn;
  }

  /** One more session for an open file, if it may have one. */
  async #share(opened: Opened, options: OpenOptions): Promise<Opened | null> {
    if (opened.mode !== 'ask') return null;
    if (opened.sessions === 0 && opened.state !== stateOf(this.#path, options)) return null;
    opened.sessions += 1;
    opened.uses += 1;
    if (opened.sessions > 1 || !(await isWanted(this.#path))) return opened;
    opened.sessions -= 1;
    return null;
  }

  async #leave(opened: Opened): Promise<void> {
    const mayRest = opened.mode === 'ask' && (await bytesHeld(opened.file).catch(() => Infinity)) <= mostHeld;
    opened.sessions -= 1;
    if (opened.sessions > 0) return;
    if (mayRest && !this.#isAwaited) void this.#rest(opened);
    else await this.#shut(opened);
  }

  /** Keeps the file open for the next question, unless another process is about to write. */
  async #rest(opened: Opened): Promise<void> {
    const { uses } = opened;
    const until = performance.now() + restMs;
    for (let isOver = false; !isOver; ) {
      await delay(lookMs, undefined, { ref: false });
      isOver = performance.now() >= until || (await isWanted(this.#path));
      if (this.#opened !== opened || opened.uses !== uses) return;
    }
    await this.#shut(opened);
  }

  async #shut({ file }: Opened): Promise<void> {
    file.db.closeSync();
    await file.unlock?.();
    this.#opened = null;
    this.#signalClosed();
  }
}

import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { failureOf } from './failure.ts';
import { type Limits, Session } from './session.ts';

/**
 * How a file is opened. `ask`: read-only and locked: no files, no extensions, no settings. `export`: read-only, and files
 * can be written and read. `write`: one process at a time.
 */
export type Mode = 'ask' | 'export' | 'write';

/** What DuckDB may use, and how long to wait for another process. */
export interface OpenOptions {
  /** Memory that DuckDB may use, such as `500MB`. */
  readonly memory: string;
  readonly threads: number;
  /** Milliseconds to wait for another process to close the file. */
  readonly wait: number;
}

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
  readonly instance: DuckDBInstance;
  sessions: number;
}

/** Lets sessions of one mode at a time into a file, in the order in which they came. Writers come alone. */
class Gate {
  readonly #path: string;
  #opened: Opened | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> = Promise.resolve();
  #signalClosed: () => void = () => {};

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens the file, runs `body` and closes the file unless other sessions of the same mode are at work. */
  async use<T>(
    mode: Mode,
    options: OpenOptions,
    body: (session: Session) => Promise<T>,
    limits: Limits = {},
  ): Promise<T> {
    const session = await this.open(mode, options, limits);
    try {
      return await body(session);
    } finally {
      await session.close();
    }
  }

  /** A session that the caller closes. */
  async open(mode: Mode, options: OpenOptions, limits: Limits = {}): Promise<Session> {
    const opened = await this.#enter(mode, options);
    try {
      const connection = await opened.instance.connect();
      return new Session(connection, this.#path, limits, () => this.#leave(opened));
    } catch (error) {
      this.#leave(opened);
      throw failureOf(error, this.#path);
    }
  }

  #enter(mode: Mode, options: OpenOptions): Promise<Opened> {
    const turn = this.#queue.then(async () => {
      const canShare = mode === 'ask' && this.#opened?.mode === 'ask';
      if (this.#opened && !canShare) await this.#closed;
      if (this.#opened) {
        this.#opened.sessions += 1;
        return this.#opened;
      }
      const instance = await openInstance(this.#path, mode, options);
      this.#closed = new Promise((done) => {
        this.#signalClosed = done;
      });
      this.#opened = { mode, instance, sessions: 1 };
      return this.#opened;
    });
    this.#queue = turn.catch(() => {});
    return turn;
  }

  #leave(opened: Opened): void {
    opened.sessions -= 1;
    if (opened.sessions > 0) return;
    opened.instance.closeSync();
    this.#opened = null;
    this.#signalClosed();
  }
}

/** A session on an empty database in memory, to read other files with. */
export async function memorySession(options: OpenOptions, limits: Limits = {}): Promise<Session> {
  const instance = await openInstance(':memory:', 'write', options);
  return new Session(await instance.connect(), 'memory', limits, () => instance.closeSync());
}

const locked = { enable_external_access: 'false', lock_configuration: 'true' };

async function openInstance(path: string, mode: Mode, options: OpenOptions): Promise<DuckDBInstance> {
  const config = {
    access_mode: mode === 'write' ? 'READ_WRITE' : 'READ_ONLY',
    memory_limit: options.memory,
    // Loading with one thread takes the least work, and leaves the other cores to the client that is reading.
    threads: String(mode === 'write' ? 1 : options.threads),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    storage_compatibility_version: 'latest',
    max_temp_directory_size: '20GB',
    ...(mode === 'ask' ? locked : {}),
  };
  const until = performance.now() + options.wait;
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 200)) {
    try {
      return await DuckDBInstance.create(path, config);
    } catch (error) {
      const failure = failureOf(error, path);
      if (failure.code !== 'in_use' || performance.now() >= until) throw failure;
    }
    await delay(pause);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { WarehouseError } from '../errors.ts';
import type { SqlValue } from '../sql/tree.ts';
import { failureOf, sqlFailure } from './failure.ts';
import { prepareReading } from './reading.ts';

/** One row, by column name. DuckDB's wide integers and decimals are strings. */
export type Row = Readonly<Record<string, unknown>>;

/** What ends a statement early. */
export interface StatementLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that all statements of the session may take together. */
  readonly timeLimit?: number | undefined;
  /** Bytes of memory that the process may have, whatever uses them. */
  readonly processMemory?: number | undefined;
}

/** Milliseconds that a session waits for DuckDB after it has interrupted it. Nothing interrupts one call of a function. */
const patience = 2_000;
/** The same where memory runs out: some 100 MB may be added each tenth of a second. */
const shortPatience = 200;

// A timer of Node.js that is set to more goes off at once.
const longestTimer = 2 ** 31 - 1;

/** Statements on one connection of an open file. */
export class Session {
  readonly #connection: DuckDBConnection;
  readonly #path: string;
  readonly #onClose: () => Promise<void>;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    this.#stop(new WarehouseError('aborted', 'The question was aborted.', { cause: this.#signal?.reason }));
  };
  #stopped: WarehouseError | null = null;
  #isGivenUp = false;
  #closing: Promise<void> | null = null;
  readonly #streams = new Set<DuckDBResult>();
  /** What DuckDB is at work on, and how not to wait for it any longer. */
  readonly #calls = new Map<Promise<unknown>, (error: WarehouseError) => void>();
  readonly #timers: NodeJS.Timeout[] = [];
  #interrupts: NodeJS.Timeout | undefined;

  constructor(
    connection: DuckDBConnection,
    path: string,
    limits: StatementLimits,
    onClose: () => Promise<void>,
  ) {
    this.#connection = connection;
    this.#path = path;
    this.#onClose = onClose;
    const { signal, timeLimit, processMemory = Number.POSITIVE_INFINITY } = limits;
    if (timeLimit !== undefined)
      this.#timers.push(
        setTimeout(() => this.#stop(tooLong(timeLimit)), Math.min(timeLimit, longestTimer)).unref(),
      );
    if (processMemory < Number.POSITIVE_INFINITY) {
      const look = () => {
        if (process.memoryUsage.rss() > processMemory) this.#stop(tooLarge(), shortPatience);
      };
      this.#timers.push(setInterval(look, 100).unref());
    }
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
  }

  /** Is DuckDB still at work on something that the session no longer waits for? */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** All rows of a statement. */
  async all(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#guard(async () => {
      const result = await this.#connection.run(sql, [...values]);
      return (await result.getRowObjectsJson()) as Row[];
    });
  }

  /** The first row of a statement that always has one. */
  async one(sql: string, values: readonly SqlValue[] = []): Promise<Row> {
    return (await this.all(sql, values))[0] ?? {};
  }

  /** Runs a statement and says how many rows it changed. */
  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return this.#guard(async () => {
      const result = await this.#connection.run(sql, [...values]);
      return result.rowsChanged;
    });
  }

  /** A statement whose rows are computed as they are read with `chunks`. */
  async stream(sql: string, values: readonly SqlValue[] = []): Promise<DuckDBResult> {
    const result = await this.#guard(() => this.#connection.stream(sql, [...values]));
    this.#streams.add(result);
    return result;
  }

  /** The result of one statement that somebody else wrote. DuckDB's complaints about it are passed on. */
  async statement(sql: string): Promise<DuckDBResult> {
    try {
      const prepared = await prepareReading(this.#connection, sql, (work) => this.#native(work));
      const result = await this.#native(() => prepared.stream());
      this.#streams.add(result);
      return result;
    } catch (error) {
      throw this.#stopped ?? sqlFailure(error, this.#path);
    }
  }

  /** The rows of a result, some thousand at a time. */
  async *chunks(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk, void, undefined> {
    for (;;) {
      const chunk = await this.#guard(() => result.fetchChunk());
      if (chunk === null || chunk.rowCount === 0) break;
      yield chunk;
    }
    this.#streams.delete(result);
  }

  /** The only column of a statement, some thousand rows at a time. */
  async *column(sql: string, values: readonly SqlValue[] = []): AsyncGenerator<string[], void, undefined> {
    for await (const chunk of this.chunks(await this.stream(sql, values)))
      yield chunk.getColumnValues(0) as string[];
  }

  /** Runs `body` in a transaction. */
  async transaction<T>(body: () => Promise<T>): Promise<T> {
    await this.run('BEGIN TRANSACTION');
    try {
      const result = await body();
      await this.run('COMMIT');
      return result;
    } catch (error) {
      // When the commit itself failed there is nothing to roll back.
      await this.#connection.run('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /**
   * Ends the session; statements at work are stopped. Where DuckDB cannot stop, this resolves all the same, and the file is let go
   * when DuckDB comes back: a connection at work must not be closed.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    const released = this.#release();
    if (this.#isGivenUp) {
      released.catch(() => {});
      return;
    }
    const end = new AbortController();
    const late = delay(patience, undefined, { ref: false, signal: end.signal }).then(
      () => {
        this.#isGivenUp = true;
        released.catch(() => {});
      },
      () => {},
    );
    await Promise.race([released, late]).finally(() => end.abort());
  }

  async #release(): Promise<void> {
    if (this.#calls.size > 0 || this.#streams.size > 0) this.#interrupt();
    await Promise.allSettled(this.#calls.keys());
    // A result that was not read to its end keeps the file open.
    for (const result of this.#streams) await drain(result);
    for (const timer of this.#timers) clearTimeout(timer);
    clearInterval(this.#interrupts);
    this.#connection.closeSync();
    await this.#onClose();
  }

  #stop(error: WarehouseError, wait = patience): void {
    this.#stopped ??= error;
    this.#interrupt();
    this.#timers.push(setTimeout(() => this.#giveUp(), wait).unref());
  }

  #interrupt(): void {
    this.#connection.interrupt();
    // An interrupt that comes before the statement has begun is lost.
    this.#interrupts ??= setInterval(() => this.#connection.interrupt(), 20).unref();
  }

  #giveUp(): void {
    if (this.#stopped === null || this.#calls.size === 0) return;
    this.#isGivenUp = true;
    for (const giveUp of this.#calls.values()) giveUp(this.#stopped);
  }

  /** Runs something of DuckDB's; its errors become those of the warehouse. */
  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#native(work);
    } catch (error) {
      throw this.#stopped ?? failureOf(error, this.#path);
    }
  }

  /** Runs something of DuckDB's, and waits for it unless the session was stopped and DuckDB does not come back. */
  async #native<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopped) throw this.#stopped;
    const call = work();
    return new Promise<T>((resolve, reject) => {
      this.#calls.set(call, reject);
      const forget = () => this.#calls.delete(call);
      call.then(forget, forget);
      call.then(resolve, reject);
    });
  }
}

async function drain(result: DuckDBResult): Promise<void> {
  try {
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; ) chunk = await result.fetchChunk();
  } catch {
    // It was interrupted, as it should be.
  }
}

function tooLarge(): WarehouseError {
  return new WarehouseError(
    'memory_limit',
    'The statement needs more memory than the process may use and was stopped. Ask for less at once.',
  );
}

function tooLong(timeLimit: number): WarehouseError {
  return new WarehouseError(
    'time_limit',
    `The question took longer than ${timeLimit / 1000} s and was stopped. Ask for a shorter period or fewer groups, or raise \`timeLimit\`.`,
  );
}

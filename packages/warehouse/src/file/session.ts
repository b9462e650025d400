import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult, DuckDBValue } from '@duckdb/node-api';
import { WarehouseError } from '../errors.ts';
import { failureOf, sqlFailure } from './failure.ts';

/** A value of a `$1` placeholder. Other types are written as strings and cast in the SQL. */
export type SqlValue = string | number | boolean | null;

/** One row, by column name. DuckDB's wide integers and decimals are strings. */
export type Row = Readonly<Record<string, unknown>>;

/** What ends a statement early. */
export interface Limits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that all statements of the session may take together. */
  readonly timeLimit?: number | undefined;
}

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
  #streams = new Set<DuckDBResult>();
  #timers: NodeJS.Timeout[] = [];

  constructor(connection: DuckDBConnection, path: string, limits: Limits, onClose: () => Promise<void>) {
    this.#connection = connection;
    this.#path = path;
    this.#onClose = onClose;
    const { signal, timeLimit } = limits;
    if (timeLimit !== undefined)
      this.#timers.push(setTimeout(() => this.#stop(tooLong(timeLimit)), timeLimit).unref());
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
  }

  /** All rows of a statement. */
  async all(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#guard(async () => {
      const result = await this.#connection.run(sql, [...values] as DuckDBValue[]);
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
      const result = await this.#connection.run(sql, [...values] as DuckDBValue[]);
      return result.rowsChanged;
    });
  }

  /** A statement whose rows are computed as they are read with `chunks`. */
  async stream(sql: string, values: readonly SqlValue[] = []): Promise<DuckDBResult> {
    const result = await this.#guard(() => this.#connection.stream(sql, [...values] as DuckDBValue[]));
    this.#streams.add(result);
    return result;
  }

  /** The result of one statement that somebody else wrote. DuckDB's complaints about it are passed on. */
  async statement(sql: string): Promise<DuckDBResult> {
    if (this.#stopped) throw this.#stopped;
    try {
      const statements = await this.#connection.extractStatements(sql);
      if (statements.count > 1) {
        throw new WarehouseError('invalid_sql', 'One statement at a time, please.');
      }
      const prepared = await statements.prepare(0);
      const result = await prepared.stream();
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

  /** Ends the session; statements at work are stopped. */
  async close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const timer of this.#timers) clearTimeout(timer);
    // A result that was not read to its end keeps the file open.
    for (const result of this.#streams) await this.#drain(result);
    this.#connection.closeSync();
    await this.#onClose();
  }

  async #drain(result: DuckDBResult): Promise<void> {
    this.#connection.interrupt();
    try {
      for (let chunk = await result.fetchChunk(); chunk?.rowCount; ) chunk = await result.fetchChunk();
    } catch {
      // It was interrupted, as it should be.
    }
  }

  #stop(error: WarehouseError): void {
    this.#stopped ??= error;
    this.#connection.interrupt();
    // An interrupt that comes before the statement has begun is lost.
    this.#timers.push(setInterval(() => this.#connection.interrupt(), 20).unref());
  }

  /** Runs something of DuckDB's; its errors become those of the warehouse. */
  async #guard<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopped) throw this.#stopped;
    try {
      return await work();
    } catch (error) {
      throw this.#stopped ?? failureOf(error, this.#path);
    }
  }
}

function tooLong(timeLimit: number): WarehouseError {
  return new WarehouseError(
    'time_limit',
    `The question took longer than ${timeLimit / 1000} s and was stopped. Ask for a shorter period or fewer groups, or raise \`timeLimit\`.`,
  );
}

import { type Duration, deadlineMillis } from '@call-attribution/core/time';
import type { ParquetType } from '@call-attribution/node-stream/encoders';
import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { bytesOf } from '../file/memory-size.ts';
import type { Session, StatementLimits } from '../file/session.ts';
import { fileType, plainValue } from './values.ts';

/** A statement of your own. */
export interface SqlOptions {
  /** Ends the statement. */
  readonly signal?: AbortSignal | undefined;
  /** How long the statement may take, reading its rows included. Default `1m`. */
  readonly timeLimit?: Duration | undefined;
  /**
   * Bytes that the process may use beyond `memory`, in which DuckDB does not count the values that one call of a function
   * makes. Above, the statement ends with `memory_limit`, whatever uses the memory: for processes that do nothing else. Default:
   * no limit.
   */
  readonly excess?: number | undefined;
}

/** The limits of a statement, in a process whose DuckDB may use this memory. */
export function sqlLimits(options: SqlOptions, memory: string): StatementLimits {
  const { signal, excess } = options;
  const timeLimit =
    options.timeLimit === undefined ? undefined : deadlineMillis(options.timeLimit, 'timeLimit');
  const processMemory = excess === undefined ? undefined : bytesOf(memory) + excess;
  return { signal, timeLimit, processMemory };
}

/** A column of the result of a statement. */
export interface SqlColumn {
  /** Name of the column in each row. */
  readonly name: string;
  /** The type in DuckDB, such as `DECIMAL(9,1)`. */
  readonly sqlType: string;
  /** The column type for files. */
  readonly type: ParquetType;
}

/**
 * A value of such a result. Lists and structures are plain JSON; integers and decimals that a number cannot hold are
 * strings, and so are dates, times and intervals.
 */
export type SqlResultValue = string | number | boolean | null | readonly unknown[] | object;

/** One row of such a result. */
export type SqlRow = Readonly<Record<string, SqlResultValue>>;

/** The result of a statement, row by row. Read it to the end, leave the loop, or close it: until then the file is open. */
export interface SqlResult extends AsyncIterable<SqlRow>, AsyncDisposable {
  /** The columns of the result, in order. */
  readonly columns: readonly SqlColumn[];
  /** Ends the statement and closes the file. Reading all rows does the same. */
  close(): Promise<void>;
}

/** Runs one statement of SQL in a locked session. Takes the session over and closes it in the end. */
export async function runSql(session: Session, sql: string): Promise<SqlResult> {
  let result: DuckDBResult;
  try {
    result = await session.statement(sql);
  } catch (error) {
    await session.close();
    throw error;
  }
  const columns = result.deduplicatedColumnNames().map(
    (name, i): SqlColumn => ({
      name,
      sqlType: String(result.columnType(i)),
      type: fileType(result.columnType(i)),
    }),
  );
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await session.close();
    isClosed = true;
  };
  async function* rows(): AsyncGenerator<SqlRow, void, undefined> {
    try {
      for await (const chunk of session.chunks(result)) yield* rowsOf(chunk, columns);
    } finally {
      await close();
    }
  }
  return { columns, close, [Symbol.asyncIterator]: rows, [Symbol.asyncDispose]: close };
}

function rowsOf(chunk: DuckDBDataChunk, columns: readonly SqlColumn[]): SqlRow[] {
  const values = columns.map((_, i) => chunk.convertColumnValues(i, plainValue));
  return Array.from({ length: chunk.rowCount }, (_, row) =>
    Object.fromEntries(columns.map(({ name }, i) => [name, values[i]?.[row] ?? null])),
  );
}

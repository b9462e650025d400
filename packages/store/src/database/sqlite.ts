import Database from 'libsql';
import type { Dialect, Driver, Insert, Row, Session, Value } from './driver.ts';
import { StoreError } from './errors.ts';

/** How a store uses a SQLite file. */
export interface SqliteOptions {
  /**
   * `normal` survives a killed process, but a power failure may lose the last batches, which a sync reads again.
   * `full` survives that too and is slower. Default `normal`.
   */
  synchronous?: 'normal' | 'full';
  /** How long a writer waits for the writer of another process, in milliseconds. Default 30,000. */
  busyTimeoutMs?: number;
}

const dialect: Dialect = {
  json: 'BLOB',
  key: 'TEXT',
  clustered: 'WITHOUT ROWID',
  isIn: (column, placeholder) => `${column} IN (SELECT value FROM json_each(${placeholder}))`,
  listAsTable: (placeholder) => `json_each(${placeholder}) AS list`,
  list: (values) => JSON.stringify(values),
  jsonValue: (json) => Buffer.from(json),
  lock: '',
  sizeQuery: 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
};

/** Opens a database file: one connection that writes and one that reads, both in this thread. */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<Driver> {
  const isInMemory = file === ':memory:';
  const writer = connect(file);
  tune(writer, options);
  // An in-memory database belongs to one connection, which readers and the writer therefore share.
  const reader = isInMemory ? writer : connect(file);
  if (!isInMemory) reader.exec('PRAGMA busy_timeout = 5000; PRAGMA query_only = ON');
  const writing = createLane();
  const reading = isInMemory ? writing : createLane();
  const write = sessionOf(writer);
  const read = sessionOf(reader);
  const patienceMs = options.busyTimeoutMs ?? 30_000;

  const transaction = async <T>(
    connection: Database.Database,
    begin: string,
    session: Session,
    body: (s: Session) => Promise<T>,
  ): Promise<T> => {
    connection.exec(begin);
    try {
      const result = await body(session);
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  };

  return {
    dialect,
    all: (sql, values) => reading(() => read.all(sql, values)),
    run: (sql, values) => writing(() => untilFree(patienceMs, () => write.run(sql, values))),
    many: (insert, rows) => writing(() => untilFree(patienceMs, () => write.many(insert, rows))),
    read: (body) => reading(() => transaction(reader, 'BEGIN', read, body)),
    write: (body) =>
      writing(() => untilFree(patienceMs, () => transaction(writer, 'BEGIN IMMEDIATE', write, body))),
    async close() {
      await reading(async () => {
        if (reader !== writer) reader.close();
      });
      await writing(async () => writer.close());
    },
  };
}

function connect(file: string): Database.Database {
  try {
    return new Database(file);
  } catch (cause) {
    throw new StoreError(
      'store_unavailable',
      `The database file ${file} cannot be opened: its folder must exist and be writable. Create the folder or use another path.`,
      { cause },
    );
  }
}

function tune(connection: Database.Database, options: SqliteOptions): void {
  try {
    connection.exec('PRAGMA busy_timeout = 5000');
    connection.prepare('PRAGMA journal_mode = WAL').all();
    connection.exec(`PRAGMA synchronous = ${options.synchronous === 'full' ? 'FULL' : 'NORMAL'}`);
    connection.exec('PRAGMA journal_size_limit = 67108864');
    connection.exec('PRAGMA cache_size = -65536');
    // Waiting in SQLite would stop the whole process, so the wait for another writer happens in untilFree.
    connection.exec('PRAGMA busy_timeout = 20');
  } catch (cause) {
    throw new StoreError(
      'store_unavailable',
      'The database file cannot be used: it is not a SQLite database, or it is damaged. Use another path or restore a copy.',
      { cause },
    );
  }
}

async function untilFree<T>(patienceMs: number, attempt: () => Promise<T>): Promise<T> {
  for (let waited = 0, pause = 5; ; waited += pause, pause = Math.min(pause * 2, 50)) {
    try {
      return await attempt();
    } catch (error) {
      const busy = String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
      if (!busy) throw error;
      if (waited >= patienceMs) {
        throw new StoreError(
          'store_busy',
          `Another process has been writing to the database for ${patienceMs} ms. Try again, or end that process.`,
          { cause: error, retryable: true },
        );
      }
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

function sessionOf(connection: Database.Database): Session {
  const prepared = new Map<string, Database.Statement>();
  const statement = (sql: string): Database.Statement => {
    let found = prepared.get(sql);
    if (found === undefined) {
      if (prepared.size >= 300) prepared.clear();
      found = connection.prepare(sql.replace(/\$(\d+)/g, '?$1'));
      prepared.set(sql, found);
    }
    return found;
  };
  return {
    all: async (sql, values = []) => statement(sql).all(values as Value[]) as Row[],
    run: async (sql, values = []) => statement(sql).run(values as Value[]).changes,
    many: async (insert: Insert, rows) => {
      const width = rows[0]?.length ?? 0;
      if (width === 0) return 0;
      const marks = Array.from({ length: width }, (_, i) => `$${i + 1}`).join(',');
      const one = statement(`${insert.into} VALUES (${marks}) ${insert.otherwise ?? ''}`);
      let touched = 0;
      for (const row of rows) touched += one.run(row as Value[]).changes;
      return touched;
    },
  };
}

/** Runs jobs one after the other, in the order of the calls. A job that fails does not stop the next one. */
function createLane(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job, job);
    last = result.catch(() => undefined);
    return result;
  };
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Database from 'libsql';
import { type StoreSettings, storeOptions } from '../options.ts';
import type { Dialect, Driver, Insert, Row, Session, Value } from './driver.ts';
import { StoreError } from './errors.ts';
import { fromSqlite, isBusy, isOfSqlite } from './sqlite-errors.ts';

const dialect: Dialect = {
  key: 'TEXT',
  clustered: 'WITHOUT ROWID',
  isIn: (column, placeholder) => `${column} IN (SELECT value FROM json_each(${placeholder}))`,
  listAsTable: (placeholder) => `json_each(${placeholder}) AS list`,
  list: (values) => JSON.stringify(values),
  lock: '',
  sizeQuery: 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
};

/** Rows of one insert. */
const rowsAtOnce = 16;

/** Opens a database file: one connection that writes and one that reads, both in this thread. */
export async function openSqlite(
  file: string,
  settings: StoreSettings = storeOptions.fill({}),
): Promise<Driver> {
  const { busyTimeout: patienceMs, synchronous } = settings;
  const writer = await openConnection(file, patienceMs, [
    // Waiting in SQLite would stop the whole process, so the wait for another writer happens in untilFree.
    'busy_timeout = 20',
    // For a new file only: fewer and fuller pages than the default of 4096 bytes, so less to write and to log.
    'page_size = 8192',
    'journal_mode = WAL',
    `synchronous = ${synchronous}`,
    'journal_size_limit = 67108864',
    'cache_size = -65536',
  ]);
  // An in-memory database belongs to one connection, which readers and the writer therefore share.
  if (file === ':memory:') return new SqliteDriver(file, patienceMs, writer, writer);
  const forReading = ['busy_timeout = 20', 'query_only = ON'];
  const reader = await openConnection(file, patienceMs, forReading).catch((error: unknown) => {
    writer.close();
    throw error;
  });
  return new SqliteDriver(file, patienceMs, writer, reader);
}

class SqliteDriver implements Driver {
  readonly dialect = dialect;
  readonly readsAtOnce = 1;
  readonly #file: string;
  readonly #patienceMs: number;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #writing = createQueue();
  readonly #reading: Queue;
  #isClosed = false;

  constructor(file: string, patienceMs: number, writer: Connection, reader: Connection) {
    this.#file = file;
    this.#patienceMs = patienceMs;
    this.#writer = writer;
    this.#reader = reader;
    this.#reading = reader === writer ? this.#writing : createQueue();
  }

  all(sql: string, values?: readonly Value[]): Promise<Row[]> {
    return this.read((session) => session.all(sql, values));
  }

  async read<T>(body: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    return this.#reading(() => this.#transaction(this.#reader, 'BEGIN', body));
  }

  async write<T>(body: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    return this.#writing(() => this.#transaction(this.#writer, 'BEGIN IMMEDIATE', body));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reading(async () => {
      if (this.#reader !== this.#writer) this.#reader.close();
    });
    await this.#writing(async () => this.#writer.close());
    await releaseFiles();
  }

  /** libsql ends the process when a closed connection is used. */
  #refuseClosed(): void {
    if (this.#isClosed)
      throw new StoreError('store_unavailable', 'The store has been closed. Open it again.');
  }

  /** Runs a transaction, and again while another process writes. */
  #transaction<T>(
    { database, session }: Connection,
    begin: string,
    body: (session: Session) => Promise<T>,
  ): Promise<T> {
    return untilFree(this.#patienceMs, async () => {
      try {
        database.exec(begin);
        const result = await body(session);
        database.exec('COMMIT');
        return result;
      } catch (error) {
        rollBack(database);
        throw isOfSqlite(error) ? fromSqlite(error, this.#file) : error;
      }
    });
  }
}

function rollBack(database: Database.Database): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself, as it does when the disk is full. The first error says more.
  }
}

/** An open connection with its prepared statements. */
interface Connection {
  readonly database: Database.Database;
  readonly session: Session;
  close(): void;
}

/** A connection with these settings. Waits while another process keeps it from setting them. */
function openConnection(file: string, patienceMs: number, pragmas: readonly string[]): Promise<Connection> {
  return untilFree(patienceMs, async () => {
    const connection = connect(file);
    try {
      for (const pragma of pragmas) connection.database.prepare(`PRAGMA ${pragma}`).all();
    } catch (error) {
      connection.close();
      throw fromSqlite(error, file);
    }
    return connection;
  });
}

function connect(file: string): Connection {
  try {
    const database = new Database(file);
    const prepared = new Map<string, Database.Statement>();
    return {
      database,
      session: sessionOf(database, prepared),
      close() {
        prepared.clear();
        database.close();
      },
    };
  } catch (cause) {
    throw fromSqlite(cause, file);
  }
}

/** How many closed databases may still have open files. */
const mostUnreleased = 16;
let unreleased = 0;

/**
 * libsql cannot end a statement, so the files of a closed database stay open until the garbage collector finds its statements.
 * A program that opens a store for each job would have too many open files before it has enough garbage for a collection.
 */
async function releaseFiles(): Promise<void> {
  unreleased += 1;
  if (unreleased < mostUnreleased) return;
  unreleased = 0;
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  // What was collected is ended in the next round of the event loop.
  await new Promise((done) => setImmediate(done));
}

async function untilFree<T>(patienceMs: number, attempt: () => Promise<T>): Promise<T> {
  for (let waited = 0, pause = 5; ; waited += pause, pause = Math.min(pause * 2, 50)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || waited >= patienceMs) throw error;
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

function sessionOf(connection: Database.Database, prepared: Map<string, Database.Statement>): Session {
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
      const width = insert.columns.length;
      const into = (count: number): Database.Statement => {
        const marks = (row: number) =>
          insert.columns.map((column, i) => {
            const mark = `$${row * width + i + 1}`;
            return column === insert.inBytes ? `CAST(${mark} AS TEXT)` : mark;
          });
        const values = Array.from({ length: count }, (_, row) => `(${marks(row)})`).join(',');
        return statement(
          `INSERT INTO ${insert.into} (${insert.columns.join(', ')}) VALUES ${values} ${insert.otherwise ?? ''}`,
        );
      };
      let touched = 0;
      let at = 0;
      // A call of the driver costs about as much as inserting a row.
      for (const some = into(rowsAtOnce); at + rowsAtOnce <= rows.length; at += rowsAtOnce)
        touched += some.run(flat(rows, at, at + rowsAtOnce)).changes;
      for (const one = into(1); at < rows.length; at += 1) touched += one.run(rows[at] as Value[]).changes;
      return touched;
    },
  };
}

/** The values of some rows, one after the other. Array.flat is several times slower. */
function flat(rows: readonly (readonly Value[])[], from: number, to: number): Value[] {
  const values: Value[] = [];
  for (let i = from; i < to; i += 1) for (const value of rows[i] as readonly Value[]) values.push(value);
  return values;
}

/** Runs jobs one after the other, in the order of the calls. A job that fails does not stop the next one. */
type Queue = <T>(job: () => Promise<T>) => Promise<T>;

function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job, job);
    last = result.catch(() => undefined);
    return result;
  };
}

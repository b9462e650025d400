import { existsSync } from 'node:fs';
import type { Erasure } from '@call-attribution/node-stream/copies';
import type Database from 'libsql';
import type { StoreSettings } from '../options.ts';
import type { Dialect, Driver, Row, Session, Value } from './driver.ts';
import { noStore, StoreError } from './errors.ts';
import { type Connection, connect, inMemory, untilFree } from './sqlite-connection.ts';
import { fromSqlite, isOfSqlite } from './sqlite-errors.ts';
import {
  closeReader,
  connectReader,
  createQueue,
  hold,
  letGo,
  type OpenFile,
  openFile,
  openToRead,
  realPath,
} from './sqlite-file.ts';

const dialect: Dialect = {
  key: 'TEXT',
  schema: 'store.',
  isIn: (column, placeholder) => `${column} IN (SELECT value FROM json_each(${placeholder}))`,
  // Without CROSS JOIN, SQLite reads all calls of the account.
  lookUp: (columns) =>
    `SELECT ${columns} FROM json_each($2) AS list CROSS JOIN records WHERE account = $1 AND sid = list.value`,
  list: (values) => JSON.stringify(values),
  jsonOf: (column) => `json_group_array(${column})`,
  text: (column) => column,
  hasComments: false,
  lock: '',
  now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
  sizeQuery:
    "SELECT page_count * page_size AS bytes FROM pragma_page_count('store'), pragma_page_size('store')",
  columnsQuery: (tables) =>
    `SELECT m.name AS table_name, c.name AS name, c.type AS type
       FROM store.sqlite_schema AS m JOIN pragma_table_info(m.name, 'store') AS c
      WHERE m.name IN (${tables.map((name) => `'${name}'`).join(', ')})`,
};

/**
 * Opens a database file. All stores of this process in one file share a connection that writes and one that reads, both in this
 * thread.
 */
export async function openSqlite(file: string, settings: StoreSettings): Promise<Driver> {
  const { busyTimeout: patienceMs, synchronous, readOnly } = settings;
  if (file === inMemory) {
    // An in-memory database belongs to one connection, which readers and the writer therefore share.
    const only = await connect(file, file, patienceMs, []);
    const queue = createQueue();
    const opened = {
      writer: only,
      reader: only,
      writing: queue,
      reading: queue,
      access: 'write',
      watch: null,
    } as const;
    return new SqliteDriver(file, settings, opened, async () => only.close());
  }
  const path = realPath(file);
  if (readOnly) {
    if (!existsSync(path)) throw noStore(`sqlite:${file}`);
    const opened = await openToRead(path, file, patienceMs);
    return new SqliteDriver(file, settings, opened, () => closeReader(path, file, opened));
  }
  const shared = await hold(path, () => openFile(path, file, patienceMs));
  const release = () => letGo(path, shared);
  try {
    const opened = await shared.opened;
    // Another file under the name would be read with the log of the one that is still open.
    opened.watch?.check();
    // What one of the stores asks for is done for all.
    if (synchronous === 'full')
      await opened.writing(async () => opened.writer.set('store.synchronous = full'));
    return new SqliteDriver(file, settings, opened, release);
  } catch (error) {
    await release();
    throw error;
  }
}

class SqliteDriver implements Driver {
  readonly dialect = dialect;
  /** They are written in this thread: more would keep other work waiting. */
  readonly writesAtOnce = 1_000;
  readonly #file: string;
  readonly #patienceMs: number;
  readonly #opened: OpenFile;
  readonly #release: () => Promise<void>;
  /** Connections of reads that have one of their own. */
  readonly #streams = new Set<Connection>();
  #isClosed = false;

  constructor(
    file: string,
    { busyTimeout }: Pick<StoreSettings, 'busyTimeout'>,
    opened: OpenFile,
    release: () => Promise<void>,
  ) {
    this.#file = file;
    this.#patienceMs = busyTimeout;
    this.#opened = opened;
    this.#release = release;
  }

  all(sql: string, values?: readonly Value[]): Promise<Row[]> {
    return this.read((session) => session.all(sql, values));
  }

  async read<T>(body: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    const { reading, reader, watch } = this.#opened;
    return reading(() => {
      watch?.check();
      return this.#transaction(reader, 'BEGIN', body);
    });
  }

  /** Reads on a connection of its own, so that other work goes on meanwhile. A database in memory has one only, and is read at once. */
  async *stream<T>(body: (session: Session) => AsyncGenerator<T>): AsyncGenerator<T> {
    this.#refuseClosed();
    const { watch } = this.#opened;
    if (watch === null) {
      yield* await this.read(async (session) => {
        const all: T[] = [];
        for await (const some of body(session)) all.push(some);
        return all;
      });
      return;
    }
    watch.check();
    const own = await connectReader(realPath(this.#file), this.#file, this.#patienceMs, this.#opened.access);
    this.#streams.add(own);
    const session: Session = {
      ...own.session,
      all: async (sql, values) => {
        this.#refuseClosed();
        return own.session.all(sql, values);
      },
    };
    try {
      own.database.exec('BEGIN');
      yield* body(session);
    } catch (error) {
      throw isOfSqlite(error) ? fromSqlite(error, this.#file) : error;
    } finally {
      if (this.#streams.delete(own)) endStream(own);
    }
  }

  async write<T>(body: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    const { writing, writer, watch } = this.#opened;
    return writing(async () => {
      watch?.check({ log: true });
      const result = await this.#transaction(writer, 'BEGIN IMMEDIATE', body);
      watch?.noteLog();
      return result;
    });
  }

  /** Deleted rows were overwritten. A new image of the database has nothing of them either in what pages have left over. */
  async scrub(isWhole: boolean): Promise<Erasure['remains']> {
    this.#refuseClosed();
    const { writing, writer, watch } = this.#opened;
    if (watch === null) return [];
    return writing(async () => {
      if (isWhole)
        await untilFree(this.#patienceMs, async () => {
          watch.check({ log: true });
          try {
            writer.database.exec('VACUUM store');
          } catch (error) {
            throw isOfSqlite(error) ? fromSqlite(error, this.#file) : error;
          }
          watch.noteLog();
        });
      const isEmpty = await this.#emptyLog();
      watch.check();
      return isEmpty ? [] : ['in_use'];
    });
  }

  /** Moves what is in the log into the database. False when another process reads for so long that it cannot be done. */
  async #emptyLog(): Promise<boolean> {
    const busy = Object.assign(new Error('The log is in use.'), { code: 'SQLITE_BUSY' });
    try {
      await untilFree(this.#patienceMs, async () => {
        const [end] = await this.#opened.writer.session.all('PRAGMA store.wal_checkpoint(TRUNCATE)');
        if (Number(end?.busy) !== 0) throw busy;
      });
      return true;
    } catch (error) {
      if (error === busy) return false;
      throw isOfSqlite(error) ? fromSqlite(error, this.#file) : error;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // What was asked for before is still done.
    await this.#opened.reading(async () => undefined);
    await this.#opened.writing(async () => undefined);
    for (const own of this.#streams) endStream(own);
    this.#streams.clear();
    await this.#release();
  }

  /** libsql ends the process when a closed connection is used. */
  #refuseClosed(): void {
    if (this.#isClosed)
      throw new StoreError('store_unavailable', 'The store has been closed. Open it again.', { kind: 'bug' });
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

/** A file cannot be detached within a transaction. */
function endStream({ database, close }: Connection): void {
  rollBack(database);
  close();
}

function rollBack(database: Database.Database): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself, as it does when the disk is full. The first error says more.
  }
}

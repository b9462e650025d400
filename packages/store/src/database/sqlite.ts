import { existsSync } from 'node:fs';
import type { Erasure } from '@call-attribution/node-stream/copies';
import type Database from 'libsql';
import type { StoreSettings } from '../options.ts';
import type { Dialect, Driver, Row, Session, Value, WorkOptions } from './driver.ts';
import { noStore, StoreError } from './errors.ts';
import { groupedFields } from './own-columns.ts';
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
  clustered: 'WITHOUT ROWID',
  isIn: (column, placeholder) => `${column} IN (SELECT value FROM json_each(${placeholder}))`,
  // Without CROSS JOIN, SQLite reads all calls of the account.
  lookUp: (columns) =>
    `SELECT ${columns} FROM json_each($2) AS list CROSS JOIN records WHERE account = $1 AND sid = list.value`,
  list: (values) => JSON.stringify(values),
  rowId: 'rowid',
  jsonOf: (column) => `json_group_array(${column})`,
  // Of several rows with the least time SQLite takes the first one of the index, which is in the order of the sids.
  firstCalls: (callers) => `SELECT max(caller) AS last, count(*) AS callers,
      json_group_array(id) FILTER (WHERE first >= $3 AND first < $4 AND caller NOT GLOB '*[^0-9]*' AND length(caller) <= 18) AS ids
    FROM (SELECT caller, rowid AS id, min(CASE WHEN at > $5 THEN at ELSE $6 END) AS first
      FROM records INDEXED BY records_caller WHERE account = $1 AND caller > $2 GROUP BY caller ORDER BY caller LIMIT ${callers})`,
  pageColumns: `, ${groupedFields.join(', ')}`,
  hasComments: false,
  lock: '',
  now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
  sizeQuery:
    "SELECT page_count * page_size AS bytes FROM pragma_page_count('store'), pragma_page_size('store')",
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
    const opened = { writer: only, reader: only, writing: queue, reading: queue, watch: null };
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
  readonly readsAtOnce = 1;
  /** With more, the garbage collector has to copy them. */
  readonly loadsAtOnce = 500;
  readonly #file: string;
  readonly #patienceMs: number;
  readonly #opened: OpenFile;
  readonly #release: () => Promise<void>;
  readonly #isReadOnly: boolean;
  /** Reads on connections of their own. */
  readonly #long = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(
    file: string,
    { busyTimeout, readOnly }: Pick<StoreSettings, 'busyTimeout' | 'readOnly'>,
    opened: OpenFile,
    release: () => Promise<void>,
  ) {
    this.#file = file;
    this.#patienceMs = busyTimeout;
    this.#isReadOnly = readOnly;
    this.#opened = opened;
    this.#release = release;
  }

  all(sql: string, values?: readonly Value[]): Promise<Row[]> {
    return this.read((session) => session.all(sql, values));
  }

  async read<T>(body: (session: Session) => Promise<T>, { isLong = false }: WorkOptions = {}): Promise<T> {
    this.#refuseClosed();
    const { reading, reader, watch } = this.#opened;
    if (isLong && watch !== null) return this.#readAlone(body);
    return reading(() => {
      watch?.check();
      return this.#transaction(reader, 'BEGIN', body);
    });
  }

  /** Reads on a connection of its own, so that other reads go on meanwhile. */
  async #readAlone<T>(body: (session: Session) => Promise<T>): Promise<T> {
    const { watch } = this.#opened;
    const work = async (): Promise<T> => {
      watch?.check();
      const own = await connectReader(realPath(this.#file), this.#file, this.#patienceMs, this.#isReadOnly);
      try {
        return await this.#transaction(own, 'BEGIN', body);
      } finally {
        own.close();
      }
    };
    const result = work();
    this.#long.add(result);
    try {
      return await result;
    } finally {
      this.#long.delete(result);
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
    await Promise.allSettled(this.#long);
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

function rollBack(database: Database.Database): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself, as it does when the disk is full. The first error says more.
  }
}

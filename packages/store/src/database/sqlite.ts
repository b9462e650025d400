import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findForeignFile } from '@call-attribution/node-stream/files';
import { recordColumns } from '../columns.ts';
import type { StoreSettings } from '../options.ts';
import type { Dialect, Driver, Remains, Row, Session, Value } from './driver.ts';
import { differs, orReplace, recordNames } from './driver.ts';
import { noStore, StoreError } from './errors.ts';
import { type Database, loadSqlite, type SqliteStatement } from './sqlite-driver.ts';
import { fromSqlite, isBusy, isOfSqlite } from './sqlite-errors.ts';
import { lacksPages } from './sqlite-log.ts';
import { inMemory } from './store-url.ts';

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
  timestamp: (placeholder) => placeholder,
  hasComments: false,
  lock: '',
  now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
  columnsQuery: (tables) =>
    `SELECT m.name AS table_name, c.name AS name, c.type AS type
       FROM store.sqlite_schema AS m JOIN pragma_table_info(m.name, 'store') AS c
      WHERE m.name IN (${tables.map((name) => `'${name}'`).join(', ')})`,
};

const forReading = ['busy_timeout = 20', 'query_only = ON'];
const forWriting = [
  // Waiting in SQLite would stop the whole process, so the wait for another writer happens in
  // untilFree.
  'busy_timeout = 20',
  // For a new file only: a page holds some records, so that few bytes of it are left over.
  'store.page_size = 16384',
  'store.journal_mode = WAL',
  'store.journal_size_limit = 67108864',
  // What is deleted or replaced is overwritten at once.
  'store.secure_delete = ON',
  'store.cache_size = -65536',
];

/** Opens a database file: a connection that writes and one that reads, both in this thread. */
export async function openSqlite(file: string, settings: StoreSettings): Promise<Driver> {
  const { busyTimeout: patienceMs, synchronous, readOnly, clock } = settings;
  const to = (path: string, pragmas: readonly string[], access?: Access) =>
    connect(path, file, patienceMs, pragmas, access);
  if (file === inMemory) {
    // It belongs to one connection.
    const only = await to(file, []);
    return new SqliteDriver({
      file,
      path: null,
      patienceMs,
      clock,
      writer: only,
      reader: only,
      access: 'write',
    });
  }

  const path = realPath(file);
  if (readOnly) {
    if (!existsSync(path)) throw noStore(`sqlite:${file}`);
    const access = await accessTo(path, file, patienceMs);
    const reader = await to(path, forReading, access);
    return new SqliteDriver({ file, path, patienceMs, clock, writer: reader, reader, access });
  }

  // SQLite would write into them, wherever they lead.
  const strange = findForeignFile(path, ['-wal', '-shm', '-journal']);
  if (strange !== null)
    throw new StoreError(
      'store_url',
      `${strange}, and SQLite would use it. Remove it, or put the database into a folder of your own.`,
    );

  makeForOwner(path);
  const writer = await to(path, [...forWriting, `store.synchronous = ${synchronous}`]);
  try {
    const reader = await to(path, forReading, 'read');
    return new SqliteDriver({ file, path, patienceMs, clock, writer, reader, access: 'read' });
  } catch (error) {
    writer.close();
    throw error;
  }
}

/**
 * Makes the empty file of a new database, which only this user can read. SQLite gives the files
 * next to it the same permissions.
 */
function makeForOwner(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there already, or SQLite says why it cannot be.
  }
}

/** An open file. */
interface OpenFile {
  /** Its name in messages. */
  readonly file: string;
  /** Null for a database in memory. */
  readonly path: string | null;
  readonly patienceMs: number;
  readonly clock: Driver['clock'];
  readonly writer: Connection;
  /** The same as the writer where there is one connection only. */
  readonly reader: Connection;
  /** How further connections open it. */
  readonly access: Access;
}

class SqliteDriver implements Driver {
  readonly dialect = dialect;
  readonly clock: Driver['clock'];
  /** They are written in this thread: more would keep other work waiting. */
  readonly writesAtOnce = 1_000;
  readonly #open: OpenFile;
  readonly #opened: BigIntStats | undefined;
  /** The size of the file when it was looked at last. */
  #size: bigint;
  /** Connections of reads that have one of their own. */
  readonly #streams = new Set<Connection>();
  #isClosed = false;

  constructor(open: OpenFile) {
    this.#open = open;
    this.clock = open.clock;
    this.#opened = open.path === null ? undefined : statOf(open.path);
    this.#size = this.#opened?.size ?? 0n;
  }

  all(sql: string, values?: readonly Value[]): Promise<Row[]> {
    return this.read((session) => session.all(sql, values));
  }

  read<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#transaction(this.#open.reader, 'BEGIN', body);
  }

  write<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#transaction(this.#open.writer, 'BEGIN IMMEDIATE', body);
  }

  /**
   * Reads on a connection of its own, so that other work goes on meanwhile. A database in memory
   * has one only: others have their turn between two parts, each of which is from a snapshot of its
   * own.
   */
  async *stream<T>(body: (session: Session) => AsyncGenerator<T>): AsyncGenerator<T> {
    const { file, path, patienceMs, access } = this.#open;
    if (path === null) {
      const parts = body(this.#open.reader.session);
      for (;;) {
        const part = await this.read(() => parts.next());
        if (part.done) return;
        yield part.value;
      }
    }

    this.#refuseUnusable();
    const own = await connect(path, file, patienceMs, forReading, access);
    this.#streams.add(own);
    const session: Session = {
      ...own.session,
      all: async (sql, values) => {
        this.#refuseUnusable();
        return own.session.all(sql, values);
      },
    };
    try {
      await own.session.run('BEGIN');
      yield* body(session);
    } catch (error) {
      throw this.#told(error);
    } finally {
      if (this.#streams.delete(own)) own.close();
    }
  }

  /**
   * Deleted rows were overwritten. A new image of the database has nothing of them either in what
   * pages have left over.
   */
  async overwriteDeleted(isWhole: boolean): Promise<readonly Remains[]> {
    const { path, writer, patienceMs } = this.#open;
    if (path === null) return [];
    return writer.inTurn(async () => {
      const busy = Object.assign(new Error('Another process reads what is in the log.'), {
        code: 'ERR_SQLITE_ERROR',
        errcode: 5,
      });
      try {
        await untilFree(patienceMs, async () => {
          this.#refuseUnusable();
          if (isWhole) await writer.session.run('VACUUM store');
        });
        // What is in the log has to be in the database alone.
        await untilFree(patienceMs, async () => {
          const [end] = await writer.session.all('PRAGMA store.wal_checkpoint(TRUNCATE)');
          if (Number(end?.busy) !== 0) throw busy;
        });
        return [];
      } catch (error) {
        if (error === busy) return ['in_use'];
        throw this.#told(error);
      }
    });
  }

  /**
   * Closes the file, so that it is whole without a log beside it unless another process has it
   * open.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { file, path, writer, reader } = this.#open;

    // What was asked for before is still done.
    await reader.inTurn(async () => undefined);
    await writer.inTurn(async () => undefined);
    for (const own of this.#streams) own.close();
    this.#streams.clear();
    reader.close();
    if (writer === reader) {
      if (path !== null) await tidyUp(path, file);
      return;
    }

    try {
      writer.set('store.wal_checkpoint(TRUNCATE)');
    } catch {
      // What is still in the log stays there: another process uses the file, or the disk is full.
    }

    writer.close();
  }

  /** A file that is not there any more takes what is written with it. */
  #refuseUnusable(): void {
    if (this.#isClosed)
      throw new StoreError('store_unavailable', 'The store has been closed. Open it again.', {
        kind: 'bug',
      });

    const { file, path, reader } = this.#open;
    if (path === null) return;
    const found = statOf(path);
    let what = found === undefined ? 'removed' : 'replaced by another';
    if (found !== undefined && found.ino === this.#opened?.ino && found.dev === this.#opened.dev) {
      // A database becomes smaller by VACUUM only, after an erasure, and then says so itself.
      const isSmaller = found.size < this.#size;
      this.#size = found.size;
      if (!isSmaller || !isCut(reader, path)) return;
      what = 'cut';
    }

    throw new StoreError(
      'store_damaged',
      `The database file ${file} was ${what} while the store was open. Nothing more is written. Put the file back, or restore a copy, and start again.`,
      { isRetryable: false },
    );
  }

  /**
   * Runs a transaction when those before it on the connection have ended, and again while another
   * process writes.
   */
  async #transaction<T>(
    { session, rollBack, inTurn }: Connection,
    begin: string,
    body: (session: Session) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) this.#refuseUnusable();

    const run = async () => {
      this.#refuseUnusable();
      try {
        await session.run(begin);
        const result = await body(session);
        await session.run('COMMIT');
        return result;
      } catch (error) {
        rollBack();
        throw this.#told(error);
      }
    };

    return inTurn(() => untilFree(this.#open.patienceMs, run));
  }

  readonly #told = (error: unknown) =>
    isOfSqlite(error) ? fromSqlite(error, this.#open.file) : error;
}

/** Whether a file has lost pages that its database has. */
function isCut({ database }: Connection, path: string): boolean {
  const of = (pragma: string) =>
    Number(Object.values(database.prepare(`PRAGMA store.${pragma}`).get() ?? {})[0]);
  return lacksPages(path, of('page_count'), of('page_size'));
}

/** An open connection with its prepared statements. */
interface Connection {
  readonly database: Database;
  readonly session: Session;
  /** Ends the transaction, if there is one. */
  rollBack(): void;
  /** Runs jobs one after the other. One that fails does not stop the next one. */
  readonly inTurn: <T>(job: () => Promise<T>) => Promise<T>;
  /** Runs a PRAGMA. */
  set(pragma: string): void;
  close(): void;
}

/** How a file is opened. One that nobody can change, since its disk is read-only, needs no log. */
type Access = 'write' | 'read' | 'immutable';

/**
 * A file that is attached like this is opened for reading alone, and not made when it is not there.
 */
export const readOnlyUri = (path: string, access: Access = 'read'): string =>
  `${pathToFileURL(resolve(path)).href}?mode=ro${access === 'immutable' ? '&immutable=1' : ''}`;

/**
 * A connection with these settings. Waits while another process keeps it from setting them. The
 * SQLite for Node.js 20 ends a statement only when the garbage collector finds it, and until then
 * keeps the database of the connection open. So that of the connection is one in memory, and the
 * file is attached to it as `store`: it is closed when it is detached, whatever statements there
 * are.
 */
async function connect(
  path: string,
  file: string,
  patienceMs: number,
  pragmas: readonly string[],
  access: Access = 'write',
): Promise<Connection> {
  const { DatabaseSync } = await loadSqlite();
  return untilFree(patienceMs, async () => {
    const database = new DatabaseSync(inMemory);
    const prepared = new Map<string, SqliteStatement>();
    let last: Promise<unknown> = Promise.resolve();
    const connection: Connection = {
      database,
      session: sessionOf(database, prepared),
      rollBack() {
        try {
          if (database.isTransaction) database.exec('ROLLBACK');
        } catch {
          // SQLite has rolled back by itself, as it does when the disk is full. The first error
          // says more.
        }
      },
      inTurn(job) {
        const result = last.then(job, job);
        last = result.catch(() => undefined);
        return result;
      },
      set: (pragma) => void database.prepare(`PRAGMA ${pragma}`).all(),
      close() {
        prepared.clear();

        // A file cannot be detached within a transaction.
        connection.rollBack();
        try {
          database.exec('PRAGMA query_only = OFF');
          database.exec('DETACH store');
        } catch {
          // It was not attached.
        }

        database.close();
      },
    };
    try {
      database
        .prepare('ATTACH ? AS store')
        .run(access === 'write' ? path : readOnlyUri(path, access));
      for (const pragma of pragmas) connection.set(pragma);
    } catch (error) {
      connection.close();
      throw fromSqlite(error, file, access !== 'write');
    }

    return connection;
  });
}

const timeAt = recordColumns.size + 1;
const upsert = `INSERT INTO records (${recordNames}, stored_at, changed_at)
  VALUES (${Array.from(recordColumns, () => '?').join(', ')}, ?${timeAt}, ?${timeAt})
  ${orReplace} WHERE ${differs('IS NOT')}`;

function sessionOf(database: Database, prepared: Map<string, SqliteStatement>): Session {
  const statement = (sql: string): SqliteStatement => {
    let found = prepared.get(sql);
    if (found === undefined) {
      if (prepared.size >= 300) prepared.clear();
      found = database.prepare(sql.replace(/\$(\d+)/g, '?$1'));
      prepared.set(sql, found);
    }

    return found;
  };

  let staged: readonly (readonly Value[])[] = [];
  return {
    all: async (sql, values = []) => statement(sql).all(...values) as Row[],
    run: async (sql, values = []) => Number(statement(sql).run(...values).changes),
    async stage(rows) {
      staged = rows;
    },
    async put(time) {
      let written = 0;
      const put = statement(upsert);
      for (const row of staged) written += Number(put.run(...row, time).changes);
      staged = [];
      return written;
    },
  };
}

/** Does something, and again while another process writes. */
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

/**
 * SQLite makes a log to read a file, which it cannot on a read-only disk: then the file has to be
 * whole without one.
 */
export async function accessTo(path: string, file: string, patienceMs: number): Promise<Access> {
  const read = async (access: Access): Promise<Access> => {
    const connection = await connect(path, file, patienceMs, forReading, access);
    try {
      await connection.session.all('SELECT count(*) FROM store.sqlite_schema');
      return access;
    } catch (error) {
      throw fromSqlite(error, file);
    } finally {
      connection.close();
    }
  };
  try {
    return await read('read');
  } catch (error) {
    if (!(error instanceof StoreError) || !/^(?:not_writable|store_unavailable)$/.test(error.code))
      throw error;
    if ((statOf(`${path}-wal`)?.size ?? 0n) > 0n)
      throw new StoreError(
        'store_unavailable',
        {
          message: `${file} cannot be read where nothing can be written: ${file}-wal has changes that are not in it yet.`,
          hint: 'Copy both files to a disk that can be written to, and open the copy.',
        },
        { cause: error },
      );
    return read('immutable').catch(() => {
      throw error;
    });
  }
}

/**
 * A read-only connection leaves an empty log and its index beside the file. One that may write
 * removes them when it closes.
 */
export async function tidyUp(path: string, file: string): Promise<void> {
  if (statOf(`${path}-wal`)?.size !== 0n) return;
  try {
    accessSync(path, constants.W_OK);
    const last = await connect(path, file, 0, []);
    await last.session.all('SELECT count(*) FROM store.sqlite_schema');
    last.close();
  } catch {
    // It is not ours to write, or in use.
  }
}

/** The path of a file with all links followed. The file itself need not exist. */
export function realPath(file: string): string {
  const path = resolve(file);
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}

const statOf = (path: string): BigIntStats | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false });

import { accessSync, type BigIntStats, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { strangeCompanion } from '@call-attribution/node-stream/files';
import { StoreError } from './errors.ts';
import { type Access, type Connection, connect, inMemory } from './sqlite-connection.ts';
import { fromSqlite } from './sqlite-errors.ts';

/** What tells an open database file from another one under its name. */
interface FileWatch {
  /** Throws when the file was removed, replaced or cut. With `log`, its write-ahead log is looked at, too. */
  check(options?: { readonly log?: boolean }): void;
  /** Notes which log there is. To be called after something was written. */
  noteLog(): void;
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

/** Watches a file. `file` is its name in messages. */
function watchFile(path: string, file: string, connection: Connection): FileWatch {
  const opened = statOf(path);
  let least = opened?.size ?? 0n;
  let log: bigint | undefined;
  return {
    check(options = {}) {
      const found = statOf(path);
      if (found === undefined) throw damaged(file, 'was removed');
      if (found.ino !== opened?.ino || found.dev !== opened.dev)
        throw damaged(file, 'was replaced by another');
      // A database becomes smaller by VACUUM only, after an erasure, and then says so itself.
      if (found.size < least && found.size < sizeOf(connection)) throw damaged(file, 'was cut');
      least = found.size;
      if (options.log && log !== undefined && statOf(`${path}-wal`)?.ino !== log)
        throw damaged(`${file}-wal`, 'was removed or replaced by another');
    },
    noteLog() {
      log ??= statOf(`${path}-wal`)?.ino;
    },
  };
}

/** The size that a database says it has. */
function sizeOf({ database }: Connection): bigint {
  const of = (pragma: string) => Object.values(database.prepare(`PRAGMA store.${pragma}`).get() ?? {})[0];
  return BigInt(of('page_count')) * BigInt(of('page_size'));
}

const damaged = (file: string, what: string): StoreError =>
  new StoreError(
    'store_damaged',
    `The database file ${file} ${what} while the store was open. Nothing more is written. Put the file back, or restore a copy, and start again.`,
    { isRetryable: false },
  );

/** An open database. */
export interface OpenFile {
  readonly writer: Connection;
  readonly reader: Connection;
  readonly writing: Queue;
  readonly reading: Queue;
  /** How further connections open it. */
  readonly access: Access;
  /** Null for a database in memory. */
  readonly watch: FileWatch | null;
}

/** An open file and how many stores use it. */
export interface Shared {
  readonly opened: Promise<OpenFile>;
  stores: number;
  /** Set once the last store has let go of it. */
  closed: Promise<void> | null;
}

const files = new Map<string, Shared>();

/** The open file of a path, which is opened when no store has it. One that is being closed is opened again. */
export async function hold(path: string, open: () => Promise<OpenFile>): Promise<Shared> {
  for (let found = files.get(path); found !== undefined; found = files.get(path)) {
    if (found.closed === null) {
      found.stores += 1;
      return found;
    }
    await found.closed;
  }
  const shared: Shared = { opened: open(), stores: 1, closed: null };
  files.set(path, shared);
  return shared;
}

/** Lets go of an open file, which is closed with the last store that has it. */
export async function letGo(path: string, shared: Shared): Promise<void> {
  shared.stores -= 1;
  if (shared.stores > 0) return;
  shared.closed ??= shared.opened
    .then(closeFile, () => undefined)
    .finally(() => {
      if (files.get(path) === shared) files.delete(path);
    });
  await shared.closed;
}

/** A connection that only reads. */
export const connectReader = (
  path: string,
  file: string,
  patienceMs: number,
  access: Access,
): Promise<Connection> => connect(path, file, patienceMs, ['busy_timeout = 20', 'query_only = ON'], access);

const forWriting = [
  // Waiting in SQLite would stop the whole process, so the wait for another writer happens in untilFree.
  'busy_timeout = 20',
  // For a new file only: a page holds some records, so that few bytes of it are left over.
  'store.page_size = 16384',
  'store.journal_mode = WAL',
  'store.synchronous = normal',
  'store.journal_size_limit = 67108864',
  // What is deleted or replaced is overwritten at once.
  'store.secure_delete = ON',
  'store.cache_size = -65536',
];

/** Opens both connections to a file. */
export async function openFile(path: string, file: string, patienceMs: number): Promise<OpenFile> {
  // SQLite would write into them, wherever they lead.
  const strange = path === inMemory ? null : strangeCompanion(path, ['-wal', '-shm', '-journal']);
  if (strange !== null)
    throw new StoreError(
      'store_url',
      `${strange}, and SQLite would use it. Remove it, or put the database into a folder of your own.`,
    );
  const writer = await connect(path, file, patienceMs, forWriting);
  try {
    const reader = await connectReader(path, file, patienceMs, 'read');
    const queues = { writing: createQueue(), reading: createQueue() };
    return { writer, reader, ...queues, access: 'read', watch: watchFile(path, file, reader) };
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** Opens a file for reading alone. */
export async function openToRead(path: string, file: string, patienceMs: number): Promise<OpenFile> {
  const access = await accessTo(path, file, patienceMs);
  const reader = await connectReader(path, file, patienceMs, access);
  const queue = createQueue();
  return {
    writer: reader,
    reader,
    writing: queue,
    reading: queue,
    access,
    watch: watchFile(path, file, reader),
  };
}

/** SQLite makes a log to read a file, which it cannot on a read-only disk: then the file has to be whole without one. */
async function accessTo(path: string, file: string, patienceMs: number): Promise<Access> {
  const read = async (access: Access): Promise<void> => {
    const connection = await connectReader(path, file, patienceMs, access);
    try {
      await connection.session.all('SELECT count(*) FROM store.sqlite_schema');
    } catch (error) {
      throw fromSqlite(error, file);
    } finally {
      connection.close();
    }
  };
  try {
    await read('read');
    return 'read';
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
    await read('immutable').catch(() => {
      throw error;
    });
    return 'immutable';
  }
}

/** Closes a file that was only read. */
export async function closeReader(path: string, file: string, { reader, reading }: OpenFile): Promise<void> {
  await reading(async () => reader.close());
  await tidyUp(path, file);
}

/** A read-only connection leaves an empty log and its index beside the file. One that may write removes them when it closes. */
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

/** Closes a file, so that it is whole without a log beside it unless another process has it open. */
async function closeFile({ writer, reader, writing, reading }: OpenFile): Promise<void> {
  await reading(async () => reader.close());
  await writing(async () => {
    try {
      writer.set('store.wal_checkpoint(TRUNCATE)');
    } catch {
      // What is still in the log stays there: another process uses the file, or the disk is full.
    }
    writer.close();
  });
}

/** Runs jobs one after the other, in the order of the calls. A job that fails does not stop the next one. */
export type Queue = <T>(job: () => Promise<T>) => Promise<T>;

/** Makes a queue of jobs. */
export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job, job);
    last = result.catch(() => undefined);
    return result;
  };
}

import { closeSync, existsSync, lstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FileLockedError, lockFile, lockOwner } from '@call-attribution/node-stream/files';
import type { DuckDBInstance } from '@duckdb/node-api';
import { WarehouseError } from '../errors.ts';
import { duckdb } from './duckdb.ts';
import { failureOf, inUse } from './failure.ts';
import { checkCompanions, companionsOf, confine, makeStagingFolder, type Reach } from './reach.ts';
import { identityOf, isSuccessor } from './renew.ts';
import { Session } from './session.ts';

/**
 * How a file is opened. `ask`: read-only, for statements that read no other file. `export`: read-only, and alone. `write`: one process
 * at a time. None of them reaches files other than those of its `reach`, extensions or settings.
 */
export type Mode = 'ask' | 'export' | 'write';

/** What DuckDB may use, and how long to wait for another process. */
export interface OpenOptions {
  /** Memory that DuckDB may use, such as `500MB`. */
  readonly memory: string;
  readonly threads: number;
  /** Milliseconds to wait for another process to close the file. */
  readonly wait: number;
  /** Throws when there is no longer the file that was opened first. */
  check?(): void;
  /** Default: the database alone. */
  readonly reach?: Reach | undefined;
}

/** An open file, and what gives it free for other processes that write. */
export interface OpenedFile {
  readonly db: DuckDBInstance;
  readonly unlock: (() => Promise<void>) | null;
}

/** How much of a file DuckDB keeps in memory. */
export async function bytesHeld({ db }: OpenedFile): Promise<number> {
  const connection = await db.connect();
  try {
    const result = await connection.runAndReadAll(
      'SELECT sum(memory_usage_bytes)::DOUBLE FROM duckdb_memory()',
    );
    return Number(result.getRows()[0]?.[0]);
  } finally {
    connection.closeSync();
  }
}

/** What stands for no file. */
const inMemory = ':memory:';

/**
 * A session on an empty database in memory, to read other files with. What does not fit into memory goes next to `path`, as that of
 * its own sessions does: DuckDB would take the current folder.
 */
export async function memorySession(path: string, options: OpenOptions): Promise<Session> {
  checkCompanions(path);
  const instance = await openWithin(inMemory, 'write', options, 0, {
    temp_directory: `${resolve(path)}.tmp`,
  });
  return new Session(await instance.connect(), path, {}, async () => instance.closeSync());
}

const locked = { enable_external_access: 'false', lock_configuration: 'true' };

/** Opens the file. While a process waits to write, others do not open it to read: readers in turn would keep it out for ever. */
export async function openFile(path: string, mode: Mode, options: OpenOptions): Promise<OpenedFile> {
  options.check?.();
  const until = performance.now() + options.wait;
  if (mode === 'write') return openToWrite(path, options, until);
  while ((await isWanted(path)) && performance.now() < until) await delay(10);
  return { db: await openWithin(path, mode, options, until), unlock: null };
}

/** Does a process write, or is about to? */
export const isWanted = async (path: string): Promise<boolean> =>
  (await lockOwner(writerLock(path))) !== null;

/** What changes with everything that is written to a file or put next to it, and with the options that DuckDB opens it with. */
export function stateOf(path: string, { memory, threads }: OpenOptions): string {
  const quiet = { bigint: true, throwIfNoEntry: false } as const;
  try {
    const found = [statSync(path, quiet), ...companionsOf(path).map((each) => lstatSync(each, quiet))];
    const states = found.map((each) => each && `${each.dev} ${each.ino} ${each.size} ${each.ctimeNs}`);
    return [memory, threads, ...states].join(', ');
  } catch (error) {
    throw failureOf(error, path);
  }
}

/** DuckDB opens files of some other kinds, such as JSON, in ways of its own. */
function checkMagic(path: string): void {
  const start = Buffer.alloc(12);
  try {
    const file = openSync(path, 'r');
    readSync(file, start);
    closeSync(file);
  } catch (error) {
    throw failureOf(error, path);
  }
  if (start.toString('latin1', 8) !== 'DUCK') throw failureOf(new Error('not a valid DuckDB database'), path);
}

/** Remembers which file a path names now. The returned function throws when it is another one, or none. */
export function watchFile(path: string): () => void {
  let first = identityOf(path);
  return () => {
    const now = identityOf(path);
    if (now !== null && now !== first && isSuccessor(path, now)) first = now;
    // A part that is missing is found when the file is opened; a file without a byte would be taken for a new one.
    const isEmpty = now !== null && statSync(path).size === 0;
    if (now === first && !isEmpty) return;
    let what = isEmpty ? 'was emptied' : 'was replaced by another file';
    if (now === null) what = 'was removed';
    throw new WarehouseError(
      'damaged',
      `${path} ${what} while it was in use. Nothing more is written. Put the file back, or restore a copy, and start again.`,
    );
  };
}

/** Creates a folder unless it is there. Its parent has to be. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** The file that a process creates to say that it writes, or is about to. No account has a plus in its name. */
const writerLock = (path: string): string => join(`${path}.staged`, '+writer.lock');

async function openToWrite(path: string, options: OpenOptions, until: number): Promise<OpenedFile> {
  const lock = writerLock(path);
  let unlock: (() => Promise<void>) | undefined;
  try {
    await makeStagingFolder(dirname(lock));
    unlock = await within(until, () => lockFile(lock));
    // DuckDB takes a file without a byte for a broken one; nothing is lost with it.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && found.size === 0) rmSync(path);
    return { db: await openWithin(path, 'write', options, until), unlock };
  } catch (error) {
    await unlock?.();
    if (error instanceof FileLockedError) throw inUse(path, error.owner, error);
    throw failureOf(error, path);
  }
}

function openWithin(
  path: string,
  mode: Mode,
  options: OpenOptions,
  until: number,
  special: Readonly<Record<string, string>> = {},
): Promise<DuckDBInstance> {
  const config = {
    access_mode: mode === 'write' ? 'READ_WRITE' : 'READ_ONLY',
    memory_limit: options.memory,
    // Loading with one thread takes the least work, and leaves the other cores to the client that is reading.
    threads: String(mode === 'write' ? 1 : options.threads),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_persistent_secrets: 'false',
    storage_compatibility_version: 'latest',
    max_temp_directory_size: '20GB',
    ...(mode === 'ask' ? locked : {}),
    ...special,
  };
  return within(until, async () => {
    if (path !== inMemory) {
      checkCompanions(path);
      if (existsSync(path)) checkMagic(path);
    }
    try {
      // DuckDB takes some names for something else than a file, `md:calls` for one; a whole path is always a file.
      const db = await duckdb.DuckDBInstance.create(path === inMemory ? path : resolve(path), config);
      if (mode !== 'ask') await confined(db, options.reach);
      return db;
    } catch (error) {
      throw failureOf(error, path);
    }
  });
}

async function confined(db: DuckDBInstance, reach: Reach = {}): Promise<void> {
  try {
    await confine(db, reach);
  } catch (error) {
    db.closeSync();
    throw error;
  }
}

/** Tries again while another process is in the way. */
async function within<T>(until: number, attempt: () => Promise<T>): Promise<T> {
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 200)) {
    try {
      return await attempt();
    } catch (error) {
      const isBusy =
        error instanceof FileLockedError || (error instanceof WarehouseError && error.code === 'in_use');
      if (!isBusy || performance.now() >= until) throw error;
    }
    await delay(pause);
  }
}

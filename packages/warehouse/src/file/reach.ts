import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { makeOwnFolder, strangeCompanion } from '@call-attribution/node-stream/files';
import type { DuckDBInstance } from '@duckdb/node-api';
import { WarehouseError } from '../errors.ts';
import { literal } from '../tables/columns.ts';

/** What DuckDB may read and write besides the database file and those that it makes next to it. Links are resolved by DuckDB. */
export interface Reach {
  /** Folders, with all that is in them. */
  readonly folders?: readonly string[];
  readonly files?: readonly string[];
}

// A constant and not an expression: the list of an expression is made by a function, which a file can define anew.
const paths = (list: readonly string[]): string =>
  literal(`[${list.map((path) => `'${resolve(path).replace(/[\\']/g, '\\$&')}'`).join(', ')}]`);

/**
 * Closes an instance that was just opened: from here on it reaches nothing else, loads no extensions, and no statement changes that.
 * DuckDB takes these lists only after it has opened the file.
 */
export async function confine(db: DuckDBInstance, { folders = [], files = [] }: Reach): Promise<void> {
  const connection = await db.connect();
  try {
    for (const [name, value] of [
      ['allowed_directories', paths(folders)],
      ['allowed_paths', paths(files)],
      ['enable_external_access', "'false'"],
      ['lock_configuration', "'true'"],
    ])
      await connection.run(`SET GLOBAL ${name} = ${value}`);
  } finally {
    connection.closeSync();
  }
}

/** What DuckDB puts next to a database file: its log, and what does not fit into memory. */
const companions = ['.wal', '.wal.checkpoint', '.wal.recovery', '.tmp/'];

/** All that DuckDB would use next to a file. */
export const companionsOf = (path: string): string[] =>
  companions.map((ending) => path + ending.replace('/', ''));

/** Throws when somebody else has put something in a place where DuckDB reads or writes. */
export function checkCompanions(path: string): void {
  const strange = strangeCompanion(path, companions);
  if (strange !== null)
    throw new WarehouseError(
      'not_writable',
      `${strange}, and DuckDB would use it. Remove it, or put the warehouse into a folder of your own.`,
    );
}

/** Makes the folder of staged files, which belongs to this user alone: DuckDB reads what is in it by name. */
export async function makeStagingFolder(folder: string): Promise<void> {
  // Not a recursive one, which never ends where a file system has no place for it.
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const strange = await makeOwnFolder(folder);
  if (strange !== null)
    throw new WarehouseError(
      'not_writable',
      `${folder} ${strange}, so no calls are staged there. Remove it, or put the warehouse into a folder of your own.`,
    );
}

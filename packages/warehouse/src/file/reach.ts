import { lstatSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
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

/** What DuckDB puts next to a database file: its log, and what does not fit into memory. It follows links there. */
const companions = ['.wal', '.wal.checkpoint', '.wal.recovery', '.tmp'];

/** Throws when somebody else has put something in a place where DuckDB writes: neither this user nor the owner of the file. */
export function checkCompanions(path: string): void {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  for (const ending of companions) {
    const companion = `${path}${ending}`;
    const found = lstatSync(companion, { throwIfNoEntry: false });
    const strange = found === undefined ? null : strangeness(found, ending === '.tmp', owner);
    if (strange !== null)
      throw new WarehouseError(
        'not_writable',
        `${companion} ${strange}, and DuckDB would use it. Remove it, or put the warehouse into a folder of your own.`,
      );
  }
}

function strangeness(stats: Stats, isFolder: boolean, owner: number | undefined): string | null {
  if (stats.isSymbolicLink()) return 'is a link to another place';
  if (isFolder ? !stats.isDirectory() : !stats.isFile())
    return isFolder ? 'is not a folder' : 'is not a regular file';
  if (process.geteuid === undefined || stats.uid === process.geteuid() || stats.uid === owner) return null;
  return 'belongs to another user';
}

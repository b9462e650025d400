import { chmodSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { readSmallFile } from '@call-attribution/core/settings';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import type { Session } from './session.ts';

// DuckDB keeps the contents of deleted rows in its blocks, and never overwrites what it does not use. So after an erasure everything is
// written into a new file, which takes the place of the old one.

/** The file that says which file has taken the place of the database. No account has a plus in its name. */
const successorOf = (path: string): string => join(`${path}.staged`, '+file');

/** What tells a file from any other under its name; null when it is not there. */
export function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

/** Did a warehouse put this file in the place of the one that was open? */
export function isSuccessor(path: string, identity: string): boolean {
  try {
    return readSmallFile(successorOf(path)).text === identity;
  } catch {
    return false;
  }
}

/**
 * Writes all that the database has into a new file and puts that in its place. The session is the only one that is open, and has to be
 * closed after this. Returns false where the system does not let an open file be replaced: then the old one stays.
 */
export async function renewFile(session: Session, path: string): Promise<boolean> {
  const place = realpathSync(path);
  const fresh = join(`${path}.staged`, '+fresh.duckdb');
  const remove = (): void => {
    for (const file of [fresh, `${fresh}.wal`]) rmSync(file, { force: true });
  };
  remove();
  try {
    const { name } = await session.one('SELECT current_database() AS name');
    await session.run('CHECKPOINT');
    await session.run(`ATTACH '${fresh.replaceAll("'", "''")}' AS fresh (STORAGE_VERSION 'latest')`);
    await session.run(`COPY FROM DATABASE "${String(name).replaceAll('"', '""')}" TO fresh`);
    await session.run('DETACH fresh');
    const file = await open(fresh, 'r+');
    await file.sync().finally(() => file.close());
    chmodSync(fresh, statSync(place).mode & 0o777);
    await writeWholeFile(successorOf(path), identityOf(fresh) ?? '');
    renameSync(fresh, place);
    return true;
  } catch (error) {
    remove();
    if (
      error instanceof Error &&
      'code' in error &&
      ['EPERM', 'EBUSY', 'EACCES'].includes(String(error.code))
    )
      return false;
    throw error;
  }
}

import type { DatabaseSync } from '@call-attribution/sqlite';
import { needs } from './errors.ts';

/** The SQLite that this process uses: an API as that of `node:sqlite`. */
export interface Sqlite {
  readonly DatabaseSync: typeof DatabaseSync;
  /** What another process loads the same SQLite from: `node:sqlite`, or a file. */
  readonly source: string;
}

/** An open database. */
export type Database = InstanceType<typeof DatabaseSync>;

/** A prepared statement. */
export type SqliteStatement = ReturnType<Database['prepare']>;

export const builtIn = 'node:sqlite';

/**
 * Earlier ones can lose what was committed while one process closes a file or copies its log, and
 * another one writes: https://sqlite.org/wal.html#walresetbug.
 */
const firstSafe = [3, 51, 3];

/** Loads SQLite: the one that is built into this runtime, or else that of our package. */
export async function loadSqlite(): Promise<Sqlite> {
  if (isBuiltIn(process.versions)) {
    // By a name that compilers and bundlers do not look up: Node.js 20 has no such module.
    const { DatabaseSync } = (await import(builtIn)) as Pick<Sqlite, 'DatabaseSync'>;
    return { DatabaseSync, source: builtIn };
  }

  const { DatabaseSync, sqliteFile } = await import('@call-attribution/sqlite').catch(
    needs(
      '@call-attribution/sqlite',
      'A store in SQLite needs Node.js 24.15 or later, or the package @call-attribution/sqlite.',
    ),
  );
  return { DatabaseSync, source: sqliteFile() };
}

/** Is the SQLite of a runtime one that keeps what was committed, and that loads without a warning? */
export function isBuiltIn({ node, sqlite, bun, deno }: NodeJS.ProcessVersions): boolean {
  if (!isAtLeast(sqlite, firstSafe)) return false;
  return bun !== undefined || deno !== undefined || isAtLeast(node, [24, 15]);
}

function isAtLeast(version: string | undefined, least: readonly number[]): boolean {
  const parts = (version ?? '0').split('.').map(Number);
  const at = least.findIndex((part, i) => part !== (parts[i] ?? 0));
  return at === -1 || (parts[at] ?? 0) > (least[at] ?? 0);
}

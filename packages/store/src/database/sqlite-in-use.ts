// A file of its own: declarations of the package must not name @call-attribution/sqlite, which is
// not there on a Node.js that has SQLite built in.
import { builtIn, loadSqlite } from './sqlite-driver.ts';

/**
 * Which SQLite this process uses, in words.
 *
 * @example
 * await sqliteInUse(); // SQLite 3.53.0, of @call-attribution/sqlite
 */
export async function sqliteInUse(): Promise<string> {
  const { DatabaseSync, source } = await loadSqlite();
  const database = new DatabaseSync(':memory:');
  try {
    const { version } = database.prepare('SELECT sqlite_version() AS version').get();
    return `SQLite ${version}, ${source === builtIn ? 'built in' : 'of @call-attribution/sqlite'}`;
  } finally {
    database.close();
  }
}

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import { recordColumns } from '../columns.ts';
import { differs, orReplace, type Row, recordNames, type Session, type Value } from './driver.ts';
import { fromSqlite, isBusy } from './sqlite-errors.ts';

/** The name of a database in memory. */
export const inMemory = ':memory:';

/** An open connection with its prepared statements. */
export interface Connection {
  readonly database: Database.Database;
  readonly session: Session;
  /** Runs a PRAGMA. */
  set(pragma: string): void;
  close(): void;
}

/**
 * A connection with these settings. Waits while another process keeps it from setting them. libsql ends a statement only when the
 * garbage collector finds it, and until then keeps the database of the connection open. So that of the connection is one in memory,
 * and the file is attached to it as `store`: it is closed when it is detached, whatever statements there are.
 */
export function connect(
  path: string,
  file: string,
  patienceMs: number,
  pragmas: readonly string[],
  access: Access = 'write',
): Promise<Connection> {
  return untilFree(patienceMs, async () => {
    const database = new Database(inMemory);
    const prepared = new Map<string, Database.Statement>();
    const connection = {
      database,
      session: sessionOf(database, prepared),
      set: (pragma: string) => void database.prepare(`PRAGMA ${pragma}`).all(),
      close() {
        prepared.clear();
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
      database.prepare('ATTACH ? AS store').run([access === 'write' ? path : readOnlyUri(path, access)]);
      for (const pragma of pragmas) connection.set(pragma);
    } catch (error) {
      connection.close();
      throw fromSqlite(error, file, access !== 'write');
    }
    return connection;
  });
}

/** How a file is opened. One that nobody can change, since its disk is read-only, needs no log. */
export type Access = 'write' | 'read' | 'immutable';

/** A file that is attached like this is opened for reading alone, and not made when it is not there. */
export const readOnlyUri = (path: string, access: Access = 'read'): string =>
  `${pathToFileURL(resolve(path)).href}?mode=ro${access === 'immutable' ? '&immutable=1' : ''}`;

/** Does something, and again while another process writes. */
export async function untilFree<T>(patienceMs: number, attempt: () => Promise<T>): Promise<T> {
  for (let waited = 0, pause = 5; ; waited += pause, pause = Math.min(pause * 2, 50)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || waited >= patienceMs) throw error;
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

function sessionOf(connection: Database.Database, prepared: Map<string, Database.Statement>): Session {
  const statement = (sql: string): Database.Statement => {
    let found = prepared.get(sql);
    if (found === undefined) {
      if (prepared.size >= 300) prepared.clear();
      found = connection.prepare(sql.replace(/\$(\d+)/g, '?$1'));
      prepared.set(sql, found);
    }
    return found;
  };
  let staged: readonly (readonly Value[])[] = [];
  return {
    all: async (sql, values = []) => statement(sql).all(values as Value[]) as Row[],
    run: async (sql, values = []) => statement(sql).run(values as Value[]).changes,
    async stage(rows) {
      staged = rows;
    },
    async put() {
      let written = 0;
      const put = statement(upsert);
      for (const row of staged) written += put.run(row as Value[]).changes;
      staged = [];
      return written;
    },
  };
}

const upsert = `INSERT INTO records (${recordNames}) VALUES (${Array.from(recordColumns, () => '?').join(', ')})
  ${orReplace} WHERE ${differs('IS NOT')}`;

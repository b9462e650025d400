import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { propertyOf } from '@call-attribution/core/errors';
import Database from 'libsql/promise';
import { noStore, StoreError } from './errors.ts';
import { accessTo, inMemory, readOnlyUri, realPath, tidyUp } from './sqlite.ts';
import { fromSqlite } from './sqlite-errors.ts';
import type { SqlColumn, SqlRow, Statement, StatementLimits } from './statement.ts';
import { columnHint, differentNames, onlyReads } from './statement.ts';

/** How long it waits for another process. */
const patienceMs = 5_000;
/** Rows between two looks at what else there is to do. */
const batchRows = 500;

/**
 * A statement over a file that is opened for reading alone. SQLite works in another thread until
 * its rows are in a table of their own, so that it can be ended at any time: the driver fetches
 * rows in this thread.
 */
export function sqliteStatement(
  file: string,
  sql: string,
  { most, name }: StatementLimits,
): Statement {
  const path = realPath(file);
  if (!existsSync(path)) throw noStore(name);
  const database = new Database(inMemory, {});

  // A statement or its rows that are collected as garbage wait for the statement that runs, and
  // this thread with them. They are kept.
  const kept: unknown[] = [];

  const prepare = async (text: string) => {
    const made = await database.prepare(text);
    kept.push(made);
    return made;
  };

  type Made = Awaited<ReturnType<typeof prepare>>;

  const iterate = async (made: Made, values: readonly unknown[] = []) => {
    const rows = (await made.iterate(values)) as unknown as Iterator<unknown>;
    kept.push(rows);
    return rows;
  };

  const all = async (text: string, values: readonly unknown[] = []): Promise<void> => {
    const rows = await iterate(await prepare(text), values);
    while (!rows.next().done);
  };

  /** Opens the file, which has to be a store. */
  const attach = async () => {
    try {
      const access = await accessTo(path, file, patienceMs);
      await all('ATTACH ? AS store', [readOnlyUri(path, access)]);
      await all(`PRAGMA busy_timeout = ${patienceMs}`);
      // The rows of a large answer lie in a file without a name and not in memory.
      await all('PRAGMA temp_store = FILE');
    } catch (error) {
      throw fromSqlite(error, file);
    }
    try {
      await all('SELECT layout FROM meta WHERE id = 1');
    } catch (error) {
      const known = fromSqlite(error, file);
      throw known.code === 'store_failed' ? noStore(name) : known;
    }
  };

  const run = async () => {
    // Mistakes are told in terms of what was typed.
    let found = await prepare(sql);
    const isPlan = /^\W*explain\b/i.test(sql);
    if (!isPlan) {
      const limit = Number.isFinite(most) ? `LIMIT ${most}` : '';
      const filling = await prepare(
        `CREATE TEMP TABLE answer AS SELECT * FROM (\n${sql}\n) ${limit}`,
      ).catch((error: unknown) => {
        throw onlyReads(error);
      });
      (await iterate(filling)).next();
      found = await prepare('SELECT * FROM temp.answer');
    }

    found.safeIntegers(true);
    const names = (found.columns() as readonly { readonly name: string }[]).map(
      (column) => column.name,
    );
    const own = differentNames(names);
    let columns = own.map((column): SqlColumn => ({ name: column, type: 'string' }));
    if (!isPlan && names.length > 0) {
      // SQLite has types of values, and none of columns: a column has the type that all its values
      // have.
      const quoted = names.map((column) => `"${column.replaceAll('"', '""')}"`);
      const types = await prepare(
        `SELECT ${quoted.map((column) => `group_concat(DISTINCT typeof(${column}))`).join(', ')} FROM temp.answer`,
      );
      types.raw(true);
      const row = (await iterate(types)).next().value as readonly unknown[];
      columns = own.map((column, i) => ({ name: column, type: typeOf(String(row[i] ?? '')) }));
    }

    found.raw(true);
    const rows = await iterate(found);
    return {
      columns,
      async next() {
        await nextTurn();
        const some: SqlRow[] = [];
        for (let one = rows.next(); !one.done; one = rows.next()) {
          const values = one.value as readonly unknown[];
          some.push(Object.fromEntries(own.map((column, i) => [column, plainValue(values[i])])));
          if (some.length === batchRows) break;
        }

        return some;
      },
    };
  };

  let isClosed = false;
  let stopping: NodeJS.Timeout | undefined;
  return {
    async open() {
      await attach();
      try {
        return await run();
      } catch (error) {
        throw error instanceof StoreError ? error : sqlError(error, file);
      }
    },
    interrupt() {
      // Between two statements there is nothing to interrupt, and the next one follows.
      stopping ??= setInterval(() => database.interrupt(), 20);
      database.interrupt();
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(stopping);

      // What still runs would keep the file open.
      await database.exec('DROP TABLE IF EXISTS temp.answer').catch(() => undefined);
      await database.exec('DETACH store').catch(() => undefined);
      database.close();
      kept.length = 0;
      await tidyUp(path, file);
    },
  };
}

function typeOf(found: string): SqlColumn['type'] {
  const kinds = found.split(',').filter((kind) => kind !== 'null' && kind !== '');
  if (kinds.length === 0 || kinds.some((kind) => kind !== 'integer' && kind !== 'real'))
    return 'string';
  return kinds.includes('real') ? 'decimal' : 'integer';
}

function plainValue(value: unknown): SqlRow[string] {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }

  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof ArrayBuffer || value instanceof Uint8Array)
    return `\\x${Buffer.from(value as Uint8Array).toString('hex')}`;
  return value === null || value === undefined ? null : String(value);
}

/**
 * What SQLite says about a statement that somebody typed: it names parts of the statement, and no
 * values.
 */
function sqlError(cause: unknown, file: string): StoreError {
  const code = String(propertyOf(cause, 'code') ?? '');
  if (code !== 'SQLITE_ERROR') return fromSqlite(cause, file);
  const message = String(propertyOf(cause, 'message') ?? '').split('\n')[0] ?? '';
  const [, unknown] = /^no such column: "?(?:\w+\.)?(\w+)/.exec(message) ?? [];
  return new StoreError(
    'invalid_sql',
    {
      message: `The SQL has a mistake: ${unknown ? `there is no column ${unknown}` : message}.`,
      hint: columnHint(unknown),
    },
    { cause },
  );
}

import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { differs, orReplace, recordNames, type Session, type Value } from './driver.ts';
import { fromPostgres } from './postgres-errors.ts';

/** Statements on a connection. One that takes longer than the limit fails, even when the server is frozen. */
export function sessionOf(client: pg.PoolClient, limitMs: number): Session {
  const query = async (sql: string, values?: readonly Value[]): Promise<pg.QueryResult> => {
    try {
      const result: pg.QueryResult | pg.QueryResult[] = await client.query({
        text: sql,
        ...(values === undefined || values.length === 0 ? {} : { values: values as Value[] }),
        ...(limitMs === 0 ? {} : { query_timeout: limitMs }),
      });
      // Several statements in one string have several results; only the opening of a transaction does that.
      return Array.isArray(result) ? (result.find(({ rows }) => rows.length > 0) ?? result[0]) : result;
    } catch (cause) {
      throw fromPostgres(cause);
    }
  };
  return {
    all: async (sql, values) => (await query(sql, values)).rows,
    run: async (sql, values) => (await query(sql, values)).rowCount ?? 0,
    async stage(rows) {
      await query(
        'CREATE TEMP TABLE IF NOT EXISTS incoming (LIKE records INCLUDING DEFAULTS) ON COMMIT DELETE ROWS; DELETE FROM incoming',
      );
      const signal = limitMs === 0 ? undefined : AbortSignal.timeout(limitMs);
      const copy = client.query(copyFrom(`COPY incoming (${recordNames}) FROM STDIN`));
      try {
        await pipeline(lines(rows), copy, { signal });
      } catch (cause) {
        throw fromPostgres(signal?.aborted ? new Error('Query read timeout') : cause);
      }
    },
    put: async () => {
      const sql = `INSERT INTO records (${recordNames}) SELECT ${recordNames} FROM incoming ${orReplace} WHERE ${differs('IS DISTINCT FROM')}`;
      return (await query(sql)).rowCount ?? 0;
    },
  };
}

/** Characters of a piece of rows. */
const pieceChars = 65_536;

/** Rows in the text format of COPY. Each piece is made when it is asked for, so that it is sent while others are made. */
function* lines(rows: readonly (readonly Value[])[]): Generator<string> {
  let text = '';
  for (const row of rows) {
    let mark = '';
    for (const value of row) {
      text += mark + cell(value);
      mark = '\t';
    }
    text += '\n';
    if (text.length < pieceChars) continue;
    yield text;
    text = '';
  }
  yield text;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A value in the text format of COPY. */
function cell(value: Value): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  return /[\\\t\n\r]/.test(text)
    ? text.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? '')
    : text;
}

/** Runs a statement that may fail, as when the connection has ended. */
export async function isDone(session: Session, sql: string): Promise<boolean> {
  return session.all(sql).then(
    () => true,
    () => false,
  );
}

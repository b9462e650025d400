import type pg from 'pg';
import type { Session, Value } from './driver.ts';
import { copyRows } from './postgres-copy.ts';
import { fromPostgres } from './postgres-errors.ts';

/** One statement carries at most this many rows, well under the protocol's 65,535 parameters. */
const rowsAtOnce = 500;
/** From this many rows on COPY is cheaper than INSERT. */
const worthCopying = 10;

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
    async many(insert, rows) {
      if (insert.otherwise === undefined && rows.length >= worthCopying) {
        await copyRows(client, insert, rows, limitMs).catch((cause: unknown) => {
          throw fromPostgres(cause);
        });
        return rows.length;
      }
      let touched = 0;
      for (let at = 0; at < rows.length; at += rowsAtOnce) {
        const values: Value[] = [];
        // Numbers are written out and equal strings of a column are sent once: parameters cost more than the rest of such an insert.
        const marks = insert.columns.map(() => new Map<Value, string>());
        const mark = (value: Value, column: number): string => {
          if (typeof value === 'number') return String(value);
          if (value === null) return 'NULL';
          const known = marks[column]?.get(value) ?? `$${values.push(value)}`;
          marks[column]?.set(value, known);
          return known;
        };
        const list = rows.slice(at, at + rowsAtOnce).map((row) => `(${row.map(mark).join(',')})`);
        const { rowCount } = await query(
          `INSERT INTO ${insert.into} (${insert.columns.join(', ')}) VALUES ${list.join(',')} ${insert.otherwise ?? ''}`,
          values,
        );
        touched += rowCount ?? 0;
      }
      return touched;
    },
  };
}

/** Runs a statement that may fail, as when the connection has ended. */
export async function isDone(session: Session, sql: string): Promise<boolean> {
  return session.all(sql).then(
    () => true,
    () => false,
  );
}

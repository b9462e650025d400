import type pg from 'pg';
import type { Insert, Session, Value } from './driver.ts';
import { copyRows } from './postgres-copy.ts';
import { fromPostgres } from './postgres-errors.ts';

/** From this many rows on COPY, or lists, are cheaper than values. */
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
    async many(insert, rows, valuesOf) {
      if (rows.length === 0) return 0;
      if (insert.otherwise === undefined && rows.length >= worthCopying) {
        await copyRows(client, insert, rows, { valuesOf, limitMs }).catch((cause: unknown) => {
          throw fromPostgres(cause);
        });
        return rows.length;
      }
      const cells = rows.map(valuesOf);
      const { from, values } = rows.length < worthCopying ? oneByOne(cells) : inLists(insert, cells);
      const { rowCount } = await query(
        `INSERT INTO ${insert.into} (${insert.columns.join(', ')}) ${from} ${insert.otherwise ?? ''}`,
        values,
      );
      return rowCount ?? 0;
    },
  };
}

/** What rows are inserted from, and its parameters. */
interface Source {
  readonly from: string;
  readonly values: readonly Value[];
}

/** A few rows. */
function oneByOne(rows: readonly (readonly Value[])[]): Source {
  const values: Value[] = [];
  const list = rows.map((row) => `(${row.map((value) => `$${values.push(value)}`).join(', ')})`);
  return { from: `VALUES ${list.join(', ')}`, values };
}

/** Many rows, a list for each column: to read a statement with a value for each cell costs the server as much as to run it. */
function inLists({ columns }: Insert, rows: readonly (readonly Value[])[]): Source {
  const lists = columns.map((_, column) => {
    const cells = rows.map((row) => row[column] ?? null);
    return cells.every(Number.isSafeInteger)
      ? { type: 'bigint[]', value: `{${cells.join(',')}}` }
      : { type: 'text[]', value: cells.map((cell) => (cell === null ? null : String(cell))) };
  });
  return {
    from: `SELECT * FROM unnest(${lists.map(({ type }, i) => `$${i + 1}::${type}`).join(', ')})`,
    values: lists.map(({ value }) => value),
  };
}

/** Runs a statement that may fail, as when the connection has ended. */
export async function isDone(session: Session, sql: string): Promise<boolean> {
  return session.all(sql).then(
    () => true,
    () => false,
  );
}

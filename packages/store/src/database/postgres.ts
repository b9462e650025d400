import pg from 'pg';
import type { Dialect, Driver, Insert, Session, Value } from './driver.ts';
import { StoreError } from './errors.ts';

/** How a store connects to PostgreSQL. */
export interface PostgresOptions {
  /** Most connections of this process. Default 10. */
  poolSize?: number;
  /** How long to wait for a connection, in milliseconds. Default 10,000. */
  connectTimeoutMs?: number;
}

const dialect: Dialect = {
  json: 'text',
  key: 'text COLLATE "C"',
  clustered: '',
  isIn: (column, placeholder) => `${column} = ANY(${placeholder})`,
  listAsTable: (placeholder) => `unnest(${placeholder}::text[]) AS list(value)`,
  list: (values) => values,
  jsonValue: (json) => json,
  lock: 'FOR UPDATE',
  sizeQuery: 'SELECT pg_database_size(current_database()) AS bytes',
};

/** One statement carries at most this many rows, well under the protocol's 65,535 parameters. */
const rowsAtOnce = 500;
/** Serialization failure and deadlock: the transaction has to be run again. */
const runAgain = new Set(['40001', '40P01']);
const attempts = 6;
const integerTypes = new Set([20, 1700]);

/** Opens a pool on a PostgreSQL (or one that speaks its protocol). The first statement connects. */
export function openPostgres(url: string, options: PostgresOptions = {}): Driver {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    application_name: 'call-attribution-store',
    // Counts come as bigint or numeric; ours stay far below 2^53.
    types: {
      getTypeParser: ((oid: number, format: 'text') =>
        integerTypes.has(oid)
          ? Number
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  });
  // A connection that breaks fails its query, if there is one, and is replaced. Without listeners, whether it is idle or in
  // use, it would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  const snapshot = async <T>(body: (session: Session) => Promise<T>): Promise<T> => {
    const client = await connected(() => pool.connect());
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return await body(sessionOf(client));
    } finally {
      // Nothing was written, so there is no need to wait for the end.
      client.query('COMMIT').then(
        () => client.release(),
        () => client.release(true),
      );
    }
  };

  const transaction = async <T>(body: (session: Session) => Promise<T>): Promise<T> => {
    const client = await connected(() => pool.connect());
    let broken = false;
    try {
      await client.query('BEGIN');
      const result = await body(sessionOf(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {
        broken = true;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  };

  return {
    dialect,
    ...sessionOf(pool),
    read: snapshot,
    async write(body) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await transaction(body);
        } catch (error) {
          if (attempt >= attempts || !runAgain.has(String((error as { code?: unknown }).code))) throw error;
          await new Promise((done) => setTimeout(done, 10 * 2 ** attempt));
        }
      }
    },
    close: () => pool.end(),
  };
}

async function connected<T>(job: () => Promise<T>): Promise<T> {
  try {
    return await job();
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code ?? '');
    const message = cause instanceof Error ? cause.message : '';
    // A code of five characters comes from a running server, except those of class 57P: it is shutting down.
    const isRunning = /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P') && !/^E[A-Z]{4}$/.test(code);
    if (isRunning) throw cause;
    throw new StoreError(
      'store_unavailable',
      `The PostgreSQL server of the store does not respond (${code || message}). Check that it is running, and that host, port, user and database are correct.`,
      { cause, retryable: true },
    );
  }
}

function sessionOf(client: Pick<pg.Pool | pg.PoolClient, 'query'>): Session {
  const query = (sql: string, values: readonly Value[] = []) =>
    connected(() => client.query(sql, values as Value[]));
  return {
    all: async (sql, values) => (await query(sql, values)).rows,
    run: async (sql, values) => (await query(sql, values)).rowCount ?? 0,
    async many(insert: Insert, rows) {
      const width = rows[0]?.length ?? 0;
      let touched = 0;
      for (let at = 0; at < rows.length; at += rowsAtOnce) {
        const part = rows.slice(at, at + rowsAtOnce);
        const marks = part.map(
          (_, row) =>
            `(${Array.from({ length: width }, (_, column) => `$${row * width + column + 1}`).join(',')})`,
        );
        const { rowCount } = await query(
          `${insert.into} VALUES ${marks.join(',')} ${insert.otherwise ?? ''}`,
          part.flat() as Value[],
        );
        touched += rowCount ?? 0;
      }
      return touched;
    },
  };
}

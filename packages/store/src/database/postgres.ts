import pg from 'pg';
import type { Dialect, Driver, Session, Value, WorkOptions } from './driver.ts';
import { StoreError } from './errors.ts';
import { copyRows } from './postgres-copy.ts';
import { fromPostgres, hasResponded, isUsableAfter, remedyOf } from './postgres-errors.ts';

/** How a PostgreSQL store uses its server. */
export interface PostgresOptions {
  /** Most connections of this process. Default 10. */
  poolSize?: number | undefined;
  /** How long to wait for a connection, in milliseconds. Default 10,000. */
  connectTimeoutMs?: number | undefined;
  /** How long a statement may run, in milliseconds. 0: no limit. Default 30,000. */
  statementTimeoutMs?: number | undefined;
  /** The same for a statement of `check`, `rebuild` and a change of the tables by a new release. Default 3,600,000. */
  slowStatementTimeoutMs?: number | undefined;
  /**
   * After how many milliseconds the server ends a transaction in which this process no longer does anything, as when it was
   * stopped. Until then such a process keeps others from writing to the account. 0: never. Default 15,000.
   */
  idleTransactionTimeoutMs?: number | undefined;
  /** How long to try again after a connection was lost or refused, in milliseconds. Default 5,000. */
  reconnectMs?: number | undefined;
}

const dialect: Dialect = {
  key: 'text COLLATE "C"',
  clustered: '',
  isIn: (column, placeholder) => `${column} = ANY(${placeholder})`,
  listAsTable: (placeholder) => `unnest(${placeholder}::text[]) AS list(value)`,
  list: (values) => values,
  lock: 'FOR UPDATE',
  sizeQuery: 'SELECT pg_database_size(current_database()) AS bytes',
};

/** One statement carries at most this many rows, well under the protocol's 65,535 parameters. */
const rowsAtOnce = 500;
/** From this many rows on COPY is cheaper than INSERT. */
const worthCopying = 10;
/** Times that a transaction is run when others get in its way. */
const attempts = 8;
const integerTypes = new Set([20, 1700]);

/** Opens a pool on a PostgreSQL (or one that speaks its protocol). The first statement connects. */
export function openPostgres(
  url: string,
  options: PostgresOptions & { busyTimeoutMs?: number | undefined } = {},
): Driver {
  const {
    poolSize = 10,
    statementTimeoutMs = 30_000,
    slowStatementTimeoutMs = 3_600_000,
    idleTransactionTimeoutMs = 15_000,
    reconnectMs = 5_000,
  } = options;
  // The server ends a statement itself. Only when it does not respond at all, this process has to.
  const limitOf = (timeoutMs: number): number => timeoutMs + Math.min(timeoutMs, 5_000);
  const limitMs = limitOf(statementTimeoutMs);
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    statement_timeout: statementTimeoutMs,
    lock_timeout: options.busyTimeoutMs ?? 30_000,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    keepAlive: true,
    application_name: 'call-attribution-store',
    // Counts come as bigint or numeric; ours stay far below 2^53.
    types: {
      getTypeParser: ((oid: number, format: 'text') =>
        integerTypes.has(oid)
          ? Number
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  });
  // A connection can break at any time, also while it is in use. Without a listener that would end the process; the
  // statement in progress, or the next one, fails with the same error.
  pool.on('error', () => undefined);
  let hasConnected = false;
  pool.on('connect', (client) => {
    hasConnected = true;
    client.on('error', () => undefined);
  });

  const connect = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect();
    } catch (cause) {
      throw fromPostgres(cause);
    }
  };

  /**
   * Ends transactions that keep this one waiting while their own process is silent. The server does that by itself, except when
   * a process was stopped in the middle of a statement, such as a COPY: that it would wait for without a limit.
   */
  const endSilent = (waiting: number): NodeJS.Timeout | undefined => {
    if (idleTransactionTimeoutMs === 0) return undefined;
    const look = () => driver.all(silentOnes, [waiting, idleTransactionTimeoutMs]);
    // When looking fails, the statement that waits says what is wrong.
    return setInterval(() => look().catch(() => []), idleTransactionTimeoutMs / 3).unref();
  };

  /** A transaction that was run once. `settle` finds out what became of it when the connection breaks during COMMIT. */
  const transaction = async <T>(
    begin: string,
    body: (session: Session) => Promise<T>,
    { isSlow = false }: WorkOptions,
    settle?: (id: number, error: unknown) => Promise<void>,
  ): Promise<T> => {
    const client = await connect();
    const atOnce = sessionOf(client, limitMs);
    const session = isSlow ? sessionOf(client, limitOf(slowStatementTimeoutMs)) : atOnce;
    let id: number | undefined;
    let result: T;
    let watch: NodeJS.Timeout | undefined;
    try {
      const [row] = await atOnce.all(
        isSlow ? `${begin}; SET LOCAL statement_timeout = ${slowStatementTimeoutMs}` : begin,
      );
      if (row !== undefined) {
        id = Number(row.id);
        watch = endSilent(Number(row.pid));
      }
      result = await body(session);
    } catch (error) {
      clearInterval(watch);
      client.release(!(isUsableAfter(error) && (await isDone(sessionOf(client, 5_000), 'ROLLBACK'))));
      throw error;
    }
    clearInterval(watch);
    const end = atOnce.all('COMMIT').then(() => client.release());
    if (settle === undefined) {
      // Nothing was written, so there is no need to wait for the end.
      end.catch(() => client.release(true));
      return result;
    }
    try {
      await end;
    } catch (error) {
      const isUsable = isUsableAfter(error) && (await isDone(sessionOf(client, 5_000), 'ROLLBACK'));
      client.release(!isUsable);
      if (isUsable || id === undefined) throw error;
      await settle(id, error);
    }
    return result;
  };

  /** Runs a job again when that helps, until it succeeds or the patience for the error is used up. */
  const patiently = async <T>(job: () => Promise<T>): Promise<T> => {
    // Counted from the first failure: a process that was stopped for long still finds out what happened meanwhile.
    let failedAt: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await job();
      } catch (error) {
        failedAt ??= performance.now();
        const remedy = remedyOf(error);
        const isOver =
          remedy === 'again'
            ? attempt >= attempts
            : // A server that never responded is more likely a wrong address than a restart.
              !((hasConnected || hasResponded(error)) && performance.now() - failedAt < reconnectMs);
        if (remedy === null || isOver) throw error;
        await pause(Math.min(10 * 2 ** attempt, 500));
      }
    }
  };

  /** Returns when the transaction was committed. Throws the error when it was not, so that it is run again. */
  const settle = async (id: number, error: unknown): Promise<void> => {
    const patienceMs = idleTransactionTimeoutMs + reconnectMs + 5_000;
    for (const start = performance.now(); performance.now() - start < patienceMs; await pause(100)) {
      const status = await driver.all('SELECT txid_status($1) AS status', [id]).catch(() => []);
      if (status[0]?.status === 'committed') return;
      if (status[0]?.status === 'aborted') throw error;
    }
    throw new StoreError(
      'store_unavailable',
      'The connection to the PostgreSQL server was lost while a transaction was being committed, so it is unknown whether it was. Every write of a store can be repeated: try again.',
      { cause: error, isRetryable: true },
    );
  };

  const driver: Driver = {
    dialect,
    readsAtOnce: poolSize,
    all: (sql, values) =>
      patiently(async () => {
        const client = await connect();
        try {
          const rows = await sessionOf(client, limitMs).all(sql, values);
          client.release();
          return rows;
        } catch (error) {
          client.release(!isUsableAfter(error));
          throw error;
        }
      }),
    read: (body, work = {}) =>
      patiently(() => transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', body, work)),
    // The number of the transaction is what tells later whether it was committed.
    write: (body, work = {}) =>
      patiently(() =>
        transaction('BEGIN; SELECT txid_current() AS id, pg_backend_pid() AS pid', body, work, settle),
      ),
    close: () => pool.end(),
  };
  return driver;
}

/** Ends the transactions that keep another one waiting, and whose processes have said nothing for so many milliseconds. */
const silentOnes = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids($1))
  AND wait_event_type = 'Client' AND state_change < clock_timestamp() - $2 * interval '1 millisecond'`;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms * (0.5 + Math.random() / 2)));

async function isDone(session: Session, sql: string): Promise<boolean> {
  return session.all(sql).then(
    () => true,
    () => false,
  );
}

/** Statements on a connection. One that takes longer than the limit fails, even when the server is frozen. */
function sessionOf(client: pg.PoolClient, limitMs: number): Session {
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
        const marks = new Map<Value, string>();
        // Numbers are written out and equal strings are sent once: parameters cost more than the rest of such an insert.
        // Bytes are sent as they are, which is how the protocol takes a string in binary form.
        const mark = (value: Value): string => {
          if (typeof value === 'number') return String(value);
          const known = marks.get(value) ?? `$${values.push(value)}`;
          marks.set(value, known);
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

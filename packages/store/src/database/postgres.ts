import type { Erasure } from '@call-attribution/node-stream/copies';
import pg from 'pg';
import { type StoreSettings, usualSettings } from '../options.ts';
import type { Dialect, Driver, Row, Session, Value } from './driver.ts';
import { fromPostgres, hasResponded, isUsableAfter, remedyOf } from './postgres-errors.ts';
import { isDone, sessionOf } from './postgres-session.ts';

const dialect: Dialect = {
  key: 'text COLLATE "C"',
  schema: '',
  isIn: (column, placeholder) => `${column} = ANY(${placeholder})`,
  // Without OFFSET, a server that has not analyzed the table yet reads all calls of the account.
  lookUp: (columns) => `SELECT found.* FROM unnest($2::text[]) AS list(value) CROSS JOIN LATERAL
      (SELECT ${columns} FROM records WHERE account = $1 AND sid = list.value OFFSET 0) AS found`,
  list: (values) => values,
  jsonOf: (column) => `json_agg(${column})::text`,
  text: (column, tenths = false) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS${tenths ? '.FF1' : ''}')`,
  hasComments: true,
  lock: 'FOR UPDATE',
  now: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
  sizeQuery: 'SELECT pg_database_size(current_database()) AS bytes',
  columnsQuery: (tables) =>
    `SELECT relation.name AS table_name, attname AS name, format_type(atttypid, atttypmod) AS type
       FROM unnest(ARRAY[${tables.map((name) => `'${name}'`).join(', ')}]) AS relation(name)
       JOIN pg_attribute ON attrelid = to_regclass(relation.name) AND attnum > 0 AND NOT attisdropped`,
};

/** Times that a transaction is run when others get in its way. */
const attempts = 8;
const integerTypes = new Set([20, 1700]);

/** Opens a pool on a PostgreSQL (or one that speaks its protocol). The first statement connects. */
export function openPostgres(url: string, settings: StoreSettings = usualSettings): Driver {
  const pool = new pg.Pool({
    connectionString: url,
    max: settings.poolSize,
    connectionTimeoutMillis: settings.connectTimeout,
    statement_timeout: settings.statementTimeout,
    lock_timeout: settings.busyTimeout,
    idle_in_transaction_session_timeout: settings.idleTransactionTimeout,
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
  return new PostgresDriver(pool, settings);
}

/** The server ends a statement itself. Only when it does not respond at all, this process has to. */
const limitOf = (timeoutMs: number): number => timeoutMs + Math.min(timeoutMs, 5_000);

const snapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

class PostgresDriver implements Driver {
  readonly dialect = dialect;
  /** A transaction costs a dozen round trips. */
  readonly writesAtOnce = 5_000;
  readonly #pool: pg.Pool;
  readonly #settings: StoreSettings;
  #hasConnected = false;

  constructor(pool: pg.Pool, settings: StoreSettings) {
    this.#pool = pool;
    this.#settings = settings;
    // A connection can break at any time, also while it is in use. Without a listener that would end the process; the
    // statement in progress, or the next one, fails with the same error.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      this.#hasConnected = true;
      client.on('error', () => undefined);
    });
  }

  all(sql: string, values?: readonly Value[]): Promise<Row[]> {
    return this.#patiently(async () => {
      const client = await this.#connect();
      try {
        const rows = await sessionOf(client, limitOf(this.#settings.statementTimeout)).all(sql, values);
        client.release();
        return rows;
      } catch (error) {
        client.release(!isUsableAfter(error));
        throw error;
      }
    });
  }

  read<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#patiently(() => this.#transaction(body, snapshot));
  }

  async *stream<T>(body: (session: Session) => AsyncGenerator<T>): AsyncGenerator<T> {
    const { client, session } = await this.#patiently(async () => {
      const client = await this.#connect();
      const session = sessionOf(client, limitOf(this.#settings.statementTimeout));
      try {
        // It holds no locks, so whoever takes the rows may take their time.
        await session.all(`${snapshot}; SET LOCAL idle_in_transaction_session_timeout = 0`);
        return { client, session };
      } catch (error) {
        client.release(!isUsableAfter(error));
        throw error;
      }
    });
    try {
      yield* body(session);
    } finally {
      client.release(!(await isDone(session, 'ROLLBACK')));
    }
  }

  write<T>(body: (session: Session) => Promise<T>): Promise<T> {
    const begin = this.#settings.readOnly ? 'BEGIN READ ONLY' : 'BEGIN';
    return this.#patiently(() => this.#transaction(body, begin));
  }

  /** Only VACUUM FULL writes the tables without their dead rows, and it keeps everybody else out for as long as it takes. */
  scrub(): Promise<Erasure['remains']> {
    return Promise.resolve(['vacuum']);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (cause) {
      throw fromPostgres(cause);
    }
  }

  /** Runs a transaction once. One whose end is not known, since the connection broke, is run again: every write can be repeated. */
  async #transaction<T>(body: (session: Session) => Promise<T>, begin: string): Promise<T> {
    const client = await this.#connect();
    const session = sessionOf(client, limitOf(this.#settings.statementTimeout));
    try {
      await session.all(begin);
      const result = await body(session);
      await session.all('COMMIT');
      client.release();
      return result;
    } catch (error) {
      client.release(!(await rolledBack(client, error)));
      throw error;
    }
  }

  /** Runs a job again when that helps, until it succeeds or the patience for the error is used up. */
  async #patiently<T>(job: () => Promise<T>): Promise<T> {
    // Counted from the first failure: a process that was stopped for long still finds out what happened meanwhile.
    let failedAt: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await job();
      } catch (error) {
        failedAt ??= performance.now();
        const remedy = remedyOf(error);
        // A server that never responded is more likely a wrong address than a restart.
        const mayBeBack = this.#hasConnected || hasResponded(error);
        const isOver =
          remedy === 'again'
            ? attempt >= attempts
            : !(mayBeBack && performance.now() - failedAt < this.#settings.reconnectTimeout);
        if (remedy === null || isOver) throw error;
        await pause(Math.min(10 * 2 ** attempt, 500));
      }
    }
  }
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms * (0.5 + Math.random() / 2)));

/** Ends a transaction after an error. False when its connection cannot be used any more. */
const rolledBack = async (client: pg.PoolClient, error: unknown): Promise<boolean> =>
  isUsableAfter(error) && (await isDone(sessionOf(client, 5_000), 'ROLLBACK'));

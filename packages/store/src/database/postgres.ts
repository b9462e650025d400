import type { Erasure } from '@call-attribution/node-stream/copies';
import pg from 'pg';
import { type StoreSettings, usualSettings } from '../options.ts';
import type { Dialect, Driver, Row, Session, Value, WorkOptions } from './driver.ts';
import { StoreError } from './errors.ts';
import { fromPostgres, hasResponded, isUsableAfter, remedyOf } from './postgres-errors.ts';
import { isDone, sessionOf } from './postgres-session.ts';

// The place of a row: its page, and its number there. The largest pages have room for 1,169 rows.
const rowId = '((ctid::text::point)[0]::bigint << 11) + (ctid::text::point)[1]::bigint';

const dialect: Dialect = {
  key: 'text COLLATE "C"',
  schema: '',
  clustered: '',
  isIn: (column, placeholder) => `${column} = ANY(${placeholder})`,
  // Without OFFSET, a server that has not analyzed the table yet reads all calls of the account.
  lookUp: (columns) => `SELECT found.* FROM unnest($2::text[]) AS list(value) CROSS JOIN LATERAL
      (SELECT ${columns} FROM records WHERE account = $1 AND sid = list.value OFFSET 0) AS found`,
  list: (values) => values,
  rowId,
  jsonOf: (column) => `json_agg(${column})::text`,
  firstCalls: (callers) => `SELECT max(caller) AS last, count(*) AS callers,
      (json_agg(id) FILTER (WHERE first >= $3::bigint AND first < $4::bigint AND caller ~ '^[0-9]{1,18}$'))::text AS ids
    FROM (SELECT caller, id, first FROM (SELECT DISTINCT ON (caller) caller,
        ${rowId} AS id,
        CASE WHEN at > $5::bigint THEN at ELSE $6::bigint END AS first
      FROM records WHERE account = $1 AND caller > $2 ORDER BY caller, at = $5::bigint, at, sid) each_caller
      ORDER BY caller LIMIT ${callers}) taken`,
  // An entry of an index has room for a third of a page, and addresses can be longer.
  pageColumns: '',
  hasComments: true,
  lock: 'FOR UPDATE',
  now: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
  sizeQuery: 'SELECT pg_database_size(current_database()) AS bytes',
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

/** What a transaction needs besides its body. */
interface Transaction extends WorkOptions {
  readonly begin: string;
  /** Finds out what became of it when the connection breaks during COMMIT. Without it nothing was written. */
  readonly settle?: (id: number, error: unknown) => Promise<void>;
}

class PostgresDriver implements Driver {
  readonly dialect = dialect;
  readonly readsAtOnce: number;
  /** A transaction costs a dozen round trips. */
  readonly loadsAtOnce = 5_000;
  readonly #pool: pg.Pool;
  readonly #settings: StoreSettings;
  #hasConnected = false;

  constructor(pool: pg.Pool, settings: StoreSettings) {
    this.#pool = pool;
    this.#settings = settings;
    this.readsAtOnce = settings.poolSize;
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

  read<T>(body: (session: Session) => Promise<T>, work: WorkOptions = {}): Promise<T> {
    const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
    return this.#patiently(() => this.#transaction(body, { ...work, begin }));
  }

  write<T>(body: (session: Session) => Promise<T>, work: WorkOptions = {}): Promise<T> {
    // The number of the transaction is what tells later whether it was committed.
    const begin = `BEGIN${this.#settings.readOnly ? ' READ ONLY' : ''}; SELECT txid_current() AS id, pg_backend_pid() AS pid`;
    const settle = (id: number, error: unknown) => this.#settle(id, error);
    return this.#patiently(() => this.#transaction(body, { ...work, begin, settle }));
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

  /** Runs a transaction once. */
  async #transaction<T>(
    body: (session: Session) => Promise<T>,
    { begin, settle, isSlow = false }: Transaction,
  ): Promise<T> {
    const { statementTimeout, slowStatementTimeout } = this.#settings;
    const client = await this.#connect();
    const atOnce = sessionOf(client, limitOf(statementTimeout));
    const session = isSlow ? sessionOf(client, limitOf(slowStatementTimeout)) : atOnce;
    let id: number | undefined;
    let result: T;
    let watch: NodeJS.Timeout | undefined;
    try {
      const [row] = await atOnce.all(
        isSlow ? `${begin}; SET LOCAL statement_timeout = ${slowStatementTimeout}` : begin,
      );
      if (row !== undefined) {
        id = Number(row.id);
        watch = this.#endSilent(Number(row.pid));
      }
      result = await body(session);
    } catch (error) {
      clearInterval(watch);
      client.release(!(await rolledBack(client, error)));
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
      const isUsable = await rolledBack(client, error);
      client.release(!isUsable);
      if (isUsable || id === undefined) throw error;
      await settle(id, error);
    }
    return result;
  }

  /** Returns when the transaction was committed. Throws the error when it was not, so that it is run again. */
  async #settle(id: number, error: unknown): Promise<void> {
    const patienceMs = this.#settings.idleTransactionTimeout + this.#settings.reconnectTimeout + 5_000;
    for (const start = performance.now(); performance.now() - start < patienceMs; await pause(100)) {
      const status = await this.all('SELECT txid_status($1) AS status', [id]).catch(() => []);
      if (status[0]?.status === 'committed') return;
      if (status[0]?.status === 'aborted') throw error;
    }
    throw new StoreError(
      'store_unavailable',
      'The connection to the PostgreSQL server was lost while a transaction was being committed, so it is unknown whether it was. Every write of a store can be repeated: try again.',
      { cause: error },
    );
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

  /**
   * Ends transactions that keep this one waiting while their own process is silent. The server does that by itself, except when
   * a process was stopped in the middle of a statement, such as a COPY: that it would wait for without a limit.
   */
  #endSilent(waiting: number): NodeJS.Timeout | undefined {
    const { idleTransactionTimeout } = this.#settings;
    const look = () => this.all(silentOnes, [waiting, idleTransactionTimeout]);
    // When looking fails, the statement that waits says what is wrong.
    return setInterval(() => look().catch(() => []), idleTransactionTimeout / 3).unref();
  }
}

/** Ends the transactions that keep another one waiting, and whose processes have said nothing for so many milliseconds. */
const silentOnes = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids($1))
  AND wait_event_type = 'Client' AND state_change < clock_timestamp() - $2 * interval '1 millisecond'`;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms * (0.5 + Math.random() / 2)));

/** Ends a transaction after an error. False when its connection cannot be used any more. */
const rolledBack = async (client: pg.PoolClient, error: unknown): Promise<boolean> =>
  isUsableAfter(error) && (await isDone(sessionOf(client, 5_000), 'ROLLBACK'));

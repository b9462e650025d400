import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { StoreSettings } from '../options.ts';
import type { Dialect, Driver, Remains, Session, Value } from './driver.ts';
import { differs, orReplace, recordNames } from './driver.ts';
import { factsOf, fromPostgres, isUsableAfter } from './postgres-errors.ts';

const dialect: Dialect = {
  key: 'text COLLATE "C"',
  schema: '',
  isIn: (column, placeholder) => `${column} = ANY(${placeholder})`,
  // Without OFFSET, a server that has not analyzed the table yet reads all calls of the account.
  lookUp: (columns) => `SELECT found.* FROM unnest($2::text[]) AS list(value) CROSS JOIN LATERAL
      (SELECT ${columns} FROM records WHERE account = $1 AND sid = list.value OFFSET 0) AS found`,
  list: (values) => values,
  jsonOf: (column) => `json_agg(${column})::text`,
  text: (column, digits = 0) =>
    `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS${digits === 0 ? '' : `.FF${digits}`}')`,
  timestamp: (placeholder) => `${placeholder}::timestamp`,
  hasComments: true,
  lock: 'FOR UPDATE',
  now: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
  columnsQuery: (tables) =>
    `SELECT relation.name AS table_name, attname AS name, format_type(atttypid, atttypmod) AS type
       FROM unnest(ARRAY[${tables.map((name) => `'${name}'`).join(', ')}]) AS relation(name)
       JOIN pg_attribute ON attrelid = to_regclass(relation.name) AND attnum > 0 AND NOT attisdropped`,
};

/** Times that a transaction is run when others get in its way. */
const attempts = 8;
const integerTypes = new Set([20, 1700]);
const snapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** The connections of this process, and how long the server waits for each. */
const poolOf = (url: string, settings: StoreSettings) =>
  new pg.Pool({
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

/** Opens a pool on a PostgreSQL (or one that speaks its protocol). The first statement connects. */
export function openPostgres(url: string, settings: StoreSettings): Driver {
  const pool = poolOf(url, settings);
  let hasConnected = false;

  // A connection can break at any time, also while it is in use. Without a listener that would end
  // the process; the statement in progress, or the next one, fails with the same error.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    hasConnected = true;
    client.on('error', () => undefined);
  });

  // The server ends a statement itself. Only when it does not respond at all, this process has to.
  const limit = settings.statementTimeout + Math.min(settings.statementTimeout, 5_000);

  const connected = async () => {
    try {
      const client = await pool.connect();
      return { client, session: sessionOf(client, limit) };
    } catch (cause) {
      throw fromPostgres(cause);
    }
  };

  /** Does something on a connection, once. */
  const once = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const { client, session } = await connected();
    try {
      const result = await work(session);
      client.release();
      return result;
    } catch (error) {
      client.release(
        !(isUsableAfter(error) && (await isDone(sessionOf(client, 5_000), 'ROLLBACK'))),
      );
      throw error;
    }
  };

  /**
   * Runs a transaction. One whose end is not known, since the connection broke, is run again: every
   * write can be repeated.
   */
  const transaction = <T>(begin: string, body: (session: Session) => Promise<T>): Promise<T> =>
    patiently(() =>
      once(async (session) => {
        await session.all(begin);
        const result = await body(session);
        await session.all('COMMIT');
        return result;
      }),
    );

  /**
   * Does something again when that helps, until it succeeds or the patience for the error is used
   * up.
   */
  const patiently = async <T>(job: () => Promise<T>): Promise<T> => {
    // Counted from the first failure: a process that was stopped for long still finds out what
    // happened meanwhile.
    let failedAt: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await job();
      } catch (error) {
        failedAt ??= performance.now();
        const { remedy = null, hasResponded = false } = factsOf(error) ?? {};
        // A server that never responded is more likely a wrong address than a restart.
        const mayBeBack = hasConnected || hasResponded;
        const isOver =
          remedy === 'again'
            ? attempt >= attempts
            : !(mayBeBack && performance.now() - failedAt < settings.reconnectTimeout);
        if (remedy === null || isOver) throw error;
        const pause = Math.min(10 * 2 ** attempt, 500) * (0.5 + Math.random() / 2);
        await new Promise((done) => setTimeout(done, pause));
      }
    }
  };

  return {
    dialect,
    clock: settings.clock,
    // A transaction costs a dozen round trips.
    writesAtOnce: 5_000,
    all: (sql, values) => patiently(() => once((session) => session.all(sql, values))),
    read: (body) => transaction(snapshot, body),
    async *stream(body) {
      const { client, session } = await patiently(async () => {
        const own = await connected();
        try {
          // It holds no locks, so whoever takes the rows may take their time.
          await own.session.all(`${snapshot}; SET LOCAL idle_in_transaction_session_timeout = 0`);
          return own;
        } catch (error) {
          own.client.release(!isUsableAfter(error));
          throw error;
        }
      });
      try {
        yield* body(session);
      } finally {
        client.release(!(await isDone(session, 'ROLLBACK')));
      }
    },
    write: (body) => transaction(settings.readOnly ? 'BEGIN READ ONLY' : 'BEGIN', body),
    // Only VACUUM FULL writes the tables without their dead rows, and it keeps everybody else out
    // for as long as it takes.
    overwriteDeleted: (): Promise<readonly Remains[]> => Promise.resolve(['vacuum']),
    close: () => pool.end(),
  };
}

/**
 * Statements on a connection. One that takes longer than the limit fails, even when the server is
 * frozen.
 */
function sessionOf(client: pg.PoolClient, limitMs: number): Session {
  const query = async (text: string, values: readonly Value[] = []): Promise<pg.QueryResult> => {
    try {
      const config = { text, values: [...values], query_timeout: limitMs };
      const result: pg.QueryResult | pg.QueryResult[] = await client.query(config);
      // Several statements in one string have several results, of which nobody looks at one.
      return Array.isArray(result) ? result[0] : result;
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
    async put(time, areNew) {
      const insert = `INSERT INTO records (${recordNames}, stored_at, changed_at)
        SELECT ${recordNames}, $1::timestamp, $1::timestamp FROM incoming`;
      const sql = areNew ? insert : `${insert} ${orReplace} WHERE ${differs('IS DISTINCT FROM')}`;
      return (await query(sql, [time])).rowCount ?? 0;
    },
  };
}

const pieceBytes = 131_072;
const backslash = 92;
const tab = 9;
const lineEnd = 10;
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/**
 * Rows in the text format of COPY. Each piece is made when it is asked for, so that it is sent
 * while others are made.
 */
function* lines(rows: readonly (readonly Value[])[]): Generator<Buffer> {
  let piece = Buffer.allocUnsafe(pieceBytes);
  let at = 0;
  for (const row of rows) {
    for (const value of row) {
      const text = value === null ? '\\N' : String(value);
      const most = 3 * text.length + 1;
      if (at + most > piece.length) {
        yield piece.subarray(0, at);
        piece = Buffer.allocUnsafe(Math.max(pieceBytes, most));
        at = 0;
      }
      // Most texts have characters of one byte alone, which are written three times as fast like
      // this.
      let i = 0;
      for (; i < text.length; i += 1) {
        const code = text.charCodeAt(i);
        if (code < 32 || code > 126 || (code === backslash && value !== null)) break;
        piece[at] = code;
        at += 1;
      }
      if (i < text.length)
        at += piece.write(
          text.slice(i).replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? ''),
          at,
        );
      piece[at] = tab;
      at += 1;
    }
    piece[at - 1] = lineEnd;
  }

  yield piece.subarray(0, at);
}

/** Runs a statement that may fail, as when the connection has ended. */
const isDone = (session: Session, sql: string): Promise<boolean> =>
  session.all(sql).then(
    () => true,
    () => false,
  );

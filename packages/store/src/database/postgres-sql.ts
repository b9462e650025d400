import { propertyOf } from '@call-attribution/core/errors';
import pg from 'pg';
import { noStore, StoreError } from './errors.ts';
import { fromPostgres } from './postgres-errors.ts';
import type { SqlColumn, SqlRow, Statement, StatementLimits } from './statement.ts';
import { columnHint, differentNames, exactNumber, onlyReads, tookTooLong } from './statement.ts';

/** Rows that are fetched at a time. */
const batchRows = 500;

/** A statement in a transaction that only reads, on a connection of its own. */
export function postgresStatement(
  url: string,
  sql: string,
  { timeLimit, name }: StatementLimits,
): Statement {
  const config = {
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    statement_timeout: Math.ceil(timeLimit),
    application_name: 'call-attribution-sql',
    // All values as text: the driver would give times the zone of this machine.
    types: { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig,
  };
  const client = new pg.Client(config);

  // A connection that breaks fails its statement; without a listener it would end the process.
  client.on('error', () => undefined);
  const isPlan = /^\W*explain\b/i.test(sql);
  let pid: number | undefined;

  /** With this protocol the server takes one statement at a time, whatever is in the text. */
  const query = (text: string): Promise<pg.QueryArrayResult<(string | null)[]>> => {
    const one = { text, rowMode: 'array' as const, queryMode: 'extended' };
    return client.query(one);
  };

  const answer = async (run: () => ReturnType<typeof query>) => {
    try {
      return await run();
    } catch (cause) {
      // The server may notice the end of the time before we do.
      throw propertyOf(cause, 'code') === '57014' ? tookTooLong(timeLimit) : sqlError(cause);
    }
  };

  const fetchRows = () => query(`FETCH ${batchRows} FROM answer`);
  const close = () => client.end().catch(() => undefined);

  return {
    async open() {
      try {
        await client.connect();
        await query('BEGIN READ ONLY');
        const { rows } = await query(
          `SELECT pg_backend_pid(), to_regclass('calls'), set_config('cursor_tuple_fraction', '1', true)`,
        );
        pid = Number(rows[0]?.[0]);
        if (rows[0]?.[1] === null) throw noStore(name);
      } catch (error) {
        throw fromPostgres(error);
      }

      const first = await answer(async () => {
        if (isPlan) return query(sql);
        await query(`DECLARE answer NO SCROLL CURSOR FOR\n${sql}`);
        return fetchRows();
      });
      const names = differentNames(first.fields.map((field) => field.name));
      const columns = names.map((column, i): SqlColumn => {
        return { name: column, type: types[first.fields[i]?.dataTypeID ?? 0] ?? 'string' };
      });
      let some: typeof first | null = first;
      return {
        columns,
        async next() {
          const { rows } = some ?? (isPlan ? { rows: [] } : await answer(fetchRows));
          some = null;
          return rows.map(
            (row): SqlRow =>
              Object.fromEntries(
                columns.map((column, i) => [column.name, cellOf(column, row[i] ?? null)]),
              ),
          );
        },
      };
    },
    interrupt() {
      if (pid !== undefined) void cancel(config, pid);
      // Ends the connection at once when a statement runs on it.
      void close();
    },
    close,
  };
}

/** Asks the server to end a statement. A server that does not respond keeps nobody waiting. */
async function cancel(config: pg.ClientConfig, pid: number): Promise<void> {
  const other = new pg.Client({ ...config, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  other.on('error', () => undefined);
  try {
    await other.connect();
    await other.query('SELECT pg_cancel_backend($1)', [pid]);
  } catch {
    // The server ends the statement when its time is over.
  } finally {
    await other.end().catch(() => undefined);
  }
}

const types: Readonly<Record<number, SqlColumn['type']>> = {
  16: 'boolean',
  20: 'integer',
  21: 'integer',
  23: 'integer',
  700: 'decimal',
  701: 'decimal',
  1082: 'date',
  1114: 'timestamp',
  1700: 'decimal',
};

function cellOf({ type }: SqlColumn, text: string | null): SqlRow[string] {
  if (text === null) return null;
  if (type === 'boolean') return text === 't';
  return type === 'integer' || type === 'decimal' ? exactNumber(text) : text;
}

/**
 * What PostgreSQL says about a statement that somebody typed. Of values it may quote, nothing is
 * repeated.
 */
function sqlError(cause: unknown): StoreError {
  if (!(cause instanceof pg.DatabaseError)) return fromPostgres(cause);
  const { code = '', message } = cause;

  // Not one statement, one that writes, or one that is no query: then its first word is the
  // mistake.
  const refused =
    /multiple commands|data-modifying|near "(?:insert|update|delete|merge|truncate|create|alter|drop|begin|set)"/i;
  if (code.startsWith('25') || refused.test(message)) return onlyReads();
  if (!/^(?:42|22|21|0A|54|2F|34|44)/.test(code)) return fromPostgres(cause);
  const ofValue = `a value is not of the type that the statement needs (${code}); the columns of the view calls have their types`;
  const said = /^(?:42|0A|21)/.test(code) ? message : ofValue;
  const [, unknown] = /^column "?(?:\w+\.)?(\w+)"? does not exist/.exec(message) ?? [];
  return new StoreError('invalid_sql', {
    message: `The SQL has a mistake: ${unknown ? `there is no column ${unknown}` : said}.`,
    hint: columnHint(unknown),
  });
}

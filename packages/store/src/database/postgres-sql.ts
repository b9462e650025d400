import { propertyOf } from '@call-attribution/core/errors';
import pg from 'pg';
import { noStore, StoreError } from './errors.ts';
import { fromPostgres } from './postgres-errors.ts';
import {
  columnHint,
  differentNames,
  exactNumber,
  type OpenRows,
  onlyReads,
  type SqlColumn,
  type SqlRow,
  type Statement,
  type StatementLimits,
  tookTooLong,
} from './statement.ts';

/** Rows that are fetched at a time. */
const batchRows = 500;

type Result = pg.QueryArrayResult<(string | null)[]>;

/** A statement in a transaction that only reads, on a connection of its own. */
export async function postgresStatement(
  url: string,
  sql: string,
  limits: StatementLimits,
): Promise<Statement> {
  const limit = Math.ceil(limits.timeLimit);
  const config = {
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    statement_timeout: limit,
    application_name: 'call-attribution-sql',
    // All values as text: the driver would give times the zone of this machine.
    types: { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig,
  };
  return new PostgresStatement(new pg.Client(config), sql, limits, (pid) => cancel(config, pid));
}

class PostgresStatement implements Statement {
  readonly #client: pg.Client;
  readonly #sql: string;
  readonly #limits: StatementLimits;
  readonly #isPlan: boolean;
  readonly #cancel: (pid: number) => Promise<void>;
  #pid: number | undefined;

  constructor(
    client: pg.Client,
    sql: string,
    limits: StatementLimits,
    cancel: (pid: number) => Promise<void>,
  ) {
    this.#client = client;
    this.#sql = sql;
    this.#limits = limits;
    this.#isPlan = /^\W*explain\b/i.test(sql);
    this.#cancel = cancel;
    // A connection that breaks fails its statement; without a listener it would end the process.
    client.on('error', () => undefined);
  }

  async open(): Promise<OpenRows> {
    await this.#begin();
    let first: Result | null = await this.#first();
    const names = differentNames(first.fields.map((field) => field.name));
    const columns = first.fields.map((field, i) => ({ name: names[i] ?? '', type: typeOf(field) }));
    const parsers = first.fields.map(({ dataTypeID }) => parserOf(dataTypeID));
    const cell = (text: string | null | undefined, i: number) =>
      text === null || text === undefined ? null : (parsers[i]?.(text) ?? null);
    return {
      columns,
      next: async () => {
        const { rows } = first ?? (this.#isPlan ? { rows: [] } : await this.#fetch());
        first = null;
        return rows.map(
          (row): SqlRow => Object.fromEntries(names.map((column, i) => [column, cell(row[i], i)])),
        );
      },
    };
  }

  interrupt(): void {
    if (this.#pid !== undefined) void this.#cancel(this.#pid);
    // Ends the connection at once when a statement runs on it.
    void this.close();
  }

  close(): Promise<void> {
    return this.#client.end().catch(() => undefined);
  }

  async #begin(): Promise<void> {
    try {
      await this.#client.connect();
      await this.#query('BEGIN READ ONLY');
      const { rows } = await this.#query(
        `SELECT pg_backend_pid(), to_regclass('calls'), set_config('cursor_tuple_fraction', '1', true)`,
      );
      this.#pid = Number(rows[0]?.[0]);
      if (rows[0]?.[1] === null) throw noStore(this.#limits.name);
    } catch (error) {
      throw fromPostgres(error);
    }
  }

  async #first(): Promise<Result> {
    try {
      if (this.#isPlan) return await this.#query(this.#sql);
      await this.#query(`DECLARE answer NO SCROLL CURSOR FOR\n${this.#sql}`);
    } catch (error) {
      throw this.#errorOf(error);
    }
    return this.#fetch();
  }

  async #fetch(): Promise<Result> {
    try {
      return await this.#query(`FETCH ${batchRows} FROM answer`);
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  /** The server may notice the end of the time before we do. */
  #errorOf(cause: unknown): StoreError {
    return propertyOf(cause, 'code') === '57014' ? tookTooLong(this.#limits.timeLimit) : sqlError(cause);
  }

  /** With this protocol the server takes one statement at a time, whatever is in the text. */
  #query(text: string): Promise<Result> {
    const one = { text, rowMode: 'array' as const, queryMode: 'extended' };
    return this.#client.query(one);
  }
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

const typeOf = ({ dataTypeID }: pg.FieldDef): SqlColumn['type'] => types[dataTypeID] ?? 'string';

function parserOf(type: number): (text: string) => SqlRow[string] {
  switch (types[type]) {
    case 'boolean':
      return (text) => text === 't';
    case 'integer':
    case 'decimal':
      return exactNumber;
    default:
      return (text) => text;
  }
}

/** What PostgreSQL says about a statement that somebody typed. Of values it may quote, nothing is repeated. */
function sqlError(cause: unknown): StoreError {
  if (!(cause instanceof pg.DatabaseError)) return fromPostgres(cause);
  const { code = '', message } = cause;
  // Not one statement, one that writes, or one that is no query: then its first word is the mistake.
  const refused =
    /multiple commands|data-modifying|near "(?:insert|update|delete|merge|truncate|create|alter|drop|begin|set)"/i;
  if (code.startsWith('25') || refused.test(message)) return onlyReads();
  if (!/^(?:42|22|21|0A|54|2F|34|44)/.test(code)) return fromPostgres(cause);
  const said =
    code.startsWith('42') || code.startsWith('0A') || code.startsWith('21') ? message : dataMistake(code);
  const [, unknown] = /^column "?(?:\w+\.)?(\w+)"? does not exist/.exec(message) ?? [];
  return new StoreError('invalid_sql', {
    message: `The SQL has a mistake: ${unknown ? `there is no column ${unknown}` : said}.`,
    hint: columnHint(unknown),
  });
}

const dataMistake = (code: string): string =>
  `a value is not of the type that the statement needs (${code}); the columns of the view calls have their types`;

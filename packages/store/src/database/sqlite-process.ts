import type { Sqlite } from './sqlite-driver.ts';

/** A statement that the process is asked to run. After it, each `null` asks for more rows. */
export interface SqlRequest {
  /** What SQLite is loaded from. */
  readonly source: string;
  /** The store, as a URI that only reads. */
  readonly uri: string;
  readonly sql: string;
  /** Is it an EXPLAIN, and what does it explain? */
  readonly explained: string | null;
  /** Most rows that are wanted; null for all. */
  readonly most: number | null;
  /** How long it waits for another process, in milliseconds. */
  readonly patience: number;
  /** Rows that are given at a time. */
  readonly batch: number;
}

/** A cell as it travels. */
export type SqlCell = string | number | null;

/** An error of SQLite, and what was being done when it came. */
export interface SqlFailure {
  readonly at: 'open' | 'store' | 'statement' | 'rest';
  readonly code: unknown;
  readonly errcode: unknown;
  readonly message: string;
}

/** What the process answers: a line of JSON for each line that it reads. */
export type SqlReply =
  | {
      readonly columns: readonly string[];
      /** The kinds of values that a column has, with commas between them; null for a plan. */
      readonly kinds: readonly (string | null)[] | null;
    }
  | { readonly rows: readonly (readonly SqlCell[])[] }
  | { readonly failure: SqlFailure };

/**
 * What the process runs that answers one statement. Its source is passed on as text, so that it is
 * there in bundles as well: it can use nothing that stands outside of it, and imports nothing.
 *
 * @param parent the process that waits for the answer; it may have ended before this one looks.
 */
export async function answerSql(parent: number): Promise<void> {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const { createInterface } = process.getBuiltinModule('node:readline');
  const require = process.getBuiltinModule('node:module').createRequire(process.execPath);

  // A statement keeps this thread busy for as long as it runs. Another one ends the process when
  // nobody waits for the answer any more.
  const watch = `setInterval(() => {
    if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL');
  }, 100);`;
  new Worker(watch, { eval: true }).unref();

  const plain = (value: unknown): SqlCell => {
    if (typeof value === 'bigint')
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
    return value === null || value === undefined ? null : String(value);
  };

  async function* replies(request: SqlRequest): AsyncGenerator<SqlReply> {
    let at: SqlFailure['at'] = 'open';
    try {
      const { DatabaseSync } = require(request.source) as Pick<Sqlite, 'DatabaseSync'>;
      const database = new DatabaseSync(':memory:');
      const run = (sql: string, ...values: string[]) => database.prepare(sql).run(...values);

      run('ATTACH ? AS store', request.uri);
      run(`PRAGMA busy_timeout = ${request.patience}`);
      // The rows of a large answer lie in a file without a name and not in memory.
      run('PRAGMA temp_store = FILE');
      at = 'store';
      database.prepare('SELECT layout FROM store.meta WHERE id = 1').get();

      // Mistakes are told in terms of what was typed.
      at = 'statement';
      let found = database.prepare(request.sql);
      at = 'rest';
      const within = (sql: string) => `SELECT * FROM (\n${sql}\n)`;
      if (request.explained === null) {
        const limit = request.most === null ? '' : ` LIMIT ${request.most}`;
        const fill = `CREATE TEMP TABLE answer AS ${within(request.sql)}${limit}`;
        const filling = database.prepare(fill);
        at = 'statement';
        filling.run();
        found = database.prepare('SELECT * FROM temp.answer');
      } else {
        database.prepare(within(request.explained));
        at = 'statement';
      }

      found.setReadBigInts(true);
      found.setReturnArrays(true);
      const columns = found.columns().map(({ name }) => name);
      let kinds: (string | null)[] | null = null;
      if (request.explained === null) {
        // SQLite has types of values, and none of columns.
        const list = columns
          .map((name) => `group_concat(DISTINCT typeof("${name.replaceAll('"', '""')}"))`)
          .join(', ');
        const types = database.prepare(`SELECT ${list} FROM temp.answer`);
        types.setReturnArrays(true);
        kinds = types.get() as (string | null)[];
      }

      yield { columns, kinds };
      let rows: SqlCell[][] = [];
      for (const row of found.iterate() as Iterable<unknown[]>) {
        if (rows.push(row.map(plain)) < request.batch) continue;
        yield { rows };
        rows = [];
      }

      if (rows.length > 0) yield { rows };
    } catch (error) {
      const { code, errcode, message } = error as SqlFailure;
      yield { failure: { at, code, errcode, message: String(message) } };
    }

    for (;;) yield { rows: [] };
  }

  let answering: AsyncGenerator<SqlReply> | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as SqlRequest | null;
    if (request !== null) answering = replies(request);
    const { value } = (await answering?.next()) ?? {};
    process.stdout.write(`${JSON.stringify(value)}\n`);
  }
}

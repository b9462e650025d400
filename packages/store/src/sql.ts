import { type Duration, deadlineMillis } from '@call-attribution/core/time';
import { needs } from './database/errors.ts';
import type { SqlResult, SqlRow, Statement, StatementLimits } from './database/statement.ts';
import { onlyReads, tookTooLong } from './database/statement.ts';
import { storeName, storePlace } from './database/store-url.ts';

/** How a statement of your own is run. */
export interface SqlOptions {
  /** Ends the statement. */
  readonly signal?: AbortSignal | undefined;
  /** How long the statement may take, reading its rows included. Default `1m`. */
  readonly timeLimit?: Duration | undefined;
  /** Most rows that are wanted; the statement is not run further than that. Default: all. */
  readonly most?: number | undefined;
}

/**
 * Runs one statement of SQL over a store, which it can read and not change: SELECT, WITH, VALUES or
 * EXPLAIN. The view `calls` has every field of the API under its name.
 *
 * @example
 * const rows = await querySql('sqlite:calls.db', 'select ppc_campaign, count(*) as calls from calls
 * group by 1'); for await (const { ppc_campaign, calls } of rows) console.log(ppc_campaign, calls);
 */
export async function querySql(
  url: string,
  sql: string,
  options: SqlOptions = {},
): Promise<SqlResult> {
  const { signal, most = Number.POSITIVE_INFINITY } = options;
  const timeLimit = deadlineMillis(options.timeLimit ?? '1m', 'timeLimit');
  const text = readingStatement(sql);
  signal?.throwIfAborted();
  const statement = await statementOf(url, text, { most, timeLimit, name: storeName(url) });
  let ended: unknown;

  const stop = (why: unknown) => {
    ended ??= why;
    statement.interrupt();
  };

  const timer = setTimeout(() => stop(tookTooLong(timeLimit)), timeLimit);
  const onAbort = () => stop(signal?.reason);
  signal?.addEventListener('abort', onAbort);

  // It may have come while the driver was loaded.
  if (signal?.aborted) onAbort();
  let closed: Promise<void> | undefined;

  const close = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    closed ??= statement.close();
    return closed;
  };

  /** Runs a step. What was stopped says why, whatever the database calls it. */
  const step = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      if (ended !== undefined) throw ended;
      const result = await run();
      if (ended !== undefined) throw ended;
      return result;
    } catch (error) {
      await close();
      throw ended ?? error;
    }
  };

  const { columns, next } = await step(() => statement.open());

  async function* rows(): AsyncGenerator<SqlRow, void, undefined> {
    let left = most;
    try {
      for (;;) {
        const some = await step(next);
        if (some.length === 0) return;
        for (const row of some) {
          if (left === 0) return;
          left -= 1;
          yield row;
        }
      }
    } finally {
      await close();
    }
  }

  return { columns, close, [Symbol.asyncIterator]: rows, [Symbol.asyncDispose]: close };
}

async function statementOf(url: string, sql: string, limits: StatementLimits): Promise<Statement> {
  const place = storePlace(url);
  if (place.kind === 'postgres') {
    const { postgresStatement } = await import('./database/postgres-sql.ts').catch(
      needs('pg', 'A store in PostgreSQL needs the package pg.'),
    );
    return postgresStatement(place.url, sql, limits);
  }

  const { sqliteStatement } = await import('./database/sqlite-sql.ts');
  return sqliteStatement(place.file, sql, limits);
}

const comments = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;

/** The statement without what ends it. Refuses one that does not begin as one that reads. */
function readingStatement(sql: string): string {
  const text = sql.replace(/[;\s]+$/, '');
  const [first = ''] = /^\(*\w*/.exec(text.replace(comments, '')) ?? [];
  if (/^(?:\(+|\(*(?:select|with|values|explain))$/i.test(first)) return text;
  throw onlyReads();
}

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { propertyOf } from '@call-attribution/core/errors';
import { isOutOfFiles, noStore, StoreError, tooManyFiles } from './errors.ts';
import { accessTo, readOnlyUri, realPath, tidyUp } from './sqlite.ts';
import { loadSqlite } from './sqlite-driver.ts';
import { fromSqlite, isMistake } from './sqlite-errors.ts';
import {
  answerSql,
  type SqlCell,
  type SqlFailure,
  type SqlReply,
  type SqlRequest,
} from './sqlite-process.ts';
import type { SqlColumn, SqlRow, Statement, StatementLimits } from './statement.ts';
import { columnHint, differentNames, onlyReads } from './statement.ts';

/** How long it waits for another process. */
const patience = 5_000;
/** Rows that the process gives at a time. */
const batch = 500;

/**
 * A statement over a file that is opened for reading alone, in a process of its own: nothing else
 * can end a statement of SQLite at any time.
 */
export function sqliteStatement(
  file: string,
  sql: string,
  { most, name }: StatementLimits,
): Statement {
  const path = realPath(file);
  if (!existsSync(path)) throw noStore(name);
  let answering: Answering | undefined;
  let isStopped = false;

  const reply = async (request: SqlRequest | null): Promise<SqlReply> => {
    answering ??= startProcess();
    const said = await answering.ask(request);
    if ('failure' in said) throw failureOf(said.failure, file, name);
    return said;
  };

  return {
    async open() {
      const { source } = await loadSqlite();
      const access = await accessTo(path, file, patience);
      if (isStopped) throw new Error('The statement was stopped.');
      const said = await reply({
        source,
        uri: readOnlyUri(path, access),
        sql,
        explained: explainedIn(sql),
        most: Number.isFinite(most) ? most : null,
        patience,
        batch,
      });
      if (!('columns' in said)) throw new TypeError('The process gave no columns.');
      const names = differentNames(said.columns);
      const columns = names.map((column, i): SqlColumn => {
        return { name: column, type: typeOf(said.kinds?.[i] ?? '') };
      });
      return {
        columns,
        async next() {
          const some = await reply(null);
          const rows: readonly (readonly SqlCell[])[] = 'rows' in some ? some.rows : [];
          return rows.map(
            (row): SqlRow => Object.fromEntries(names.map((column, i) => [column, row[i] ?? null])),
          );
        },
      };
    },
    interrupt() {
      isStopped = true;
      answering?.child.kill('SIGKILL');
    },
    async close() {
      isStopped = true;
      if (answering === undefined) return;
      answering.child.kill('SIGKILL');
      await answering.ended;
      answering = undefined;
      await tidyUp(path, file);
    },
  };
}

/** A process that answers statements. */
export interface Answering {
  readonly child: ChildProcess;
  /** Resolves when it has ended, with why. */
  readonly ended: Promise<unknown>;
  /** Sends a request, or asks for more, and waits for the reply. */
  ask(request: SqlRequest | null): Promise<SqlReply>;
}

/** Starts a process that answers statements. */
export function startProcess(): Answering {
  const child = spawn(process.execPath, ['--eval', `(${answerSql.toString()})(${process.pid});`], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { stdin, stdout } = child;

  // A process that has ended fails its statement.
  stdin.on('error', () => undefined);
  const ended = new Promise<unknown>((resolve) => {
    child.once('error', resolve);
    child.once('close', (status, signal) => resolve(signal ?? `status ${status}`));
  });
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended,
    async ask(request) {
      stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done !== true) return JSON.parse(value) as SqlReply;
      const why = await ended;
      if (isOutOfFiles(why)) throw tooManyFiles(why);
      const words = String(propertyOf(why, 'code') ?? why);
      throw new StoreError('store_failed', `The process that runs the SQL has ended (${words}).`, {
        cause: why,
      });
    },
  };
}

/** What an EXPLAIN explains; null for any other statement. */
function explainedIn(sql: string): string | null {
  const [begin] = /^explain(?:\s+query\s+plan)?\b/i.exec(sql) ?? [];
  return begin === undefined ? null : sql.slice(begin.length);
}

function typeOf(kinds: string): SqlColumn['type'] {
  const found = kinds.split(',').filter((kind) => kind !== 'null' && kind !== '');
  if (found.length === 0 || found.some((kind) => kind !== 'integer' && kind !== 'real'))
    return 'string';
  return found.includes('real') ? 'decimal' : 'integer';
}

/**
 * What SQLite says about a statement that somebody typed: it names parts of the statement, and no
 * values.
 */
function failureOf(cause: SqlFailure, file: string, name: string): StoreError {
  const known = fromSqlite(cause, file);
  if (cause.at === 'open' || !isMistake(cause)) return known;
  if (cause.at === 'store') return noStore(name);
  if (cause.at === 'rest') return onlyReads(cause);
  const message = cause.message.split('\n')[0] ?? '';
  const [, unknown] = /^no such column: "?(?:\w+\.)?(\w+)/.exec(message) ?? [];
  return new StoreError(
    'invalid_sql',
    {
      message: `The SQL has a mistake: ${unknown ? `there is no column ${unknown}` : message}.`,
      hint: /single-quotes/.test(message)
        ? `A text stands in single quotes: '${unknown}'.`
        : columnHint(unknown),
    },
    { cause },
  );
}

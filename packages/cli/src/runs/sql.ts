import type { Settings } from '@call-attribution/core/settings';
import type { Handler } from '../args/command.ts';
import { readSettings } from '../config/settings.ts';
import { CliError, ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures/explain.ts';
import { type Io, say } from '../io.ts';
import { saveLines } from '../output/file.ts';
import { encodedRows, readRowTarget, type SqlResult, type SqlRow, showRows } from '../output/sql.ts';
import { sayCounted, withExtensions } from '../reading/filter.ts';
import { openCopySource } from '../reading/open-copy.ts';
import type { Source } from '../reading/source.ts';
import { isWarehouse } from '../reading/warehouse-copy.ts';
import { type ChosenRows, chooseCopy } from '../stores/choose-copy.ts';
import { plural } from '../term/numbers.ts';

/**
 * Memory that the process may have beyond DuckDB's own limit: 0.1 to 0.3 GB are Node.js, the rows on their way out and the
 * freed blocks that DuckDB keeps; the rest leaves room for large values without endangering a small machine.
 */
const excess = 1e9;

/** Names a statement the calls, of which the API gives fewer? */
const asksCalls = /\bcalls\b/i;
const everyCall = withExtensions({ clauses: [] });

/** `calls sql`: one statement over a copy, which it can read and not change. */
export const sql: Handler = async (args, io) => {
  const target = readRowTarget(args);
  const most = args.integer('limit', { min: 1 });
  const settings = readSettings(args, io);
  const chosen = chooseCopy(args, settings, io);
  if (chosen === null) {
    throw new UsageError('calls sql needs a store: --store duckdb:calls.duckdb, or sqlite: or postgres:', {
      hints: ['calls sync --store duckdb:calls.duckdb fills one; CALLS_STORE names it for all commands'],
    });
  }
  const statement = args.words[0] === '-' ? await textOf(io.stdin) : (args.words[0] ?? '');
  const wanted = target.format === 'table' ? (most ?? 100) : (most ?? Number.POSITIVE_INFINITY);
  const source = await openCopySource(chosen, { settings, args, io });
  try {
    const result = await (chosen.kind === 'rows'
      ? askRows(chosen, statement, { settings, most: wanted, io })
      : askWarehouse(source, statement, io));
    try {
      if (target.format === 'table') await showRows(result, wanted, io);
      else await writeRows(result, wanted, target, io);
    } finally {
      await result.close();
    }
    await source.sayAnswered();
    if (asksCalls.test(statement)) sayCounted((await source.copy.count(everyCall)).extensions, io);
    return exitCodes.ok;
  } catch (error) {
    const shown = io.signal.aborted ? new Interrupted() : error;
    const isAtWork = isWarehouse(source) && source.copy.warehouse.isAtWork;
    throw isAtWork && !(shown instanceof ClosedPipe) ? await killing(shown) : shown;
  } finally {
    await source.close();
  }
};

function askWarehouse(source: Source, statement: string, { signal }: Io): Promise<SqlResult> {
  if (!isWarehouse(source)) throw new Error('the copy is no warehouse');
  const { warehouse, timeLimit } = source.copy;
  return warehouse.query(statement, { signal, timeLimit, excess });
}

/** SQLite and PostgreSQL are asked on a connection of its own. A table says whether there are more rows than it shows. */
async function askRows(
  { url }: ChosenRows,
  statement: string,
  { settings, most, io }: { readonly settings: Settings; readonly most: number; readonly io: Io },
): Promise<SqlResult> {
  const { querySql } = await import('@call-attribution/store');
  const timeLimit = settings.timeout?.value ?? 60_000;
  return querySql(url, statement, {
    ...{ signal: io.signal, timeLimit },
    ...(Number.isFinite(most) ? { most: most + 1 } : {}),
  });
}

/** The same error, after which the process has to be killed. */
async function killing(error: unknown): Promise<CliError> {
  const { message, hints, detail } = await explain(error);
  return new CliError(message, { exitCode: exitCodes.killed, hints, detail, cause: error });
}

async function writeRows(
  result: SqlResult,
  most: number,
  target: ReturnType<typeof readRowTarget>,
  io: Io,
): Promise<void> {
  let written = 0;
  const rows = async function* (): AsyncGenerator<SqlRow> {
    for await (const row of result) {
      if (written === most) return;
      written += 1;
      yield row;
    }
  };
  await saveLines(target.output ?? '-', encodedRows(rows(), result.columns, target), io);
  if (target.output !== null) say(io, `${target.output}: ${plural(written, 'row')}`);
}

async function textOf(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  let text = '';
  for await (const chunk of stream)
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
  return text;
}

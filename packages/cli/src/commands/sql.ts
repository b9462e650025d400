import type { SqlResult, SqlRow } from '@call-attribution/warehouse';
import type { Handler } from '../args/command.ts';
import { readSettings } from '../config/settings.ts';
import { CliError, ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures/explain.ts';
import { type Io, say } from '../io.ts';
import { saveLines } from '../output/file.ts';
import { encodedRows, readRowTarget, showRows } from '../output/sql.ts';
import { openWarehouseSource } from '../reading/warehouse-source.ts';
import { chooseWarehouse } from '../stores/choose.ts';
import { plural } from '../term/numbers.ts';

/**
 * Memory that the process may have beyond DuckDB's own limit: 0.1 to 0.3 GB are Node.js, the rows on their way out and the
 * freed blocks that DuckDB keeps; the rest leaves room for large values without endangering a small machine.
 */
const excess = 1e9;

/** `calls sql`: one statement over a warehouse, which it can read and not change. */
export const sql: Handler = async (args, io) => {
  const target = readRowTarget(args);
  const most = args.integer('limit', { min: 1 });
  const settings = readSettings(args, io);
  const file = chooseWarehouse(args, settings, io);
  if (file === null) {
    throw new UsageError('calls sql needs a warehouse: --store duckdb:calls.duckdb', {
      hints: ['calls sync --store duckdb:calls.duckdb fills one; CALLS_STORE names it for all commands'],
    });
  }
  const statement = args.words[0] === '-' ? await textOf(io.stdin) : (args.words[0] ?? '');
  const source = await openWarehouseSource(file, { settings, args, io });
  try {
    const result = await source.warehouse.query(statement, {
      signal: io.signal,
      timeLimit: source.timeLimit,
      excess,
    });
    try {
      if (target.format === 'table') await showRows(result, most ?? 100, io);
      else await writeRows(result, most ?? Number.POSITIVE_INFINITY, target, io);
    } finally {
      await result.close();
    }
    await source.sayAnswered();
    return exitCodes.ok;
  } catch (error) {
    const shown = io.signal.aborted ? new Interrupted() : error;
    throw source.warehouse.isAtWork && !(shown instanceof ClosedPipe) ? await killing(shown) : shown;
  } finally {
    await source.close();
  }
};

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

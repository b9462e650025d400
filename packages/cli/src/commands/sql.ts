import type { SqlResult, SqlRow } from '@call-attribution/warehouse';
import type { Handler } from '../args/command.ts';
import { readSettings } from '../config/settings.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { saveLines } from '../export/output.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { chooseWarehouse } from '../warehouse/choose.ts';
import { openWarehouseSource } from '../warehouse/source.ts';
import { encodedRows, readRowTarget, showRows } from '../warehouse/sql-output.ts';

/** `calls sql`: one statement over a warehouse, which it can read and not change. */
export const sql: Handler = async (args, io) => {
  const target = readRowTarget(args);
  const most = args.integer('limit', { min: 1 });
  const settings = readSettings(args, io, ['config']);
  const file = chooseWarehouse(args, settings, io);
  if (file === null) {
    throw new UsageError('calls sql needs a warehouse: --store duckdb:calls.duckdb', {
      hints: ['calls sync --store duckdb:calls.duckdb fills one; CALLS_STORE names it for all commands'],
    });
  }
  const statement = args.words[0] === '-' ? await textOf(io.stdin) : (args.words[0] ?? '');
  const source = await openWarehouseSource(file, args, io);
  try {
    const result = await source.warehouse.query(statement, {
      signal: io.signal,
      timeLimit: source.timeLimit,
    });
    try {
      if (target.format === 'table') await showRows(result, most ?? 100, args, io);
      else await writeRows(result, most ?? Number.POSITIVE_INFINITY, target, io);
    } finally {
      await result.close();
    }
    await source.sayAnswered();
    return exitCodes.ok;
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    throw error;
  } finally {
    await source.close();
  }
};

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

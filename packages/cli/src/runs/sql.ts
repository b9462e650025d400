import type { SqlResult, SqlRow } from '@call-attribution/store';
import type { Handler } from '../args/command.ts';
import { readSettings } from '../config/settings.ts';
import { Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { saveLines } from '../output/file.ts';
import { encodedRows, type RowTarget, showRows, sqlFormats } from '../output/sql.ts';
import { targetOf } from '../output/target.ts';
import { openCopySource } from '../reading/copy-source.ts';
import { sayCounted, withExtensions } from '../reading/filter.ts';
import { needStore } from '../stores/open.ts';
import { plural } from '../term/numbers.ts';

/** Names a statement the calls, of which the API gives fewer? */
const asksCalls = /\bcalls\b/i;
const everyCall = withExtensions({ clauses: [] });

/** `calls sql`: one statement over a store, which it can read and not change. */
export const sql: Handler = async (args, io) => {
  const target = targetOf(args, sqlFormats, { gzip: true });
  const limit = args.integer('limit', { min: 1 });
  const settings = readSettings(args, io);
  const chosen = needStore(args, settings, io, 'calls sql');
  const statement = args.words[0] === '-' ? await textOf(io.stdin) : (args.words[0] ?? '');
  const most = limit ?? (target.format === 'table' ? 100 : Number.POSITIVE_INFINITY);
  const source = await openCopySource(chosen, { settings, args, io });
  try {
    const { querySql } = await import('@call-attribution/store');
    const result = await querySql(chosen.url, statement, {
      signal: io.signal,
      timeLimit: settings.timeout?.value ?? 60_000,
      // A table says whether there are more rows than it shows.
      ...(Number.isFinite(most) ? { most: most + 1 } : {}),
    });
    try {
      if (target.format === 'table') await showRows(result, most, io);
      else await writeRows(result, most, target, io);
    } finally {
      await result.close();
    }
    await source.sayAnswered();
    if (asksCalls.test(statement)) sayCounted((await source.counted(everyCall)).extensions, io);
    return exitCodes.ok;
  } catch (error) {
    throw io.signal.aborted ? new Interrupted() : error;
  } finally {
    await source.close();
  }
};

async function writeRows(result: SqlResult, most: number, target: RowTarget, io: Io): Promise<void> {
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

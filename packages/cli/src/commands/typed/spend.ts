import { basename } from 'node:path';
import type { Spend } from '@call-attribution/questions';
import type { Settings } from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { namedFiles } from './named-files.ts';

/**
 * What --spend says: names of the configuration file, or files. Of several accounts each has its own
 * file where it is given there. Undefined without it.
 */
export async function spendOf(
  args: Args,
  accounts: readonly Settings[],
  io: Io,
): Promise<readonly Spend[] | undefined> {
  const names = args.list('spend');
  const columns = args.text('spend-columns');
  if (names.length === 0) {
    if (columns === null) return undefined;
    throw new UsageError('--spend-columns says how the file of --spend is read, and there is none');
  }

  const of = accounts.map(({ spend, account }) => ({
    files: spend,
    called: account?.name ?? null,
  }));
  const { readTable } = await import('@call-attribution/settings/tables');
  const { readSpend } = await import('@call-attribution/questions');
  const read: Spend[] = [];
  for (const { path, shown, option } of namedFiles('spend', names, of, io))
    read.push(
      readSpend({ name: basename(path), rows: await readTable(path, shown) }, columns ?? option),
    );

  return read;
}

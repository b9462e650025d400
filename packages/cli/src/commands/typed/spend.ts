import { basename, resolve } from 'node:path';
import type { Spend } from '@call-attribution/questions';
import type { Settings, SpendFile } from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../io.ts';

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

  const files = names.flatMap((name) => filesOf(name, accounts, io.cwd));
  const once = new Map(files.map((file) => [file.path, file]));
  const { readTable } = await import('@call-attribution/settings/tables');
  const { readSpend } = await import('@call-attribution/questions');
  const read: Spend[] = [];
  for (const { path, shown, columns: own } of once.values())
    read.push(
      readSpend({ name: basename(path), rows: await readTable(path, shown) }, columns ?? own),
    );

  return read;
}

/** The files that a name means, and what an error calls each. */
function filesOf(
  name: string,
  accounts: readonly Settings[],
  cwd: string,
): readonly (SpendFile & { readonly shown: string })[] {
  const own = accounts.map(({ spend }) => spend.get(name));
  const known = own.filter((file) => file !== undefined);
  if (known.length === accounts.length && known.length > 0)
    return known.map((file) => ({ ...file, shown: file.path }));
  const [first] = accounts;
  const without = accounts[own.indexOf(undefined)]?.account?.name;
  if (known.length > 0)
    throw new UsageError(`account ${without} has no spend called ${name}, and other accounts do`, [
      'calls of an account without spend would count as if they had cost nothing: choose --account',
    ]);
  if (/[./\\]/.test(name)) return [{ path: resolve(cwd, name), shown: name, columns: null }];
  const names = [...(first?.spend.keys() ?? [])];
  throw new UsageError(`there is no spend called ${name} in the configuration`, [
    names.length === 0
      ? `add "spend": { "${name}": "${name}.csv" } to calls.config.json, or name a file: --spend ${name}.csv`
      : `it has ${names.join(', ')}; a file is named with its extension: --spend ${name}.csv`,
  ]);
}

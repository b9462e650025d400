import { basename, resolve } from 'node:path';
import type { FileSection, NamedFile, NamedFiles } from '@call-attribution/settings';
import { UsageError } from '../../errors.ts';
import { type Io, isForServer } from '../../io.ts';

/** An account, and the files of a section that are known for it. */
export interface FilesOfAccount {
  /** Its name in the configuration; null without one. */
  readonly called: string | null;
  readonly files: NamedFiles;
}

/** A file that was typed, or that a typed name means. */
interface TypedFile extends NamedFile {
  /** What was typed. */
  readonly name: string;
  /** What it is called where it cannot be read. */
  readonly shown: string;
}

/** What becomes of an account that has no file while others have. */
const counted = {
  spend: 'calls of an account without spend would count as if they had cost nothing',
  outcomes: 'calls of an account without outcomes would count as if nothing was sold',
};

/**
 * The files that are typed, each once: names of the configuration file, or paths. Of several accounts
 * each has its own file where it is given there.
 */
export function namedFiles(
  section: FileSection,
  typed: readonly string[],
  accounts: readonly FilesOfAccount[],
  io: Io,
): readonly TypedFile[] {
  const files = typed.flatMap((name) => filesOf(section, name, accounts, io));
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

function filesOf(
  section: FileSection,
  name: string,
  accounts: readonly FilesOfAccount[],
  io: Io,
): readonly TypedFile[] {
  const own = accounts.map(({ files }) => files.get(name));
  const known = own.filter((file) => file !== undefined);
  if (section === 'outcomes' && new Set(known.map(({ path }) => path)).size > 1)
    throw new UsageError(`each account has a file of its own for the outcomes called ${name}`, [
      'a sale of one account could count for a call of another: choose --account',
    ]);
  if (known.length === accounts.length && known.length > 0)
    return known.map((file) => {
      // Only who is at the terminal is told where a file is, not who asks a server.
      const shown = isForServer(io) ? basename(file.path) : file.path;
      return { ...file, name, shown };
    });
  const without = accounts[own.indexOf(undefined)]?.called;
  if (known.length > 0)
    throw new UsageError(
      `account ${without} has no ${section} called ${name}, and other accounts do`,
      [`${counted[section]}: choose --account`],
    );
  if (/[./\\]/.test(name))
    return [{ path: resolve(io.cwd, name), name, shown: name, option: null }];
  const names = [...(accounts[0]?.files.keys() ?? [])];
  throw new UsageError(`${noneCalled[section]} ${name} in the configuration`, [
    names.length === 0
      ? `add "${section}": { "${name}": "${name}.csv" } to calls.config.json, or name a file: --${section} ${name}.csv`
      : `it has ${names.join(', ')}; a file is named with its extension: --${section} ${name}.csv`,
  ]);
}

const noneCalled = {
  spend: 'there is no spend called',
  outcomes: 'there are no outcomes called',
};

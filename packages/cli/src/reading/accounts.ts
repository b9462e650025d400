import type { Settings } from '@call-attribution/mcp-server/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { planQuestion } from '@call-attribution/questions';
import type { Args } from '../args/command.ts';
import { readAccountSettings, readSettings, readStoredSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ChosenStore, chooseStore } from '../stores/open.ts';
import { openClient, refuseUnchosen } from './connect.ts';
import type { CopyContext, CopySource } from './copy-source.ts';
import type { NamedAccount } from './each-account.ts';
import { whereOf } from './filter.ts';
import { apiSource, type Source } from './source.ts';

/** An account whose calls a command reads. */
export interface ReadAccount extends NamedAccount {
  /** Opens where its calls are; the caller closes it. */
  open(): Promise<Source>;
}

/**
 * The accounts that --account and --all-accounts choose: of the configuration file, or of the copy where one answers.
 * Without these options it is the one account of the settings, or all that the copy has.
 */
export async function chooseAccounts(args: Args, io: Io): Promise<ReadAccount[]> {
  const stored = await chooseStored(args, io);
  const where = whereOf(args);
  // A mistake in it is one of the command, not of each account.
  if (where !== null) planQuestion({ where });
  if (stored !== null)
    return stored.accounts.map(({ key, ...account }) => ({ ...account, open: () => stored.open(key) }));
  const accounts = accountsOfApi(args, io);
  if (where === null) return accounts;
  const { refuseSequence, sourceWhere } = await import('./where.ts');
  refuseSequence(where);
  return accounts.map(({ open, ...account }) => ({
    ...account,
    open: async () => sourceWhere(await open(), where, account.settings, io),
  }));
}

/** Opens a copy; what reads one is loaded only where there is one. */
async function openCopy(
  chosen: ChosenStore,
  context: CopyContext,
  ids?: readonly string[],
): Promise<CopySource> {
  const { openCopySource } = await import('./copy-source.ts');
  return openCopySource(chosen, context, ids);
}

/** The accounts whose calls are read from the API. */
export function accountsOfApi(args: Args, io: Io): ReadAccount[] {
  const names = typedAccounts(args);
  const accounts: readonly NamedAccount[] =
    names === null ? [{ name: null, settings: readSettings(args, io) }] : configuredAccounts(names, args, io);
  if (names === null) for (const { settings } of accounts) refuseUnchosen(settings);
  return accounts.map((account) => ({
    ...account,
    open: async () => apiSource(await openClient(account.settings, args, io), io.signal),
  }));
}

/** The accounts of a copy that were chosen. */
export interface Stored {
  /** `key` is the ID in the copy, or empty for all that it has. */
  readonly accounts: readonly (NamedAccount & { readonly key: string })[];
  /** What an account is called: its name in the configuration file, or its ID. */
  nameOf(id: string): string;
  /** Opens the copy for one of the accounts, or for all that were chosen. */
  open(key?: string): Promise<CopySource>;
}

/** The copy that the options or the settings name, and the accounts in it; null when the API is asked. */
export async function chooseStored(args: Args, io: Io): Promise<Stored | null> {
  const names = typedAccounts(args);
  const settings = names === null ? readSettings(args, io) : readStoredSettings(null, args, io);
  const chosen = chooseStore(args, settings, io);
  if (chosen === null) return null;
  const nameOf = (id: string) => settings.accounts.find((account) => account.id === id)?.name ?? id;
  if (names === null) {
    return {
      accounts: [{ key: '', name: null, settings }],
      nameOf,
      open: () => openCopy(chosen, { settings, args, io }),
    };
  }
  const ids = await idsOf(names, chosen, settings, args, io);
  const accounts = ids.map((id) => {
    const known = settings.accounts.find((account) => account.id === id)?.name ?? null;
    return {
      key: id,
      name: names === 'all' || ids.length > 1 ? nameOf(id) : null,
      settings: readStoredSettings(known, args, io),
    };
  });
  return {
    accounts,
    nameOf,
    open(key) {
      const own = accounts.find((account) => account.key === key);
      const context = { settings: own?.settings ?? settings, args, io };
      return openCopy(chosen, context, own === undefined ? ids : [own.key]);
    },
  };
}

/** The account of a command that works on one. */
export async function chooseAccount(command: string, args: Args, io: Io): Promise<ReadAccount> {
  return onlyOf(await chooseAccounts(args, io), command);
}

/** The only one of the chosen accounts. */
export function onlyOf<A extends NamedAccount>([account, ...more]: readonly A[], command: string): A {
  if (account !== undefined && more.length === 0) return account;
  throw new UsageError(`${command} works on one account at a time`, {
    hints: ['name it with --account, and run the command once for each'],
  });
}

/** Accounts of the configuration file. One that is named alone needs no name in what is shown. */
export function configuredAccounts(names: readonly string[] | 'all', args: Args, io: Io): NamedAccount[] {
  const found = readAccountSettings(names, args, io);
  const isNamed = names === 'all' || found.length > 1;
  return found.map(({ settings, problem }) => {
    if (problem !== null && !isNamed) throw problem;
    return { name: isNamed ? (settings.account?.name ?? null) : null, settings, problem };
  });
}

/** The names of --account, or all of --all-accounts; null when there is neither. */
export function typedAccounts(args: Args): readonly string[] | 'all' | null {
  const names = args.list('account');
  const all = args.has('all-accounts') && args.flag('all-accounts');
  if (all && names.length > 0)
    throw new UsageError('--account and --all-accounts exclude each other; use one');
  if (all) return 'all';
  return names.length > 0 ? [...new Set(names)] : null;
}

async function idsOf(
  names: readonly string[] | 'all',
  chosen: ChosenStore,
  settings: Settings,
  args: Args,
  io: Io,
): Promise<readonly string[]> {
  const { stored, shown } = await accountsIn(chosen, settings, args, io);
  return names === 'all' ? stored : names.map((name) => idOf(name, settings.accounts, stored, shown));
}

/** The ID in the copy of an account that was named. */
function idOf(
  name: string,
  accounts: Settings['accounts'],
  stored: readonly string[],
  shown: string,
): string {
  const id = accounts.find((account) => account.name === name)?.id ?? name;
  if (stored.includes(id)) return id;
  const near = nearest(name, [...accounts.map(({ name }) => name), ...stored]);
  throw new UsageError(`${shown} has no calls of an account ${JSON.stringify(name)}`, {
    hints: [
      ...(near && near !== name ? [`did you mean ${near}?`] : []),
      stored.length > 0 ? `it has ${stored.join(', ')}` : 'nothing was synced yet: calls sync fills it',
    ],
  });
}

async function accountsIn(chosen: ChosenStore, settings: Settings, args: Args, io: Io) {
  const source: CopySource = await openCopy(chosen, { settings, args, io });
  try {
    const stored = (await source.store.accounts()).map(({ id }) => id);
    return { stored, shown: `the store ${source.address}` };
  } finally {
    await source.close();
  }
}

import type { Filter } from '@call-attribution/query-dsl';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Args } from '../args.ts';
import { readAccountSettings, readSettings, readStoredSettings } from '../config/settings.ts';
import { CliError, ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain, report } from '../failures.ts';
import { type Io, say } from '../io.ts';
import { chooseStore } from '../stores/open.ts';
import { contextOf, type NamedAccount, openClient, refuseUnchosen } from './connect.ts';
import type { CopySource } from './copy-source.ts';
import { filterOf, rangeOf, sayPeriod } from './filter.ts';
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
export async function chooseAccounts(args: Args, io: Io): Promise<readonly ReadAccount[]> {
  const stored = await chooseStored(args, io);
  const accounts = stored?.accounts ?? accountsOfApi(args, io);
  const where = args.text('where');
  if (where === null) return accounts;
  const { checkWhere, sourceWhere } = await import('./where.ts');
  checkWhere(where, stored !== null);
  if (stored !== null) return accounts;
  return accounts.map(({ open, ...account }) => ({
    ...account,
    open: async () => sourceWhere(await open(), where, io),
  }));
}

/** The accounts that the options choose, each with the filter that they describe. Says of which period the calls are. */
export async function chooseCalls(args: Args, io: Io): Promise<(ReadAccount & { readonly plan: Filter })[]> {
  return planEach(await chooseAccounts(args, io), async ({ settings }) => {
    const context = contextOf(settings, io);
    await sayPeriod(await rangeOf(args, context), context, io);
    return filterOf(args, context);
  });
}

/** The accounts whose calls are read from the API. */
export function accountsOfApi(args: Args, io: Io): ReadAccount[] {
  const names = typedAccounts(args);
  const accounts: readonly NamedAccount[] =
    names === null
      ? [{ name: null, settings: readSettings(args, io), problem: null }]
      : configuredAccounts(names, args, io);
  if (names === null) for (const { settings } of accounts) refuseUnchosen(settings);
  return accounts.map((account) => ({
    ...account,
    open: async () => apiSource(await openClient(account.settings, io), io.signal),
  }));
}

/** A copy, and the accounts in it that were chosen. */
export interface Stored {
  /** `key` is the ID in the copy, or empty for all that it has. */
  readonly accounts: readonly (ReadAccount & { readonly key: string })[];
  /** What an account is called: its name in the configuration file, or its ID. */
  nameOf(id: string): string;
  /** Opens the copy for all that were chosen. */
  open(): Promise<CopySource>;
}

/** The copy that the options or the settings name, and the accounts in it; null when the API is asked. */
export async function chooseStored(args: Args, io: Io): Promise<Stored | null> {
  const names = typedAccounts(args);
  const settings = names === null ? readSettings(args, io) : readStoredSettings(null, args, io);
  const chosen = chooseStore(args, settings, io);
  if (chosen === null) return null;
  const { openCopySource } = await import('./copy-source.ts');
  const open = (ids: readonly string[] = [], own = settings) =>
    openCopySource(chosen, { settings: own, args, io }, ids);
  const { accounts } = settings;
  const nameOf = (id: string) => accounts.find((account) => account.id === id)?.name ?? id;
  if (names === null)
    return { accounts: [{ key: '', name: null, settings, problem: null, open }], nameOf, open };
  const source = await open();
  const stored = await source.accounts().finally(() => source.close());
  const ids = names === 'all' ? stored : names.map((name) => idOf(name, accounts, stored, source.address));
  return {
    accounts: ids.map((id) => {
      const known = accounts.find((account) => account.id === id)?.name ?? null;
      const own = readStoredSettings(known, args, io);
      const name = names === 'all' || ids.length > 1 ? nameOf(id) : null;
      return { key: id, name, settings: own, problem: null, open: () => open([id], own) };
    }),
    nameOf,
    open: () => open(ids),
  };
}

/** The ID in the copy of an account that was named. */
function idOf(
  name: string,
  accounts: readonly { readonly name: string; readonly id: string | null }[],
  stored: readonly string[],
  shown: string,
): string {
  const id = accounts.find((account) => account.name === name)?.id ?? name;
  if (stored.includes(id)) return id;
  const near = nearest(name, [...accounts.map(({ name }) => name), ...stored]);
  throw new UsageError(`the store ${shown} has no calls of an account ${JSON.stringify(name)}`, {
    hints: [
      ...(near && near !== name ? [`did you mean ${near}?`] : []),
      stored.length > 0 ? `it has ${stored.join(', ')}` : 'nothing was synced yet: calls sync fills it',
    ],
  });
}

/** The only one of the chosen accounts. */
export function onlyOf<A extends NamedAccount>([account, ...more]: readonly A[], command: string): A {
  if (account?.problem) throw account.problem;
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
  if (args.flag('all-accounts')) return 'all';
  const names = args.list('account');
  return names.length > 0 ? [...new Set(names)] : null;
}

/** Works something out for each account before anything is read. An error names the account. */
export async function planEach<A extends NamedAccount, P>(
  accounts: readonly A[],
  plan: (account: A) => P | Promise<P>,
): Promise<(A & { readonly plan: P })[]> {
  const planned: (A & { readonly plan: P })[] = [];
  for (const account of accounts) {
    try {
      planned.push({ ...account, plan: await plan(account) });
    } catch (error) {
      throw account.name === null ? error : await ofAccount(account.name, account.problem ?? error);
    }
  }
  return planned;
}

/**
 * Runs something for each account, one after the other, and gives what that gives. An account that fails is named on stderr and does
 * not stop the others; the exit status then says that the result is incomplete, or, when all have failed in the same way, how.
 * `onFailure` replaces what is said about such an account.
 */
export async function* inTurn<A extends NamedAccount, T>(
  accounts: readonly A[],
  args: Args,
  io: Io,
  run: (account: A) => AsyncGenerator<T, number>,
  onFailure: (error: CliError) => unknown = (error) =>
    report(error, io, { debug: args.flag('debug'), has: args.has }),
): AsyncGenerator<T, number> {
  const statuses: number[] = [];
  const failed: string[] = [];
  for (const account of accounts) {
    const { name } = account;
    try {
      if (account.problem !== null) throw account.problem;
      const status = yield* run(account);
      if (name === null) return status;
      statuses.push(status);
    } catch (error) {
      if (name === null || stopsAll(error, io)) throw error;
      const named = await ofAccount(name, error);
      failed.push(name);
      statuses.push(named.exitCode);
      await onFailure(named);
    }
  }
  if (failed.length > 0)
    say(io, `${failed.length} of ${accounts.length} accounts failed: ${failed.join(', ')}`);
  const worst = statuses.find((status) => status !== exitCodes.ok) ?? exitCodes.ok;
  return statuses.every((status) => status === worst) ? worst : exitCodes.incomplete;
}

/** The same for what gives nothing but its exit status. */
export async function eachAccount<A extends NamedAccount>(
  accounts: readonly A[],
  args: Args,
  io: Io,
  run: (account: A) => Promise<number>,
  onFailure?: (error: CliError) => unknown,
): Promise<number> {
  const turns = inTurn(
    accounts,
    args,
    io,
    // biome-ignore lint/correctness/useYield: it gives nothing but its exit status.
    async function* (account) {
      return run(account);
    },
    onFailure,
  );
  const { value } = await turns.next();
  return value as number;
}

/** What concerns the whole command: Ctrl-C, a reader that has gone, an output that cannot be written. */
function stopsAll(error: unknown, { signal }: Io): boolean {
  if (signal.aborted || error instanceof ClosedPipe || error instanceof Interrupted) return true;
  return error instanceof CliError && error.exitCode === exitCodes.output;
}

async function ofAccount(name: string, error: unknown): Promise<CliError> {
  const { message, exitCode, hints, detail } = await explain(error);
  return new CliError(`account ${name}: ${message}`, { exitCode, hints, detail, cause: error });
}

import { type Auth, apiKeys, bearerToken, type Client, createClient } from '@call-attribution/core';
import type { Filter } from '@call-attribution/query-dsl';
import { nearest } from '@call-attribution/query-dsl/nearest';
import {
  accountCalled,
  connectionOf,
  missingSettings,
  type Settings,
} from '@call-attribution/settings';
import { storeName } from '@call-attribution/store/url';
import type { Args } from '../../args.ts';
import { CliError, ClosedPipe, exitCodes, Interrupted, UsageError } from '../../errors.ts';
import { explain, report } from '../../failures.ts';
import { type AccountNames, nameIn, namesOfAll } from '../../input/account-names.ts';
import { everyCall, narrows } from '../../input/chosen-calls.ts';
import type { CopySource } from '../../input/copy-source.ts';
import { apiSource, type Source } from '../../input/source.ts';
import { type Io, say } from '../../io.ts';
import { type ChosenStore, chooseStore, openChosen } from '../../stores/open.ts';
import { oneOf } from '../../terminal/numbers.ts';
import { askHidden, canAsk } from '../../terminal/prompt.ts';
import { whileWaiting } from '../../terminal/waiting.ts';
import { version } from '../../version.ts';
import { changedSinceOf, refuseChangedSince } from './changed-since.ts';
import { chosenCalls } from './chosen-calls.ts';
import { askedPeriod, type FilterContext, filterOf, sayPeriod } from './filter.ts';
import { readAccountSettings, readSettings, readStoredSettings } from './settings.ts';

/** An account that a command works on. */
export interface NamedAccount {
  /** What its rows are called; null when there is only one account, which needs no name. */
  readonly name: string | null;
  readonly settings: Settings;
  /** What is wrong with the settings of this account. It fails with it when its turn comes. */
  readonly problem: CliError | null;
}

/**
 * Creates the client that the settings describe; the caller closes it. Commands read their other
 * options first, so that a mistake in them is reported before keys are asked for.
 */
export async function openClient(settings: Settings, io: Io): Promise<Client> {
  refuseUnchosen(settings);
  if (!settings.baseUrl) throw missingOf(settings);
  const connection = connectionOf(settings, (line) => say(io, line));
  return createClient({
    ...connection,
    baseUrl: settings.baseUrl.value,
    auth: connection.auth ?? (await askForAuth(settings, io)),
    userAgent: `call-attribution-cli/${version}`,
  });
}

/** Clients, each opened when it is first needed and closed with the others. */
export function keptClients() {
  const clients = new Map<unknown, Promise<Client>>();
  return {
    of(key: unknown, open: () => Promise<Client>): Promise<Client> {
      const client = clients.get(key) ?? open();
      clients.set(key, client);

      // What is missing may be there the next time.
      return client.catch((error: unknown) => {
        clients.delete(key);
        throw error;
      });
    },
    async close(): Promise<void> {
      for (const client of clients.values()) await (await client).close();
    },
  };
}

/** The client of an account. */
export async function openNamed({ settings, problem }: NamedAccount, io: Io): Promise<Client> {
  if (problem) throw problem;
  return openClient(settings, io);
}

/** What filterOf needs besides the options. */
export function contextOf(settings: Settings, io: Io): FilterContext {
  return {
    now: io.clock.now(),
    timeZone: settings.timeZone?.value ?? null,
    version: settings.apiVersion.value,
    definitions: settings.file?.definitions ?? {},
    exclude: settings.file?.exclude ?? null,
    outcomes: settings.outcomes,
    configFile: settings.file?.path ?? '',
  };
}

/**
 * Asks at the terminal for the credentials that are not set; without a terminal an error says how
 * to set them.
 */
async function askForAuth(settings: Settings, io: Io): Promise<Auth> {
  if (!canAsk(io)) throw missingOf(settings);
  const of = settings.account === null ? '' : ` of account ${settings.account.name}`;
  const ask = async (name: 'accessKey' | 'secretKey', what: string) =>
    settings.secret(name)?.value ?? (await askHidden(`${what}${of} (not shown)`, io));
  if (settings.apiVersion.value === 'v2')
    return bearerToken(await askHidden(`Bearer token${of} (not shown)`, io));
  return apiKeys(await ask('accessKey', 'Access key'), await ask('secretKey', 'Secret key'));
}

/** What is not set, and how to set it. */
function missingOf(settings: Settings): UsageError {
  const [problem] = missingSettings(settings);
  const others = [
    'calls init asks for what is missing and keeps it',
    'or set CALLS_BASE_URL, CALLS_ACCESS_KEY and CALLS_SECRET_KEY (v2: CALLS_BEARER_TOKEN)',
    'without an account, calls demo shows everything, and calls serve starts a sandbox',
  ];
  return new UsageError(
    problem?.message ?? 'the settings are incomplete',
    settings.account === null || !problem?.hint ? others : [problem.hint],
  );
}

/**
 * Refuses settings without keys where the configuration file has accounts of which none is chosen.
 */
export function refuseUnchosen({ account, accounts, file, secret }: Settings): void {
  if (account !== null || accounts.length === 0) return;
  if (secret('accessKey') ?? secret('secretKey') ?? secret('bearerToken')) return;
  const names = accounts.map(({ name }) => name);
  throw new UsageError(`choose --account ${oneOf(names)}, or --all-accounts`, [
    `${file?.path ?? 'the configuration'} has several accounts; calls init --default ${names[0]} makes one the usual`,
  ]);
}

/** An account whose calls a command reads. */
export interface ReadAccount extends NamedAccount {
  /** Its name or ID, for people; null where only its calls tell. */
  readonly called: string | null;
  /** As its calls are counted: its ID, or empty where only its calls tell. */
  readonly key: string;
  /** See `AccountNames`. */
  readonly namesOf: AccountNames;
  /** Opens where its calls are; the caller closes it. */
  open(): Promise<Source>;
}

/**
 * The accounts that --account and --all-accounts choose: of the configuration file, or of the copy
 * where one answers. Without these options it is one: the default, or the only one.
 */
export async function chooseAccounts(args: Args, io: Io): Promise<readonly ReadAccount[]> {
  const stored = await chooseStored(args, io);
  if (stored === null) refuseChangedSince(args);
  const accounts = stored?.accounts ?? accountsOfApi(args, io);
  const [first] = accounts;
  const chosen = first === undefined ? everyCall : await chosenCalls(args, first.settings);
  if (!narrows(chosen)) return accounts;
  const { checkWhere, sourceWhere } = await import('../../input/where.ts');
  checkWhere(chosen, stored !== null);
  if (stored !== null) return accounts;
  return accounts.map((account) => ({
    ...account,
    open: async () =>
      sourceWhere(await account.open(), chosen, {
        ...account,
        version: account.settings.apiVersion.value,
      }),
  }));
}

/**
 * The accounts that the options choose, each with the filter that they describe. Says of which
 * period the calls are.
 */
export async function chooseCalls(
  args: Args,
  io: Io,
): Promise<(ReadAccount & { readonly plan: Filter })[]> {
  return planEach(await chooseAccounts(args, io), async ({ settings }) => {
    const context = contextOf(settings, io);
    await sayPeriod(await askedPeriod(args, context), context, io);
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
  return accounts.map((account) => {
    const { name, settings } = account;
    return {
      ...account,
      called: name ?? settings.account?.name ?? null,
      key: settings.account?.id ?? name ?? '',
      namesOf: namesOfAll(settings.accounts),
      async open() {
        const client = await openClient(settings, io);

        // Another command may be about another account.
        if (names === null && settings.account !== null && settings.accounts.length > 1)
          say(io, `account ${settings.account.name}, the default`);
        return apiSource(client, io.signal);
      },
    };
  });
}

/** A copy, and the accounts in it that were chosen. */
export interface Stored {
  readonly accounts: readonly ReadAccount[];
  /** See `nameIn`. */
  nameOf(id: string): string;
  /** Opens the copy for all that were chosen. */
  open(): Promise<CopySource>;
}

/** Opens a store that exists, to read all its accounts. */
export async function openCopy(
  chosen: ChosenStore,
  settings: Settings,
  signal: AbortSignal,
): Promise<CopySource> {
  const { CopySource } = await import('../../input/copy-source.ts');
  const shown = storeName(chosen.typed);
  const store = await whileWaiting(`waiting for the store ${shown}`, () =>
    openChosen(chosen, settings, { readOnly: true }),
  );
  const which = { accounts: [], calls: everyCall, changedSince: null };
  return new CopySource(store, { shown, settings, ...which, signal });
}

/**
 * The copy that the options or the settings name, and the accounts in it; null when the API is
 * asked.
 */
export async function chooseStored(args: Args, io: Io): Promise<Stored | null> {
  const names = typedAccounts(args);
  const settings = readStoredSettings(names === null ? undefined : null, args, io);
  const chosen = chooseStore(args.text('store'), settings, io);
  if (chosen === null) return null;
  const { CopySource } = await import('../../input/copy-source.ts');
  const { accounts } = settings;
  const nameOf = (id: string) => nameIn(settings, id);
  const shown = storeName(chosen.typed);
  const openStore = (of: Settings) =>
    whileWaiting(`waiting for the store ${shown}`, () =>
      openChosen(chosen, of, { readOnly: true }),
    );
  const look = await openStore(settings);
  const stored = await look.accounts().finally(() => look.close());
  const known = [...accounts, ...stored];
  const namesOf = namesOfAll(known);

  /** The ID in the copy of an account that was named. */
  const idOf = (called: string): string => {
    const { id = called } = accountCalled(called, known) ?? {};
    if (stored.some((account) => account.id === id)) return id;
    const some = stored.map((account) => nameOf(account.id));
    // Another number is another account, not what was meant.
    const near = /\d$/.test(called) ? null : nearest(called, some);
    const more = some.length > 10 ? ' and more' : '';
    throw new UsageError(
      `the store ${shown} has no calls of an account ${JSON.stringify(called)}`,
      [
        ...(near && near !== called ? [`did you mean ${near}?`] : []),
        some.length > 0
          ? `it has ${some.slice(0, 10).join(', ')}${more}`
          : 'nothing was synced yet: calls sync fills it',
      ],
    );
  };

  /** The account of a command that names none: the default, or the only one that there is. */
  const usual = (): string[] => {
    const [first, ...more] = stored;
    if (first === undefined) return [];
    if (settings.account !== null) return [idOf(settings.account.name)];
    if (more.length === 0) return [first.id];
    const some = stored.slice(0, 10).map(({ id }) => nameOf(id));
    const all = args.has('all-accounts') ? ', or --all-accounts' : '';
    throw new UsageError(`choose --account ${oneOf(some)}${all}`, [
      `the store ${shown} has the calls of ${stored.length} accounts`,
    ]);
  };

  let ids: readonly string[];
  if (names === null) ids = usual();
  else ids = names === 'all' ? stored.map(({ id }) => id) : [...new Set(names.map(idOf))];
  const isNamed = names === 'all' || ids.length > 1;
  const calls = await chosenCalls(args, settings);
  const changedSince = changedSinceOf(args, io.clock.now());
  const open = async (ids: readonly string[], of = settings) => {
    const store = await openStore(of);
    return new CopySource(store, {
      shown,
      settings: of,
      accounts: ids,
      changedSince,
      calls,
      namesOf,
      signal: io.signal,
    });
  };
  const chosenAccounts = ids.map((id): ReadAccount => {
    const configured = accounts.find((account) => account.id === id)?.name ?? null;
    const own = readStoredSettings(configured, args, io);
    return {
      key: id,
      name: isNamed ? nameOf(id) : null,
      called: nameOf(id),
      settings: own,
      problem: null,
      namesOf,
      open: () => open([id], own),
    };
  });
  const nobody: ReadAccount = {
    key: '',
    name: null,
    called: null,
    settings,
    problem: null,
    namesOf,
    open: () => open([]),
  };
  return {
    accounts: ids.length === 0 && !isNamed ? [nobody] : chosenAccounts,
    nameOf,
    open: () => open(ids),
  };
}

/** The only one of the chosen accounts. */
export function onlyOf<A extends NamedAccount>(
  [account, ...more]: readonly A[],
  command: string,
): A {
  if (account?.problem) throw account.problem;
  if (account !== undefined && more.length === 0) return account;
  throw new UsageError(`${command} works on one account at a time`, [
    'name it with --account, and run the command once for each',
  ]);
}

/** Accounts of the configuration file. One that is named alone needs no name in what is shown. */
export function configuredAccounts(
  names: readonly string[] | 'all',
  args: Args,
  io: Io,
): NamedAccount[] {
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
 * Runs something for each account, one after the other, and gives what that gives. An account that
 * fails is named on stderr and does not stop the others; the exit status then says that the result
 * is incomplete, or, when all have failed in the same way, how.
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

/**
 * What concerns the whole command: Ctrl-C, a reader that has gone, an output that cannot be
 * written.
 */
function stopsAll(error: unknown, { signal }: Io): boolean {
  if (signal.aborted || error instanceof ClosedPipe || error instanceof Interrupted) return true;
  return error instanceof CliError && error.exitCode === exitCodes.output;
}

async function ofAccount(name: string, error: unknown): Promise<CliError> {
  const { message, exitCode, hints, detail } = explain(error);
  return new CliError(`account ${name}: ${message}`, { exitCode, hints, detail, cause: error });
}

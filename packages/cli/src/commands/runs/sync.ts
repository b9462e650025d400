import { CallsError } from '@call-attribution/core/errors';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import { textOf } from '@call-attribution/core/time';
import { describe } from '@call-attribution/node-stream/copies';
import { createSyncStatus, type SyncStatus } from '@call-attribution/node-stream/status';
import type { Filter } from '@call-attribution/query-dsl';
import type { Settings } from '@call-attribution/settings';
import { type AccountSyncSummary, type Store, syncAccount } from '@call-attribution/store';
import { type Args, interval } from '../../args.ts';
import { CliError, exitCodes, rootCode, UsageError } from '../../errors.ts';
import { type BadRecords, badRecords, leftOutText, withWayOut } from '../../input/bad-records.ts';
import { watch } from '../../input/verdict.ts';
import { type Io, say } from '../../io.ts';
import { keysOf, needStore, openChosen } from '../../stores/open.ts';
import { type OnFailure, untilOpen } from '../../syncing/repeat.ts';
import { count, duration } from '../../terminal/numbers.ts';
import {
  configuredAccounts,
  contextOf,
  eachAccount,
  keptClients,
  type NamedAccount,
  openNamed,
  planEach,
  typedAccounts,
} from '../typed/accounts.ts';
import { askedPeriod, conditionsOf, filterOf, sayPeriod } from '../typed/filter.ts';
import { sayRetry, serveStatus } from '../typed/repeat.ts';
import { readSettings, readStoredSettings } from '../typed/settings.ts';

/** How often a command syncs, and for what. */
interface SyncScope {
  /** From run to run. */
  readonly everyMs: number | null;
  /** IDs of the accounts that feeds need; empty for those that the options choose. */
  readonly feeds: readonly string[];
  /** Reports a store that cannot be opened yet. */
  readonly onFailure?: OnFailure;
}

/** What a run did for one account. */
export interface SyncRun {
  readonly summary: AccountSyncSummary;
  readonly bad: BadRecords;
  readonly tookMs: number;
}

/** A store, and what brings its accounts up to date. */
export interface Sync {
  readonly store: Store;
  /** How the runs are doing. */
  readonly status: SyncStatus;
  /** Brings each account up to date, with its own credentials; see `eachAccount`. */
  each(report: (run: SyncRun) => number | Promise<number>, onFailure?: OnFailure): Promise<number>;
  close(): Promise<void>;
}

/** The account in metrics; an account without a name is the only one. */
const labelOf = ({ name }: Pick<NamedAccount, 'name'>): string => name ?? 'main';

/** Opens the store that the options and settings name, for the accounts that they choose. */
export async function openSync(
  args: Args,
  io: Io,
  { everyMs, feeds, onFailure }: SyncScope,
): Promise<Sync> {
  const isServing = args.command === 'serve';
  const synced = accountsOf(args, feeds, io);
  const accounts = await planEach(synced, async ({ settings }): Promise<Filter> => {
    const context = contextOf(settings, io);
    const period = await askedPeriod(args, context);
    await sayPeriod(period, context, io);
    return period.moves ? conditionsOf(args, context) : filterOf(args, context);
  });
  const { settings } = synced[0] ?? { settings: readSettings(args, io) };
  const chosen = needStore(
    args.text('store'),
    settings,
    io,
    isServing ? 'calls serve --every' : 'calls sync',
  );
  const lookback = interval(args, 'lookback');
  const status = createSyncStatus({
    every: everyMs ?? Number.POSITIVE_INFINITY,
    accounts: accounts.map(labelOf),
    failsAtOnce: !isServing,
    clock: io.clock,
  });
  const clients = keptClients();
  const clientOf = (account: NamedAccount) =>
    clients.of(account.settings, () => openNamed(account, io));
  const started = new Set<NamedAccount>();
  let stopStatus = (): void => undefined;

  const close = async (): Promise<void> => {
    stopStatus();
    await clients.close();
  };

  try {
    // A missing key is reported before a store is created.
    const [only, ...others] = accounts;
    if (only && others.length === 0) await clientOf(only);
    // calls serve has a status port of its own. Opening the store may have to wait.
    if (!isServing) stopStatus = await serveStatus(args, status, io);
    const open = () => openChosen(chosen, settings, { create: true });
    const store = await untilOpen(
      open,
      everyMs,
      io.signal,
      onFailure ?? sayRetry(everyMs ?? 0, io),
    );
    const once = async (account: (typeof accounts)[0]) => {
      const { name, id, settings, plan: filter } = account;
      const bad = badRecords(args.text('on-bad-record') === 'skip');
      const asked = await askedPeriod(args, contextOf(settings, io));

      // A period that ends now has no end: a sync goes on.
      const to = args.flag('period') || args.flag('to') ? asked.to : null;
      const period = asked.moves ? textOf({ from: asked.from, to }) : null;
      const client = await clientOf(account);
      const { line, onProgress } = watch(io, name === null ? 'sync' : `sync ${name}`);
      const from = performance.now();
      try {
        const summary = await syncAccount(client, store, {
          ...(id === null ? {} : { account: id }),
          ...(period === null ? {} : { period }),
          ...(lookback === null ? {} : { lookback }),
          filter,
          keys: keysOf(settings),
          restart: args.flag('restart') && !started.has(account),
          onError: bad.onError,
          onRefused: bad.refuse,
          onProgress,
          signal: io.signal,
        });
        started.add(account);
        await noteName(store, summary.account, args.text('name'), settings);
        return { summary, bad, tookMs: performance.now() - from };
      } catch (error) {
        if (CallsError.is(error, 'unknown_account'))
          throw new CliError(error.summary, { hints: ['set it with --account'], cause: error });
        throw await withWayOut(error);
      } finally {
        line.close();
        for (const line of bad.names()) say(io, line);
      }
    };
    return {
      store,
      status,
      each: (report, onFailure) =>
        eachAccount(
          accounts,
          args,
          io,
          async (account) => {
            try {
              const run = await once(account);
              status.succeeded(labelOf(account), run.summary);
              return await report(run);
            } catch (error) {
              if (!io.signal.aborted) status.failed(labelOf(account), rootCode(error));
              throw error;
            }
          },
          onFailure,
        ),
      async close() {
        await store.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The accounts to sync, with their IDs in the store. All those of feeds have to be among them. */
function accountsOf(args: Args, feeds: readonly string[], io: Io) {
  const named = namedAccounts(args, feeds, io);
  if (args.text('name') !== null && named.length > 1)
    throw new UsageError('--name is for one account', ['name it with --account']);
  const synced = named.map((account) => ({ ...account, id: idOf(account, args, feeds) }));
  const ids = synced.map(({ id }) => id);
  const missing = feeds.filter((id) => !ids.includes(id));
  if (missing.length > 0)
    throw new UsageError(
      `there are feeds of account ${missing.join(', ')}, and what is synced is account ${ids.join(', ')}`,
      [
        'several accounts need "accounts" in calls.config.json, each with its own credentials and, as "id", the account of its feeds',
      ],
    );
  return synced;
}

/**
 * The accounts that the options choose. Without accounts in the configuration file, --account is
 * the account ID in the store, and the credentials are those outside of accounts.
 */
function namedAccounts(args: Args, ids: readonly string[], io: Io): NamedAccount[] {
  const names = typedAccounts(args);
  const { accounts } = readStoredSettings(null, args, io);
  if (names === 'all' || (names !== null && accounts.length > 0))
    return configuredAccounts(names, args, io);
  const matching = accounts.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
  if (matching.length > 0 && matching.length === ids.length)
    return configuredAccounts(matching, args, io);
  return [{ name: null, settings: readSettings(args, io), problem: null }];
}

/** The ID of an account in the store; null when only its calls tell. */
function idOf({ settings }: NamedAccount, args: Args, ids: readonly string[]): string | null {
  if (settings.account?.id) return settings.account.id;
  const [id = ids[0] ?? null, ...more] = args.list('account');
  if (more.length > 0)
    throw new UsageError('--account names several accounts, and the configuration file has none', [
      'add "accounts" to calls.config.json: each with its own credentials',
    ]);

  if (id !== null && !isAccountName(id))
    throw new UsageError(`${JSON.stringify(id)} is not an account ID: ${accountNameWords}`);
  return id;
}

/**
 * A copy knows the name that was typed for its account; or that of the configuration, unless it has
 * another one.
 */
async function noteName(
  store: Store,
  id: string,
  typed: string | null,
  { account }: Settings,
): Promise<void> {
  const known = (await store.accounts()).find((each) => each.id === id);
  const name = typed ?? (known?.name === id ? account?.name : null) ?? id;
  if (known === undefined || name === known.name || (typed === null && name === id)) return;
  await store.putAccount({ id, name });
}

/** Says what a sync did. Returns the exit status. */
export function saySync({ summary, bad, tookMs }: SyncRun, store: string, io: Io): number {
  const { account, new: added, changed, same, pending, gaps } = summary;
  const figures = [
    `${count(added)} new`,
    `${count(changed)} changed`,
    `${count(same)} the same`,
    ...(pending > 0 ? [`${count(pending)} not final yet`] : []),
  ];
  say(io, `${store}, account ${account}: ${figures.join(', ')} (${duration(tookMs)})`);
  const left = leftOutText(bad);
  if (left !== null) say(io, left);
  const { scope, lacks } = describe(summary);
  if (scope !== null) say(io, `account ${account}: the copy has ${scope}, and answers with these`);
  if (lacks === null) return left === null ? exitCodes.ok : exitCodes.incomplete;
  const next = gaps.every(({ is }) => is === 'unread') ? 'goes on there' : 'reads them again';
  say(io, `account ${account}: ${lacks}; the next run ${next}`);
  return exitCodes.incomplete;
}

import { CallsError } from '@call-attribution/core/errors';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import type { MovingPeriod } from '@call-attribution/node-stream';
import { describeCopy } from '@call-attribution/node-stream/copies';
import { createSyncStatus, type SyncStatus } from '@call-attribution/node-stream/status';
import type { Filter } from '@call-attribution/query-dsl';
import { type AccountSyncSummary, type Store, syncAccount } from '@call-attribution/store';
import type { Args } from '../args.ts';
import { readSettings, readStoredSettings } from '../config/settings.ts';
import { CliError, codeOf, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { configuredAccounts, eachAccount, planEach, typedAccounts } from '../input/accounts.ts';
import { type BadRecords, badRecords, sayBadRecords, withWayOut } from '../input/bad-records.ts';
import { clientsOf, contextOf, type NamedAccount } from '../input/connect.ts';
import type { FilterContext } from '../input/filter.ts';
import { watch } from '../input/verdict.ts';
import { interval } from '../interval.ts';
import { type Io, say } from '../io.ts';
import { keysOf, needStore, openChosen } from '../stores/open.ts';
import { count, duration } from '../terminal/numbers.ts';
import { untilOpen } from './repeat.ts';

/** Which calls a command syncs, and how often. */
interface SyncScope {
  /** The command, for messages. */
  readonly command: string;
  /** IDs of the accounts that are needed. Default: that of the calls. */
  readonly accounts?: readonly string[];
  /** The calls that the options describe; without it all calls. */
  readonly filter?: (context: FilterContext) => Promise<Filter>;
  /** Does the first run read all calls again? */
  readonly restart?: boolean;
  /** The period that moves from run to run. */
  readonly period?: (context: FilterContext) => Promise<MovingPeriod | null>;
  /** From run to run. */
  readonly everyMs: number | null;
  /** Is a failed run reported as "not ready" at once? */
  readonly failsAtOnce?: boolean;
  /** Reports a store that cannot be opened yet. Default: a sentence on stderr. */
  readonly onFailure?: (message: string) => void;
  /** Starts to serve how the runs are doing, before the store is open: that may have to wait. Returns what stops it. */
  readonly serve?: (status: SyncStatus) => Promise<() => void>;
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
  each(
    report: (run: SyncRun) => number | Promise<number>,
    onFailure?: (error: CliError) => unknown,
  ): Promise<number>;
  close(): Promise<void>;
}

/** The account in metrics; an account without a name is the only one. */
const labelOf = ({ name }: Pick<NamedAccount, 'name'>): string => name ?? 'main';

/** Opens the store that the options and settings name, for the accounts that they choose. */
export async function openSync(args: Args, io: Io, scope: SyncScope): Promise<Sync> {
  const ids = scope.accounts ?? [];
  const named = accountsOf(args, ids, io);
  const synced = named.map((account) => ({ ...account, id: idOf(account, args, ids) }));
  refuseOtherFeeds(
    ids,
    synced.map(({ id }) => id),
  );
  const accounts = await planEach(
    synced,
    async ({ settings }): Promise<Filter> =>
      (await scope.filter?.(contextOf(settings, io))) ?? { clauses: [] },
  );
  const { settings } = named[0] ?? { settings: readSettings(args, io) };
  const chosen = needStore(args, settings, io, scope.command);
  const lookback = interval(args, 'lookback');
  const status = createSyncStatus({
    every: scope.everyMs ?? Number.POSITIVE_INFINITY,
    accounts: accounts.map(labelOf),
    failsAtOnce: scope.failsAtOnce,
    clock: io.clock,
  });
  const clients = clientsOf(io, { ask: true });
  const started = new Set<NamedAccount>();
  let stopServing = (): void => undefined;
  const close = async (): Promise<void> => {
    stopServing();
    await clients.close();
  };
  try {
    // A missing key is reported before a store is created.
    const [only, ...others] = accounts;
    if (only && others.length === 0) await clients.of(only);
    if (scope.serve) stopServing = await scope.serve(status);
    const store = await untilOpen(() => openChosen(chosen, settings, { create: true }), scope, io);
    const once = async (account: (typeof accounts)[0]) => {
      const { name, id, settings, plan: filter } = account;
      const bad = badRecords(args, io);
      const period = (await scope.period?.(contextOf(settings, io))) ?? null;
      const client = await clients.of(account);
      const { line, onProgress } = watch(io, name === null ? 'sync' : `sync ${name}`);
      const from = performance.now();
      try {
        const summary = await syncAccount(client, store, {
          ...(id === null ? {} : { account: id }),
          ...(period === null ? {} : { period }),
          ...(lookback === null ? {} : { lookback }),
          filter,
          keys: keysOf(settings),
          restart: scope.restart === true && !started.has(account),
          onError: bad.onError,
          onRefused: bad.refuse,
          onProgress,
          signal: io.signal,
        });
        started.add(account);
        return { summary, bad, tookMs: performance.now() - from };
      } catch (error) {
        if (CallsError.is(error, 'unknown_account'))
          throw new CliError(error.summary, { hints: ['set it with --account'], cause: error });
        throw await withWayOut(error);
      } finally {
        line.close();
        bad.sayNames();
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
              status.succeeded(labelOf(account), run.summary, run.tookMs);
              return await report(run);
            } catch (error) {
              if (!io.signal.aborted) status.failed(labelOf(account), codeOf(error));
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

/**
 * The accounts to sync. Without accounts in the configuration file, --account is the account ID in the store, and the
 * credentials are those outside of accounts.
 */
function accountsOf(args: Args, ids: readonly string[], io: Io): NamedAccount[] {
  const names = typedAccounts(args);
  const { accounts } = readStoredSettings(null, args, io);
  if (names === 'all' || (names !== null && accounts.length > 0)) return configuredAccounts(names, args, io);
  const matching = accounts.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
  if (matching.length > 0 && matching.length === ids.length) return configuredAccounts(matching, args, io);
  return [{ name: null, settings: readSettings(args, io), problem: null }];
}

/** The ID of an account in the store; null when only its calls tell. */
function idOf({ settings }: NamedAccount, args: Args, ids: readonly string[]): string | null {
  if (settings.account?.id) return settings.account.id;
  const [id = ids[0] ?? null, ...more] = args.list('account');
  if (more.length > 0)
    throw new UsageError('--account names several accounts, and the configuration file has none', {
      hints: ['add "accounts" to calls.config.json: each with its own credentials'],
    });
  if (id !== null && !isAccountName(id)) throw new UsageError(`--account must be ${accountNameWords}`);
  return id;
}

/** Refuses feeds of accounts that nothing syncs. */
function refuseOtherFeeds(ids: readonly string[], synced: readonly (string | null)[]): void {
  const missing = ids.filter((id) => !synced.includes(id));
  if (missing.length === 0) return;
  throw new UsageError(
    `there are feeds of account ${missing.join(', ')}, and what is synced is account ${synced.join(', ')}`,
    {
      hints: [
        'several accounts need "accounts" in calls.config.json, each with its own credentials and, as "id", the account of its feeds',
      ],
    },
  );
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
  const code = sayBadRecords(bad, io);
  const lacks = describeCopy(summary);
  if (lacks === null) return code;
  const next = gaps.every(({ is }) => is === 'unread') ? 'goes on there' : 'reads them again';
  say(io, `account ${account}: ${lacks}; the next run ${next}`);
  return exitCodes.incomplete;
}

import type { Client } from '@call-attribution/core';
import {
  type MovingPeriod,
  type SyncSummary,
  syncInto,
  type UpsertSink,
} from '@call-attribution/node-stream';
import { createSyncStatus, type SyncStatus } from '@call-attribution/node-stream/status';
import type { Filter } from '@call-attribution/query-dsl';
import { eachAccount, type NamedAccount, planEach } from '../accounts/each-account.ts';
import type { Args } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import {
  type BadRecords,
  badRecords,
  sayBadRecords,
  toleratingSink,
  withWayOut,
} from '../bad-records/policy.ts';
import { chooseStore } from '../calls/choose-store.ts';
import { contextOf, openClient } from '../calls/connect.ts';
import { type FilterContext, withExtensions } from '../calls/filter.ts';
import { watch } from '../calls/reading.ts';
import { refusePassword } from '../calls/store-url.ts';
import { readSettings, readStoredSettings } from '../config/settings.ts';
import { CliError, codeOf, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { count, duration } from '../term/numbers.ts';
import { configuredAccounts, typedAccounts } from '../warehouse/accounts.ts';
import { untilOpen } from './repeat.ts';
import { type Copy, openCopy, refuseStrangeCopy } from './sync-copy.ts';

/** What a run of a sync did. */
export interface SyncRun {
  readonly summary: SyncSummary;
  readonly bad: BadRecords;
  /** Milliseconds. */
  readonly took: number;
}

/** An account of a copy with everything that brings it up to date. */
export interface SyncJob {
  /** The ID of the account in the copy. */
  readonly account: string;
  /** Brings the copy up to date. */
  once(): Promise<SyncRun>;
}

/** A copy, and what fills it from each account. */
export interface SyncJobs {
  readonly copy: Copy;
  /** How many accounts there are. */
  readonly count: number;
  /** How the runs are doing. */
  readonly status: SyncStatus;
  /** Runs something with each account, with the credentials of that account; see `eachAccount`. */
  each(run: (job: SyncJob) => Promise<number>, onFailure?: (error: CliError) => unknown): Promise<number>;
  close(): Promise<void>;
}

/** Which calls a command syncs. */
interface SyncScope {
  /** The command, for messages. */
  readonly command: string;
  /** IDs of the accounts that are needed. Default: that of the calls. */
  readonly accounts?: readonly string[];
  /** The calls that the options describe; without it all calls. */
  readonly filter?: (context: FilterContext) => Filter;
  /** Does the first run read all calls again? */
  readonly restart?: boolean;
  /** The period that moves from run to run. */
  readonly period?: (context: FilterContext) => MovingPeriod | null;
  /** Milliseconds from run to run. */
  readonly every: number | null;
  /** Is a failed run reported as "not ready" at once? */
  readonly failsAtOnce?: boolean;
  /** Reports a copy that cannot be opened yet. Default: a sentence on stderr. */
  readonly onFailure?: (message: string) => void;
  /** Starts to serve how the runs are doing, before the copy is open: that may have to wait. Returns what stops it. */
  readonly serve?: (status: SyncStatus) => Promise<() => void>;
}

/** Opens the store that the options and settings name, for the accounts that they choose. */
export async function openSync(args: Args, io: Io, scope: SyncScope): Promise<SyncJobs> {
  const lookback = interval(args, 'lookback');
  const accounts = await planEach(accountsOf(args, scope, io), ({ settings }) => ({
    filter: scope.filter?.(contextOf(settings, io)) ?? { clauses: [] },
  }));
  const idOf = ({ settings }: NamedAccount): string | null =>
    settings.account?.id ?? storeAccount(args) ?? scope.accounts?.[0] ?? null;
  const missing = scope.accounts?.filter((id) => !accounts.some((account) => idOf(account) === id)) ?? [];
  if (missing.length > 0) throw strangeFeeds(missing, accounts.map(idOf));
  const chosen = chooseStore(args, (accounts[0] as NamedAccount).settings, io);
  if (chosen === null) {
    throw new UsageError(`${scope.command} needs a store: --store sqlite:calls.db`, {
      hints: [
        'or duckdb:calls.duckdb, to ask it questions',
        'or postgres://user@host/name, with the password in PGPASSWORD',
      ],
    });
  }
  if (chosen.isTyped) refusePassword(chosen.url);
  refuseStrangeCopy(chosen, io);
  const [only] = accounts;
  // A missing key is reported before a store is created.
  const first = accounts.length === 1 && only ? await openClient(only.settings, args, io) : null;
  const clients = new Map<string | null, Client>(first ? [[only?.name ?? null, first]] : []);
  const status = createSyncStatus({
    every: scope.every ?? Number.POSITIVE_INFINITY,
    accounts: accounts.map(labelOf),
    failsAtOnce: scope.failsAtOnce,
    now: () => io.now().getTime(),
  });
  let stopStatus: (() => void) | undefined;
  const close = async (): Promise<void> => {
    stopStatus?.();
    for (const client of clients.values()) await client.close();
  };
  const open = async (): Promise<Copy> => {
    stopStatus = await scope.serve?.(status);
    return untilOpen(() => openCopy(chosen, io), scope, io);
  };
  const copy = await open().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const jobs = new Map<string | null, SyncJob>();
  const jobOf = async ({ name, settings, plan: { filter } }: (typeof accounts)[number]): Promise<SyncJob> => {
    const known = jobs.get(name);
    if (known) return known;
    const client = clients.get(name) ?? (await openClient(settings, args, io));
    clients.set(name, client);
    const account = await accountOf(idOf({ name, settings }), client, io);
    await copy.prepare(account, settings);
    const version = settings.apiVersion.value;
    // A copy serves v2 as well, which has the calls that v3 leaves out by default.
    const all = version === 'v3' ? withExtensions(filter) : filter;
    let restarts = scope.restart === true;
    const besides = [copy.file ?? 'calls', ...(name === null ? [] : [name])].join('.');
    const job: SyncJob = {
      account,
      async once() {
        const bad = badRecords(args, io, { version, account, besides });
        const from = performance.now();
        const { line, onProgress } = watch(io, name === null ? 'sync' : `sync ${name}`);
        const sink = toleratingSink(copy.sink(account), bad);
        const period = scope.period?.(contextOf(settings, io)) ?? null;
        const summary = await syncInto(client, restarts ? startingOver(sink) : sink, {
          filter: all,
          ...(period === null ? {} : { period }),
          onError: bad.onError,
          ...(lookback === null ? {} : { lookback }),
          onProgress,
          signal: io.signal,
        })
          .catch(async (error: unknown) => Promise.reject(await withWayOut(error)))
          .finally(() => line.end());
        restarts = false;
        const took = performance.now() - from;
        status.succeeded(labelOf({ name }), summary, took);
        return { summary, bad, took };
      },
    };
    jobs.set(name, job);
    return job;
  };
  return {
    copy,
    count: accounts.length,
    status,
    each: (run, onFailure) =>
      eachAccount(
        accounts,
        args,
        io,
        async (account) => {
          try {
            return await run(await jobOf(account));
          } catch (error) {
            if (!io.signal.aborted) status.failed(labelOf(account), codeOf(error));
            throw error;
          }
        },
        onFailure,
      ),
    async close() {
      await copy.close();
      await close();
    },
  };
}

/** The account in metrics; an account without a name is the only one. */
const labelOf = ({ name }: Pick<NamedAccount, 'name'>): string => name ?? 'main';

function strangeFeeds(missing: readonly string[], synced: readonly (string | null)[]): UsageError {
  return new UsageError(
    `there are feeds of account ${missing.join(', ')}, and what is synced is account ${synced.join(', ')}`,
    {
      hints: [
        'several accounts need "accounts" in calls.config.json, each with its own credentials and, as "id", the account of its feeds',
      ],
    },
  );
}

/** The account ID in the store that --account names, where the configuration file has no accounts. */
function storeAccount(args: Args): string | null {
  const [id = null, ...more] = args.list('account');
  if (more.length === 0) return id;
  throw new UsageError('--account names several accounts, and the configuration file has none', {
    hints: ['add "accounts" to calls.config.json: each with its own credentials'],
  });
}

/**
 * The accounts to sync. Without accounts in the configuration file, --account is the account ID in the store, and the
 * credentials are those outside of accounts.
 */
function accountsOf(args: Args, { accounts: ids = [] }: SyncScope, io: Io): NamedAccount[] {
  const names = typedAccounts(args);
  const { accounts } = readStoredSettings(null, args, io);
  if (names === 'all' || (names !== null && accounts.length > 0)) return configuredAccounts(names, args, io);
  const matching = accounts.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
  if (matching.length > 0 && matching.length === ids.length) return configuredAccounts(matching, args, io);
  return [{ name: null, settings: readSettings(args, io) }];
}

/** A sink that forgets where the sync was. */
const startingOver = (sink: UpsertSink): UpsertSink => ({
  ...sink,
  load: async () => {
    // It also takes the account for this process.
    await sink.load();
    return null;
  },
});

/** Says what a sync did. Returns the exit status. */
export function saySync(
  { summary, bad, took }: SyncRun,
  { account, name }: { readonly account: string; readonly name: string },
  io: Io,
): number {
  const { new: added, changed, same, gone, pending } = summary;
  const figures = [
    `${count(added)} new`,
    `${count(changed)} changed`,
    `${count(same)} the same`,
    ...(gone > 0 ? [`${count(gone)} no longer on the server`] : []),
    ...(pending > 0 ? [`${count(pending)} not final yet`] : []),
  ];
  say(io, `${name}, account ${account}: ${figures.join(', ')} (${duration(took)})`);
  return sayBadRecords(bad, summary.skipped, io);
}

async function accountOf(given: string | null, client: Client, io: Io): Promise<string> {
  if (given !== null && !/^[\w.-]{1,64}$/.test(given))
    throw new UsageError('--account must be at most 64 letters, digits, dots, dashes and underscores');
  if (given !== null) return given;
  const { records } = await client.listCalls({ rows: 1, signal: io.signal });
  const id = records[0]?.acct_id;
  if (typeof id === 'string' && id !== '') return id;
  throw new CliError('the account has no calls yet, so its ID is unknown', {
    hints: ['set it with --account'],
  });
}

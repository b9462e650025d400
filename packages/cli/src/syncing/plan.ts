import type { MovingPeriod } from '@call-attribution/node-stream';
import type { SyncStatus } from '@call-attribution/node-stream/status';
import type { Filter } from '@call-attribution/query-dsl';
import type { Args } from '../args/command.ts';
import { readSettings, readStoredSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { configuredAccounts, typedAccounts } from '../reading/accounts.ts';
import { contextOf } from '../reading/connect.ts';
import { type NamedAccount, type Planned, planEach, type Ready } from '../reading/each-account.ts';
import type { FilterContext } from '../reading/filter.ts';
import { type ChosenStore, chooseStore } from '../stores/choose.ts';
import { type CopyOptions, refuseStrangeCopy } from '../stores/copy.ts';
import { refusePassword } from '../stores/url.ts';

/** Which calls a command syncs, and how often. */
export interface SyncScope {
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
  /** From run to run. */
  readonly everyMs: number | null;
  /** Is a failed run reported as "not ready" at once? */
  readonly failsAtOnce?: boolean;
  /** How the copy is opened. */
  readonly copy?: CopyOptions;
  /** Reports a copy that cannot be opened yet. Default: a sentence on stderr. */
  readonly onFailure?: (message: string) => void;
  /** Starts to serve how the runs are doing, before the copy is open: that may have to wait. Returns what stops it. */
  readonly serve?: (status: SyncStatus) => Promise<() => void>;
}

/** An account to sync. */
export interface SyncAccount extends NamedAccount {
  /** Its ID in the copy; null when only its calls tell. */
  readonly id: string | null;
}

/** What is synced into what. */
export interface SyncPlan {
  /** The accounts, each with the calls that are synced. */
  readonly accounts: readonly Planned<SyncAccount, Filter>[];
  readonly store: ChosenStore;
}

/** An account whose settings are right. */
export type ReadyAccount = Ready<SyncPlan['accounts'][number]>;

/** Works out what is synced from the options and settings; what is wrong with them is found before anything is opened. */
export async function planSync(args: Args, io: Io, scope: SyncScope): Promise<SyncPlan> {
  const synced = accountsOf(args, scope, io).map((account) => ({
    ...account,
    id: account.settings.account?.id ?? storeAccount(args) ?? scope.accounts?.[0] ?? null,
  }));
  const missing = scope.accounts?.filter((id) => !synced.some((account) => account.id === id)) ?? [];
  if (missing.length > 0) throw strangeFeeds(missing, synced);
  const accounts = await planEach(
    synced,
    ({ settings }): Filter => scope.filter?.(contextOf(settings, io)) ?? { clauses: [] },
  );
  const [first] = accounts;
  const store = first ? chooseStore(args, first.settings, io) : null;
  if (store === null) {
    throw new UsageError(`${scope.command} needs a store: --store sqlite:calls.db`, {
      hints: [
        'or duckdb:calls.duckdb, to ask it questions',
        'or postgres://user@host/name, with the password in PGPASSWORD',
      ],
    });
  }
  if (store.isTyped) refusePassword(store.url);
  refuseStrangeCopy(store, io);
  return { accounts, store };
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

/** The account ID in the store that --account names, where the configuration file has no accounts. */
function storeAccount(args: Args): string | null {
  const [id = null, ...more] = args.list('account');
  if (more.length === 0) return id;
  throw new UsageError('--account names several accounts, and the configuration file has none', {
    hints: ['add "accounts" to calls.config.json: each with its own credentials'],
  });
}

function strangeFeeds(missing: readonly string[], synced: readonly SyncAccount[]): UsageError {
  const names = synced.map(({ id }) => id).join(', ');
  return new UsageError(
    `there are feeds of account ${missing.join(', ')}, and what is synced is account ${names}`,
    {
      hints: [
        'several accounts need "accounts" in calls.config.json, each with its own credentials and, as "id", the account of its feeds',
      ],
    },
  );
}

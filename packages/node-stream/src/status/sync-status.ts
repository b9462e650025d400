import {
  type Clock,
  type Duration,
  deadlineMillis,
  systemClock,
} from '@call-attribution/core/time';
import { describe, type Verdict } from '../verdict.ts';
import { type MetricFamily, metricsText, type StatusSource } from './status.ts';

/** What a call may be to a copy that reads it. */
export type RowKind = 'new' | 'changed' | 'same' | 'skipped';
const kinds: readonly RowKind[] = ['new', 'changed', 'same', 'skipped'];

/** What a sync did with its rows. */
export type SyncCounts = Readonly<Record<RowKind | 'missing', number>> & Verdict;

/** How repeated syncs are doing, for health checks and metrics. */
export interface SyncStatus extends StatusSource {
  /** Records that the sync of an account succeeded. */
  succeeded(account: string, counts: SyncCounts): void;
  /** Records that the sync of an account failed, with the code of the error. */
  failed(account: string, code: string): void;
  /**
   * What keeps the copy from being ready, in one sentence; null when all accounts are fresh and
   * whole.
   */
  readonly ready: () => string | null;
  /** In the text format of Prometheus. */
  readonly metrics: () => string;
}

/** How `createSyncStatus` judges syncs. */
export interface SyncStatusOptions {
  /** Time between two syncs; `Infinity` for one that is not repeated. */
  readonly every: Duration;
  /** Names of the accounts. With more than one they become a label. */
  readonly accounts: readonly string[];
  /**
   * A failed sync means "not ready" at once. Default: only when the last success is older than
   * three intervals.
   */
  readonly failsAtOnce?: boolean | undefined;
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

interface AccountState {
  last: { readonly at: number; readonly counts: SyncCounts } | null;
  /** The code of the failure after it; null when there was none. */
  failure: string | null;
  readonly runs: { ok: number; failed: number };
  readonly rows: Record<RowKind, number>;
  readonly errors: Record<string, number>;
}

/** Intervals without a sync that succeeds, after which the copy is no longer fresh. */
const patience = 3;

/** Starts to watch syncs that run at an interval. */
export function createSyncStatus(options: SyncStatusOptions): SyncStatus {
  const { accounts, failsAtOnce = false, clock = systemClock } = options;
  const every = deadlineMillis(options.every, 'every');
  const states = new Map<string, AccountState>();

  const stateOf = (account: string): AccountState => {
    const state: AccountState = states.get(account) ?? {
      last: null,
      failure: null,
      runs: { ok: 0, failed: 0 },
      rows: { new: 0, changed: 0, same: 0, skipped: 0 },
      errors: {},
    };
    states.set(account, state);
    return state;
  };

  for (const account of accounts) stateOf(account);

  const problemOf = ([account, { last, failure }]: [string, AccountState]): string[] => {
    const of = states.size > 1 ? ` of account ${account}` : '';
    if (failsAtOnce && failure !== null) return [`the last sync${of} failed: ${failure}`];
    if (last === null) return [`no sync${of} has finished yet`];
    const age = clock.now() - last.at;
    if (age > patience * every) return [`the last sync${of} succeeded ${ago(age)} ago`];
    const lacks = describe(last.counts).lacks;
    return lacks === null ? [] : [`the copy${of} is not whole: ${lacks}`];
  };

  return {
    succeeded(account, counts) {
      const state = stateOf(account);
      state.last = { at: clock.now(), counts };
      state.failure = null;
      state.runs.ok += 1;
      for (const kind of kinds) state.rows[kind] += counts[kind];
    },
    failed(account, code) {
      const state = stateOf(account);
      state.failure = code;
      state.runs.failed += 1;
      state.errors[code] = (state.errors[code] ?? 0) + 1;
    },
    ready: () => [...states].flatMap(problemOf)[0] ?? null,
    metrics: () => metricsText(familiesOf(states, clock.now())),
  };
}

function familiesOf(states: ReadonlyMap<string, AccountState>, now: number): MetricFamily[] {
  type Values = (state: AccountState) => Record<string, number>;

  /** A value of each account, or one for each value of a label. */
  const family = (
    ...[name, help, label, of]: [string, string, string | null, Values]
  ): MetricFamily => ({
    name,
    help,
    type: label === null ? 'gauge' : 'counter',
    samples: [...states].flatMap(([account, state]) =>
      Object.entries(of(state)).map(([text, value]) => ({
        value,
        labels: {
          ...(label === null ? {} : { [label]: text }),
          ...(states.size > 1 ? { account } : {}),
        },
      })),
    ),
  });

  /** A value of the last sync of each account that succeeded. */
  const gauge = (
    name: string,
    help: string,
    of: (last: NonNullable<AccountState['last']>) => number,
  ) => family(name, help, null, ({ last }) => (last === null ? {} : { value: of(last) }));

  return [
    family('calls_sync_runs_total', 'Syncs.', 'result', ({ runs }) => runs),
    family('calls_sync_rows_total', 'Calls by what became of them.', 'kind', ({ rows }) => rows),
    family(
      'calls_sync_errors_total',
      'Syncs that failed, by code.',
      'code',
      ({ errors }) => errors,
    ),
    gauge(
      'calls_sync_missing',
      'Calls that the copy is known to lack.',
      ({ counts }) => counts.missing,
    ),
    gauge(
      'calls_sync_gaps',
      'Stretches of the copy that are not whole.',
      ({ counts }) => counts.gaps.length,
    ),
    gauge('calls_sync_last_success_timestamp_seconds', 'When a sync last succeeded.', ({ at }) =>
      Math.floor(at / 1000),
    ),
    gauge('calls_sync_lag_seconds', 'Time since then.', ({ at }) => Math.round((now - at) / 1000)),
  ];
}

function ago(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 2 ? `${Math.round(milliseconds / 1000)} seconds` : `${minutes} minutes`;
}

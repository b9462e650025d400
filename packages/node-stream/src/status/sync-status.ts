import { type Clock, type Duration, deadlineMillis, systemClock } from '@call-attribution/core/time';
import { type CopyVerdict, describeCopy } from '../sync/verdict.ts';
import { type MetricFamily, metricsText } from './metrics-text.ts';
import type { StatusSource } from './status-reply.ts';

const kinds = ['new', 'changed', 'same', 'skipped'] as const;

/** What a sync did with its rows. */
export type SyncCounts = Readonly<Record<'new' | 'changed' | 'same' | 'skipped' | 'pending', number>> &
  CopyVerdict;

/** How repeated syncs are doing, for health checks and metrics. */
export interface SyncStatus extends StatusSource {
  /** Records that the sync of an account succeeded. */
  succeeded(account: string, counts: SyncCounts, milliseconds: number): void;
  /** Records that the sync of an account failed, with the code of the error. */
  failed(account: string, code: string): void;
  /** Records that another process syncs the account, so that nothing is expected of this one. */
  leftToOthers(account: string): void;
  /** What keeps the copy from being ready, in one sentence; null when all accounts are fresh and whole. */
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
  /** A failed sync means "not ready" at once. Default: only when the last success is older than three intervals. */
  readonly failsAtOnce?: boolean | undefined;
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

interface AccountState {
  lastSuccess: number | null;
  lastFailure: string | null;
  isOthers: boolean;
  seconds: number;
  pending: number;
  missing: number;
  gaps: number;
  /** What the copy lacks, in words; null when it is whole. */
  lacks: string | null;
  readonly runs: { ok: number; failed: number };
  readonly rows: Record<(typeof kinds)[number], number>;
  readonly errors: Map<string, number>;
}

/** Intervals without a sync that succeeds, after which the copy is no longer fresh. */
const patience = 3;

/** Starts to watch syncs that run at an interval. */
export function createSyncStatus(options: SyncStatusOptions): SyncStatus {
  const { accounts, failsAtOnce = false, clock = systemClock } = options;
  const every = deadlineMillis(options.every, 'every');
  const states = new Map(accounts.map((account) => [account, initial()]));
  const stateOf = (account: string): AccountState => {
    const state = states.get(account) ?? initial();
    states.set(account, state);
    return state;
  };
  const problemOf = (account: string, state: AccountState): string | null => {
    const of = states.size > 1 ? ` of account ${account}` : '';
    const { lastSuccess, lastFailure } = state;
    if (state.isOthers) return null;
    if (failsAtOnce && lastFailure !== null) return `the last sync${of} failed: ${lastFailure}`;
    if (lastSuccess === null) return `no sync${of} has finished yet`;
    const age = clock.now() - lastSuccess;
    if (age > patience * every) return `the last sync${of} succeeded ${ago(age)} ago`;
    return state.lacks === null ? null : `the copy${of} is not whole: ${state.lacks}`;
  };
  return {
    succeeded(account, counts, milliseconds) {
      const state = stateOf(account);
      state.lastSuccess = clock.now();
      state.lastFailure = null;
      state.isOthers = false;
      state.seconds = milliseconds / 1000;
      state.pending = counts.pending;
      state.missing = counts.missing;
      state.gaps = counts.gaps.length;
      state.lacks = describeCopy(counts);
      state.runs.ok += 1;
      for (const kind of kinds) state.rows[kind] += counts[kind];
    },
    failed(account, code) {
      const state = stateOf(account);
      state.lastFailure = code;
      state.isOthers = false;
      state.runs.failed += 1;
      state.errors.set(code, (state.errors.get(code) ?? 0) + 1);
    },
    leftToOthers(account) {
      stateOf(account).isOthers = true;
    },
    ready() {
      for (const [account, state] of states) {
        const problem = problemOf(account, state);
        if (problem !== null) return problem;
      }
      return null;
    },
    metrics: () => metricsText(familiesOf(states, clock.now())),
  };
}

const initial = (): AccountState => ({
  lastSuccess: null,
  lastFailure: null,
  isOthers: false,
  seconds: 0,
  pending: 0,
  missing: 0,
  gaps: 0,
  lacks: null,
  runs: { ok: 0, failed: 0 },
  rows: { new: 0, changed: 0, same: 0, skipped: 0 },
  errors: new Map(),
});

function familiesOf(states: ReadonlyMap<string, AccountState>, now: number): MetricFamily[] {
  /** The values of each state by the value of a label, or one value under the empty name; null leaves it out. */
  const family = (
    name: string,
    type: MetricFamily['type'],
    help: string,
    label: string,
    values: (state: AccountState) => Iterable<readonly [string, number | null]>,
  ): MetricFamily => ({
    name,
    type,
    help,
    samples: [...states].flatMap(([account, state]) =>
      [...values(state)].flatMap(([text, value]) => {
        const labels = { ...(text && { [label]: text }), ...(states.size > 1 && { account }) };
        return value === null ? [] : [{ value, labels }];
      }),
    ),
  });
  const gauge = (name: string, help: string, value: (state: AccountState) => number | null) =>
    family(name, 'gauge', help, '', (state) => [['', value(state)]]);
  return [
    family('calls_sync_runs_total', 'counter', 'Syncs.', 'result', ({ runs }) => Object.entries(runs)),
    family('calls_sync_rows_total', 'counter', 'Calls by what became of them.', 'kind', ({ rows }) =>
      Object.entries(rows),
    ),
    family(
      'calls_sync_errors_total',
      'counter',
      'Syncs that failed, by code.',
      'code',
      ({ errors }) => errors,
    ),
    gauge('calls_sync_pending', 'Calls whose attribution is not final.', ({ pending }) => pending),
    gauge('calls_sync_missing', 'Calls that the server counts and the copy lacks.', ({ missing }) => missing),
    gauge('calls_sync_gaps', 'Stretches of the copy that are not whole.', ({ gaps }) => gaps),
    gauge('calls_sync_last_success_timestamp_seconds', 'When a sync last succeeded.', ({ lastSuccess }) =>
      lastSuccess === null ? null : Math.floor(lastSuccess / 1000),
    ),
    gauge('calls_sync_lag_seconds', 'Time since then.', ({ lastSuccess }) =>
      lastSuccess === null ? null : Math.round((now - lastSuccess) / 1000),
    ),
    gauge('calls_sync_seconds', 'How long that sync took.', ({ seconds }) => Number(seconds.toFixed(3))),
  ];
}

function ago(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 2 ? `${Math.round(milliseconds / 1000)} seconds` : `${minutes} minutes`;
}

import { type MetricFamily, metricsText, type StatusSource } from '@call-attribution/node-stream/status';
import type { Board } from '../board/board.ts';
import { plainOf, workersOn } from '../lanes/board-values.ts';
import type { WorkerEvent } from '../worker/events.ts';
import { type FleetStatus, readStatus } from './status.ts';

/** The metrics of one worker, and the figures of its job as the board knows them. */
export interface WorkerMetrics extends StatusSource {
  /** Counts an event; for `onEvent` of `createWorker`. */
  observe(event: WorkerEvent): void;
  /** What keeps the worker from working, in one sentence; null when nothing does. */
  readonly ready: () => string | null;
  /** In the text format of Prometheus. */
  readonly metrics: () => string;
}

const outcomes = ['committed', 'done', 'lost', 'later', 'aside', 'dropped'] as const;
const waits = ['rate', 'server', 'target', 'board'] as const;
const writes = ['won', 'lost', 'failed'] as const;

/** Upper bounds of the times of a write to the board, in seconds. */
const bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

const zeros = <K extends string>(names: readonly K[]): Record<K, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;

/**
 * Metrics and health of a worker: counts its events, and adds what the board says about the job. No label names an account, so that
 * the number of series does not grow with the accounts.
 *
 * @param name the worker's name, for its slots.
 * @example
 * const metrics = createWorkerMetrics(board, name);
 * const worker = createWorker({ board, credentials, name, onEvent: metrics.observe });
 */
export function createWorkerMetrics(board: Board, name: string): WorkerMetrics {
  const parcels = zeros(outcomes);
  const waited = zeros(waits);
  const written = zeros(writes);
  const buckets = bounds.map(() => 0);
  let [records, requests, seconds] = [0, 0, 0];
  let resting: string | null = null;

  const observe = (event: WorkerEvent): void => {
    switch (event.kind) {
      case 'parcel':
        parcels[event.outcome]++;
        if (event.outcome === 'committed') records += event.records;
        requests += event.requests;
        break;
      case 'worker':
        resting = event.state === 'resting' ? (event.why ?? 'it rests') : null;
        break;
      case 'board':
        written[event.outcome]++;
        seconds += event.seconds;
        for (const [at, bound] of bounds.entries())
          if (event.seconds <= bound) buckets[at] = (buckets[at] ?? 0) + 1;
        break;
      case 'wait':
        waited[event.for] += event.seconds;
        break;
      case 'account':
        break;
    }
  };

  const families = (): MetricFamily[] => {
    const count = Object.values(written).reduce((sum, each) => sum + each, 0);
    return [
      counter('fleet_records_total', 'Records that this worker committed.', records),
      counter('fleet_requests_total', 'Requests for parcels of this worker.', requests),
      labelled('counter', 'fleet_parcels_total', 'Parcels taken by this worker.', 'outcome', parcels),
      counter('fleet_claims_lost_total', 'Parcels that another worker claimed meanwhile.', parcels.lost),
      labelled('counter', 'fleet_wait_seconds_total', 'Time that slots waited.', 'for', waited),
      labelled('gauge', 'fleet_slots', 'Slots of this worker.', 'state', slotsOf(board, name)),
      labelled('counter', 'fleet_board_writes_total', 'Writes to the board.', 'outcome', written),
      writeSeconds(buckets, count, seconds),
      ...jobFamilies(board),
    ];
  };

  return {
    observe,
    ready: () => {
      if (board.contactSince === null) return `the board ${board.name} does not answer`;
      return resting === null ? null : `it rests: ${resting}`;
    },
    metrics: () => metricsText(families()),
  };
}

/** How long the writes took: how many were within each bound, how many there were, and their sum. */
const writeSeconds = (buckets: readonly number[], count: number, seconds: number): MetricFamily => ({
  name: 'fleet_board_write_seconds',
  type: 'histogram',
  help: 'How long writes to the board took.',
  samples: [
    ...bounds.map((le, at) => ({
      value: buckets[at] ?? 0,
      labels: { le: String(le) },
      suffix: '_bucket' as const,
    })),
    { value: count, labels: { le: '+Inf' }, suffix: '_bucket' },
    { value: rounded(seconds), suffix: '_sum' },
    { value: count, suffix: '_count' },
  ],
});

const rounded = (value: number): number => Number(value.toFixed(6));

const counter = (name: string, help: string, value: number): MetricFamily => ({
  name,
  type: 'counter',
  help,
  samples: [{ value }],
});

const gauge = (name: string, help: string, value: number | null): MetricFamily => ({
  name,
  type: 'gauge',
  help,
  samples: value === null ? [] : [{ value }],
});

const labelled = (
  type: MetricFamily['type'],
  name: string,
  help: string,
  label: string,
  values: Readonly<Record<string, number>>,
): MetricFamily => ({
  name,
  type,
  help,
  samples: Object.entries(values).map(([text, value]) => ({
    value: rounded(value),
    labels: { [label]: text },
  })),
});

function slotsOf(board: Board, name: string): { busy: number; idle: number } {
  for (const [token, { value }] of workersOn(board))
    if (plainOf(token) === name) return { busy: value.busy, idle: Math.max(0, value.slots - value.busy) };
  return { busy: 0, idle: 0 };
}

/** What the board says about the job. Every worker reports the same, so alerts take the maximum. */
function jobFamilies(board: Board): MetricFamily[] {
  let status: FleetStatus;
  try {
    status = readStatus(board);
  } catch {
    // The live copy has no job yet.
    return [];
  }
  const { phases, parcels, records, syncLagMs, accounts } = status;
  const failing = accounts.filter(({ trouble }) => trouble?.kind === 'failing').length;
  return [
    labelled('gauge', 'fleet_job_accounts', 'Accounts of the job.', 'phase', phases),
    gauge('fleet_job_accounts_failing', 'Accounts that have been failing for ten minutes or more.', failing),
    labelled('gauge', 'fleet_job_parcels', 'Parcels of the job.', 'state', {
      done: parcels.done,
      open: Math.max(0, parcels.total - parcels.done - parcels.aside),
      aside: parcels.aside,
    }),
    labelled('gauge', 'fleet_job_records', 'Records of the job.', 'state', {
      done: records.done,
      open: Math.max(0, records.total - records.done),
    }),
    gauge(
      'fleet_sync_lag_seconds',
      'Time since the last sync of the account that waits longest for one.',
      syncLagMs === null ? null : Math.round(syncLagMs / 1000),
    ),
  ];
}

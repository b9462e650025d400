import {
  type MetricFamily,
  metricsText,
  type StatusSource,
} from '@call-attribution/node-stream/status';
import type { FleetStatus } from './status.ts';
import type { Worker, WorkerEvent } from './worker/worker.ts';

/** The metrics of one worker, and the figures of its job as the engine knows them. */
export interface WorkerMetrics extends StatusSource {
  /** Counts an event; for `onEvent` of `createWorker`. */
  observe(event: WorkerEvent): void;
  /** What keeps the worker from working, in one sentence; null when nothing does. */
  readonly ready: () => string | null;
  /** In the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
}

const outcomes = ['cut', 'round', 'later', 'aside', 'lost', 'dropped'] as const;

/**
 * Metrics and health of a worker: counts its events, and adds what the engine says about the job.
 * No label names an account, so that the number of series does not grow with the accounts.
 *
 * @param worker the worker, once there is one.
 * @param status how the job is; null while nobody knows.
 */
export function createWorkerMetrics(
  worker: () => Pick<Worker, 'card' | 'trouble'> | null,
  status: () => Promise<FleetStatus | null>,
): WorkerMetrics {
  const turns = Object.fromEntries(outcomes.map((name) => [name, 0]));
  let calls = 0;
  let requests = 0;
  return {
    observe(event) {
      if (event.kind !== 'turn') return;
      turns[event.outcome] = (turns[event.outcome] ?? 0) + 1;
      calls += event.calls;
      requests += event.requests;
    },
    ready: () => worker()?.trouble ?? null,
    async metrics() {
      const card = worker()?.card;
      const slots = {
        busy: card?.accounts.length ?? 0,
        idle: card === undefined ? 0 : card.slots - card.accounts.length,
      };
      return metricsText([
        counter('fleet_calls_total', 'Calls that this worker committed.', calls),
        counter('fleet_requests_total', 'Requests of this worker.', requests),
        labelled('counter', 'fleet_turns_total', 'Turns of this worker.', 'outcome', turns),
        labelled('gauge', 'fleet_slots', 'Slots of this worker.', 'state', slots),
        // Metrics of the worker itself are served while the engine is away.
        ...jobFamilies(await status().catch(() => null)),
      ]);
    },
  };
}

const counter = (name: string, help: string, value: number): MetricFamily => ({
  name,
  help,
  type: 'counter',
  samples: [{ value }],
});

const gauge = (name: string, help: string, value: number | null): MetricFamily => ({
  name,
  help,
  type: 'gauge',
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
    value: Number(value.toFixed(3)),
    labels: { [label]: text },
  })),
});

/** Time after which trouble that passes by itself is worth a look. */
const failingMs = 600_000;

/**
 * What the engine says about the job. Every worker reports the same, so alerts take the maximum.
 */
function jobFamilies(status: FleetStatus | null): MetricFamily[] {
  if (status === null) return [];
  const { states, accounts, calls, total, lagMs } = status;
  const failing = accounts.filter(
    ({ state, troubleForMs }) => state === 'later' && troubleForMs >= failingMs,
  ).length;
  return [
    labelled('gauge', 'fleet_job_accounts', 'Accounts of the job.', 'state', states),
    gauge(
      'fleet_job_accounts_failing',
      'Accounts that have been failing for ten minutes or more.',
      failing,
    ),
    gauge('fleet_job_calls', 'Calls in the target.', calls),
    gauge('fleet_job_calls_counted', 'Calls that the servers count.', total),
    gauge(
      'fleet_sync_lag_seconds',
      'Time since all of an account was read, of the one that waits longest.',
      lagMs === null ? null : Math.round(lagMs / 1000),
    ),
  ];
}

import type { SyncSummary } from '@call-attribution/node-stream';

/** How the syncs of a pipeline are doing, for health checks and metrics. */
export interface SyncHealth {
  succeeded(summary: SyncSummary, milliseconds: number): void;
  failed(): void;
  /** What keeps the pipeline from being ready; null when its calls are fresh. */
  readonly ready: () => string | null;
  /** In the text format of Prometheus. */
  readonly metrics: () => string;
}

/** Intervals without a sync that succeeds, after which the calls are no longer fresh. */
const patience = 3;

/** Starts to watch syncs that run at an interval, in milliseconds. */
export function createSyncHealth(every: number, now: () => number): SyncHealth {
  let lastSuccess: number | null = null;
  let lastSeconds = 0;
  let pending = 0;
  const runs = { ok: 0, failed: 0 };
  const calls = { new: 0, changed: 0, gone: 0, skipped: 0 };
  return {
    succeeded(summary, milliseconds) {
      lastSuccess = now();
      lastSeconds = milliseconds / 1000;
      pending = summary.pending;
      runs.ok += 1;
      for (const kind of ['new', 'changed', 'gone', 'skipped'] as const) calls[kind] += summary[kind];
    },
    failed() {
      runs.failed += 1;
    },
    ready() {
      if (lastSuccess === null) return 'no sync has finished yet';
      const age = now() - lastSuccess;
      return age > patience * every
        ? `the last sync succeeded ${Math.round(age / 60_000)} minutes ago`
        : null;
    },
    metrics() {
      const family = (name: string, type: string, help: string, ...samples: string[]): string =>
        [
          `# HELP ${name} ${help}`,
          `# TYPE ${name} ${type}`,
          ...samples.map((sample) => `${name}${sample}`),
          '',
        ].join('\n');
      const labeled = (label: string, values: Readonly<Record<string, number>>): string[] =>
        Object.entries(values).map(([value, count]) => `{${label}="${value}"} ${count}`);
      const success = lastSuccess === null ? [] : [` ${Math.floor(lastSuccess / 1000)}`];
      const lag = lastSuccess === null ? [] : [` ${Math.round((now() - lastSuccess) / 1000)}`];
      return [
        family('calls_sync_runs_total', 'counter', 'Syncs.', ...labeled('result', runs)),
        family(
          'calls_sync_calls_total',
          'counter',
          'Calls by what became of them.',
          ...labeled('kind', calls),
        ),
        family('calls_sync_pending', 'gauge', 'Calls whose attribution is not final.', ` ${pending}`),
        family(
          'calls_sync_last_success_timestamp_seconds',
          'gauge',
          'When a sync last succeeded.',
          ...success,
        ),
        family('calls_sync_lag_seconds', 'gauge', 'Time since then.', ...lag),
        family('calls_sync_seconds', 'gauge', 'How long that sync took.', ` ${lastSeconds.toFixed(3)}`),
      ].join('');
    },
  };
}

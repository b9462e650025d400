/** A value of a metric. */
export interface MetricSample {
  /** Counts, seconds or a time in seconds since 1970. */
  readonly value: number;
  /** What the value is about, such as `{ result: 'ok' }`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What follows the name of the family: parts of a histogram or summary. Default: nothing. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** A metric with all its values. */
export interface MetricFamily {
  /** Its name, such as `calls_sync_runs_total`. */
  readonly name: string;
  /** How its values behave. */
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** One sentence on what it measures. */
  readonly help: string;
  /** Its values; may be empty. */
  readonly samples: readonly MetricSample[];
}

/**
 * Writes metrics in the text format of Prometheus, version 0.0.4.
 *
 * @example
 * metricsText([{ name: 'jobs_total', type: 'counter', help: 'Jobs.', samples: [{ value: 3 }] }]);
 */
export function metricsText(families: readonly MetricFamily[]): string {
  const lines = families.flatMap(({ name, type, help, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(
      ({ value, labels = {}, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${value}`,
    ),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

/** What a program that runs long reports about itself. */
export interface StatusSource {
  /** What keeps the program from being ready, in one sentence; null when it is ready. */
  readonly ready: () => string | null | Promise<string | null>;
  /** Its metrics in the text format of Prometheus. */
  readonly metrics: () => string | Promise<string>;
}

/** A response to a request for the status. */
export interface StatusReply {
  /** 200, or 503 when the program is not ready. */
  readonly status: 200 | 503;
  /** The headers, with names in lower case. */
  readonly headers: Record<string, string>;
  /** The body. */
  readonly body: string;
}

/** The paths that `statusReply` knows. */
export const statusPaths = ['/healthz', '/readyz', '/metrics'] as const;

/**
 * Responds to `/healthz` (the process is alive), `/readyz` (it can do its work; 503 with one
 * sentence when it cannot) and
 * `/metrics`. Resolves to null for any other path.
 */
export async function statusReply(path: string, source: StatusSource): Promise<StatusReply | null> {
  if (path === '/healthz') return plain(200, 'ok');
  if (path === '/readyz') {
    const reason = await source.ready();
    return reason === null ? plain(200, 'ready') : plain(503, reason);
  }

  if (path !== '/metrics') return null;
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    body: await source.metrics(),
  };
}

const plain = (status: 200 | 503, body: string): StatusReply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${body}\n`,
});

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

/** The `Content-Type` of `metricsText`. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

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
    ...samples.map(({ value, labels = {}, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${value}`),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

import { type MetricFamily, type MetricSample, metricsText } from '@call-attribution/node-stream/status';

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** One completed request, as metrics see it. */
interface Observation {
  /** Path pattern, never the path that was sent. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** Counters of this process. */
export interface Metrics {
  started(): void;
  finished(observation: Observation): void;
  /** Counts a connection that came beyond the limit of connections. */
  dropped(): void;
  /** All of them in the text format of Prometheus. */
  text(gauges: Gauges): string;
}

/** What is read when the metrics are requested. */
interface Gauges {
  readonly connections: number;
  /** Requests that wait for a place of their account. */
  readonly waiting: number;
  /** How many calls the store has; null leaves that out. */
  readonly calls: number | null;
}

/** A few counters and one histogram, without a library. */
export function createMetrics(): Metrics {
  let dropped = 0;
  const requests = new Map<string, MetricSample>();
  const times = new Map<string, Times>();
  let inFlight = 0;

  return {
    started() {
      inFlight += 1;
    },
    finished({ route, method, status, seconds }) {
      inFlight -= 1;
      // A client may send any method; only the usual ones become labels.
      const known = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : 'other';
      const key = `${route} ${known} ${status}`;
      const value = (requests.get(key)?.value ?? 0) + 1;
      requests.set(key, { value, labels: { route, method: known, status: String(status) } });
      let time = times.get(route);
      if (time === undefined) {
        time = { buckets: bounds.map((le) => ({ le, count: 0 })), sum: 0, count: 0 };
        times.set(route, time);
      }
      time.sum += seconds;
      time.count += 1;
      for (const bucket of time.buckets) if (seconds <= bucket.le) bucket.count += 1;
    },
    dropped() {
      dropped += 1;
    },
    text({ connections, waiting, calls }) {
      return metricsText([
        counter('calls_http_requests_total', 'Requests completed.', [...requests.values()]),
        {
          name: 'calls_http_request_seconds',
          type: 'histogram',
          help: 'Time from the request to the end of the response.',
          samples: [...times].flatMap(([route, time]) => samplesOf(route, time)),
        },
        gauge('calls_http_requests_in_flight', 'Requests in progress.', inFlight),
        gauge('calls_http_requests_waiting', 'Requests that wait for a place of their account.', waiting),
        gauge('calls_http_connections', 'Connections.', connections),
        counter('calls_http_connections_dropped_total', 'Connections beyond the limit.', [
          { value: dropped },
        ]),
        ...(calls === null ? [] : [gauge('calls_store_calls', 'Calls in the store.', calls)]),
        gauge('process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
        counter('process_cpu_seconds_total', 'CPU time used.', [{ value: cpuSeconds() }]),
      ]);
    },
  };
}

interface Times {
  /** How many took at most so many seconds. */
  readonly buckets: readonly { readonly le: number; count: number }[];
  sum: number;
  count: number;
}

function samplesOf(route: string, { buckets, sum, count }: Times): MetricSample[] {
  const bucket = (le: number | string, value: number): MetricSample => ({
    suffix: '_bucket',
    labels: { route, le: String(le) },
    value,
  });
  return [
    ...buckets.map((each) => bucket(each.le, each.count)),
    bucket('+Inf', count),
    { suffix: '_sum', labels: { route }, value: sum },
    { suffix: '_count', labels: { route }, value: count },
  ];
}

const counter = (name: string, help: string, samples: MetricSample[]): MetricFamily => ({
  name,
  type: 'counter',
  help,
  samples,
});

const gauge = (name: string, help: string, value: number): MetricFamily => ({
  name,
  type: 'gauge',
  help,
  samples: [{ value }],
});

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

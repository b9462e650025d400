import type { ClosedFor } from '../connections/connection.ts';

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
  /** Counts a connection that the service closed to keep a limit. */
  closed(reason: ClosedFor): void;
  /** All of them in the text format of Prometheus. */
  text(): string;
}

/** What is read when the metrics are requested. */
interface Gauges {
  readonly connections: () => number;
  readonly waiting: () => number;
}

/** A few counters and one histogram, without a library. */
export function createMetrics({ connections, waiting }: Gauges): Metrics {
  const closures = new Map<ClosedFor, number>();
  const requests = new Map<string, number>();
  const times = new Map<string, { counts: number[]; sum: number; count: number }>();
  let inFlight = 0;

  return {
    started() {
      inFlight += 1;
    },
    finished({ route, method, status, seconds }) {
      inFlight -= 1;
      // A client may send any method; only the usual ones become labels.
      const known = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : 'other';
      const key = `route="${route}",method="${known}",status="${status}"`;
      requests.set(key, (requests.get(key) ?? 0) + 1);
      let time = times.get(route);
      if (time === undefined) {
        time = { counts: bounds.map(() => 0), sum: 0, count: 0 };
        times.set(route, time);
      }
      time.sum += seconds;
      time.count += 1;
      for (let i = bounds.length - 1; i >= 0 && seconds <= (bounds[i] as number); i -= 1) {
        time.counts[i] = (time.counts[i] as number) + 1;
      }
    },
    closed(reason) {
      closures.set(reason, (closures.get(reason) ?? 0) + 1);
    },
    text() {
      const lines = [
        ...family('calls_http_requests_total', 'counter', 'Requests completed.'),
        ...[...requests].map(([labels, n]) => `calls_http_requests_total{${labels}} ${n}`),
        ...family(
          'calls_http_request_seconds',
          'histogram',
          'Time from the request to the end of the response.',
        ),
        ...[...times].flatMap(([route, time]) => [
          ...bounds.map(
            (le, i) => `calls_http_request_seconds_bucket{route="${route}",le="${le}"} ${time.counts[i]}`,
          ),
          `calls_http_request_seconds_bucket{route="${route}",le="+Inf"} ${time.count}`,
          `calls_http_request_seconds_sum{route="${route}"} ${time.sum}`,
          `calls_http_request_seconds_count{route="${route}"} ${time.count}`,
        ]),
        ...family('calls_http_requests_in_flight', 'gauge', 'Requests in progress.'),
        `calls_http_requests_in_flight ${inFlight}`,
        ...family('calls_http_requests_waiting', 'gauge', 'Requests that wait for their turn to read.'),
        `calls_http_requests_waiting ${waiting()}`,
        ...family('calls_http_connections', 'gauge', 'Connections.'),
        `calls_http_connections ${connections()}`,
        ...family('calls_http_connections_closed_total', 'counter', 'Connections closed to keep a limit.'),
        ...[...closures].map(([reason, n]) => `calls_http_connections_closed_total{reason="${reason}"} ${n}`),
        ...family('process_resident_memory_bytes', 'gauge', 'Resident memory.'),
        `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
        ...family('process_cpu_seconds_total', 'counter', 'CPU time used.'),
        `process_cpu_seconds_total ${cpuSeconds()}`,
      ];
      return `${lines.join('\n')}\n`;
    },
  };
}

function family(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

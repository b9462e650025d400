import {
  type MetricFamily,
  type MetricSample,
  metricsText,
  statusPaths,
  statusReply,
} from '@call-attribution/node-stream/status';
import type { Store } from '@call-attribution/store';
import { type AppRoute, wholeReply } from './context.ts';

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Counters of this process. */
export interface Metrics {
  started(): void;
  /** `route` is the path pattern, never the path that was sent. */
  finished(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
  /** Counts a connection that came beyond the limit of connections. */
  dropped(): void;
  /** All of them in the text format of Prometheus. */
  text(gauges: {
    readonly connections: number;
    /** Requests that wait for a place of their account. */
    readonly waiting: number;
  }): string;
}

/** A few counters and one histogram, without a library. */
export function createMetrics(): Metrics {
  let dropped = 0;
  let inFlight = 0;
  const requests = new Map<string, MetricSample>();

  /**
   * For each route its requests by the bound that they took at most; the last are those beyond all
   * bounds.
   */
  const times = new Map<string, { readonly counts: number[]; sum: number }>();

  const family = (
    type: MetricFamily['type'],
    name: string,
    help: string,
    value: number,
  ): MetricFamily => ({
    name,
    type,
    help,
    samples: [{ value }],
  });

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
      const time = times.get(route) ?? {
        counts: new Array<number>(bounds.length + 1).fill(0),
        sum: 0,
      };
      times.set(route, time);
      const place = bounds.findIndex((bound) => seconds <= bound);
      const at = place < 0 ? bounds.length : place;
      time.counts[at] = (time.counts[at] ?? 0) + 1;
      time.sum += seconds;
    },
    dropped() {
      dropped += 1;
    },
    text({ connections, waiting }) {
      const { user, system } = process.cpuUsage();
      return metricsText([
        {
          name: 'calls_http_requests_total',
          type: 'counter',
          help: 'Requests completed.',
          samples: [...requests.values()],
        },
        {
          name: 'calls_http_request_seconds',
          type: 'histogram',
          help: 'Time from the request to the end of the response.',
          samples: [...times].flatMap(([route, { counts, sum }]) => {
            let count = 0;
            const buckets = counts.map((more, i): MetricSample => {
              count += more;
              return {
                suffix: '_bucket',
                labels: { route, le: String(bounds[i] ?? '+Inf') },
                value: count,
              };
            });
            return [
              ...buckets,
              { suffix: '_sum', labels: { route }, value: sum },
              { suffix: '_count', labels: { route }, value: count },
            ];
          }),
        },
        family('gauge', 'calls_http_requests_in_flight', 'Requests in progress.', inFlight),
        family(
          'gauge',
          'calls_http_requests_waiting',
          'Requests that wait for a place of their account.',
          waiting,
        ),
        family('gauge', 'calls_http_connections', 'Connections.', connections),
        family(
          'counter',
          'calls_http_connections_dropped_total',
          'Connections beyond the limit.',
          dropped,
        ),
        family(
          'gauge',
          'process_resident_memory_bytes',
          'Resident memory.',
          process.memoryUsage.rss(),
        ),
        family('counter', 'process_cpu_seconds_total', 'CPU time used.', (user + system) / 1e6),
      ]);
    },
  };
}

/** What `statusRoutes` reports. */
interface Reported {
  readonly store: Pick<Store, 'ping'>;
  readonly isStopping: () => boolean;
  /** What else keeps the service from being ready. */
  readonly ready: () => string | null;
  readonly metrics: () => Promise<string>;
}

/**
 * `/healthz`, `/readyz` and `/metrics`. The service is ready when its store responds and it is not
 * stopping.
 */
export function statusRoutes({ store, isStopping, ready, metrics }: Reported): AppRoute[] {
  const isReady = async (): Promise<string | null> => {
    if (isStopping()) return 'stopping';
    return store.ping().then(ready, () => 'the store does not respond');
  };
  return statusPaths.map((path) => ({
    path,
    who: 'anyone',
    takesPlace: false,
    shows: 'nothing',
    async handle(c) {
      const reply = await statusReply(path, { ready: isReady, metrics });
      return reply === null ? c.notFound() : wholeReply(c, reply.body, reply.headers, reply.status);
    },
  }));
}

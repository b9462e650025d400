import type { Store } from '@call-attribution/store';
import type { Reply, Route } from './exchange.ts';
import type { Metrics } from './metrics.ts';

const plain = (status: number, body: string): Reply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${body}\n`,
});

/**
 * `/healthz`: the process is alive. `/readyz`: its store responds, the service is not stopping, and `ready` has nothing
 * against it.
 */
export function healthRoutes(
  store: Pick<Store, 'ping'> | null,
  stopping: () => boolean,
  ready: () => string | null,
): Route[] {
  return [
    { path: '/healthz', handle: () => plain(200, 'ok') },
    {
      path: '/readyz',
      async handle() {
        if (stopping()) return plain(503, 'stopping');
        try {
          await store?.ping();
          const reason = ready();
          return reason === null ? plain(200, 'ready') : plain(503, reason);
        } catch {
          return plain(503, 'the store does not respond');
        }
      },
    },
  ];
}

/** `/metrics` in the text format of Prometheus; `more` adds families. */
export function metricsRoute(metrics: Metrics, more: () => string): Route {
  return {
    path: '/metrics',
    handle: () => ({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: metrics.text() + more(),
    }),
  };
}

import { metricsType } from './metrics-text.ts';

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
 * Responds to `/healthz` (the process is alive), `/readyz` (it can do its work; 503 with one sentence when it cannot) and
 * `/metrics`. Resolves to null for any other path.
 */
export async function statusReply(path: string, source: StatusSource): Promise<StatusReply | null> {
  if (path === '/healthz') return plain(200, 'ok');
  if (path === '/readyz') {
    const reason = await source.ready();
    return reason === null ? plain(200, 'ready') : plain(503, reason);
  }
  if (path !== '/metrics') return null;
  return { status: 200, headers: { 'content-type': metricsType }, body: await source.metrics() };
}

const plain = (status: 200 | 503, body: string): StatusReply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${body}\n`,
});

import type { Clock } from '@call-attribution/core';
import { type StatusSource, statusPaths, statusReply } from '@call-attribution/node-stream/status';
import { everything, type Store } from '@call-attribution/store';
import { type AppRoute, wholeReply } from './context.ts';

/**
 * `/healthz`, `/readyz` and `/metrics`. The service is ready when its store responds, it is not stopping, and `ready` has
 * nothing against it.
 */
export function statusRoutes(
  store: Pick<Store, 'ping'> | null,
  stopping: () => boolean,
  { ready, metrics }: StatusSource,
): AppRoute[] {
  const source: StatusSource = {
    async ready() {
      if (stopping()) return 'stopping';
      try {
        await store?.ping();
        return await ready();
      } catch {
        return 'the store does not respond';
      }
    },
    metrics,
  };
  return statusPaths.map((path) => ({
    path,
    async handle(c) {
      const reply = await statusReply(path, source);
      return reply === null ? c.notFound() : wholeReply(c, reply.body, reply.headers, reply.status);
    },
  }));
}

/** How long the number of calls in the store is kept: whoever reaches `/metrics` must not make the store count all the time. */
const countFor = 10_000;

/** The number of calls in the store; null while it does not respond. */
export function callCounter(
  store: Pick<Store, 'accounts' | 'count'>,
  clock: Pick<Clock, 'now'>,
): () => Promise<number | null> {
  let counted: { readonly at: number; readonly calls: Promise<number | null> } | null = null;
  const count = async (): Promise<number> => {
    let sum = 0;
    for (const { id } of await store.accounts()) sum += await store.count(id, everything);
    return sum;
  };
  return () => {
    if (counted === null || clock.now() - counted.at >= countFor)
      counted = { at: clock.now(), calls: count().catch(() => null) };
    return counted.calls;
  };
}

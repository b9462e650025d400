import { closeAgent, type OwnDispatcher } from './dispatch.ts';
import { type Fetch, fetchDispatcher } from './fetch-dispatcher.ts';
import { connectOptions } from './lookup.ts';
import type { ProxyServer } from './proxy.ts';

/**
 * Opens what a client sends with when no dispatcher was given: an agent of undici, proxies, or
 * `fetch`.
 *
 * @param proxies by the origins of the servers.
 * @param connect milliseconds until a connection is made.
 */
export async function openDispatcher(
  fetch: Fetch | undefined,
  proxies: ReadonlyMap<string, ProxyServer>,
  connect: number,
): Promise<OwnDispatcher> {
  // Bun has an undici of its own that only fetches. Its fetch obeys the variables of proxies.
  if (fetch || process.versions.bun) return fetchDispatcher(fetch ?? globalThis.fetch);

  // The agent alone loads in a third of the time of the whole package.
  const { default: Agent }: { default: typeof import('undici').Agent } = await import(
    // @ts-expect-error This file has no types of its own.
    'undici/lib/dispatcher/agent.js'
  );

  // Silence is watched for with every dispatcher, so the coarse timers of the agent are switched
  // off.
  const options = { headersTimeout: 0, bodyTimeout: 0 };
  const direct = new Agent({ ...options, connect: connectOptions(connect) });
  const agents = new Map<string, OwnDispatcher>();
  if (proxies.size > 0) {
    const { openProxyDispatcher } = await import('./proxy-dispatcher.ts');
    for (const [server, proxy] of proxies)
      agents.set(server, openProxyDispatcher(server, proxy, connect, options));
  }

  return {
    dispatch: (request, handler) =>
      (agents.get(request.origin) ?? direct).dispatch(request, handler),
    close: async (idle) => {
      await Promise.all([
        closeAgent(direct, idle),
        ...[...agents.values()].map((each) => each.close(idle)),
      ]);
    },
  };
}

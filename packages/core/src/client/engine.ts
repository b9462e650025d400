import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { flatHeaders } from '../http/custom-headers.ts';
import type { OwnDispatcher, RequestDispatcher } from '../http/dispatch.ts';
import { fetchDispatcher } from '../http/fetch-dispatcher.ts';
import { observeRequest } from '../observe/events.ts';
import { type ApiRequest, type ApiResponse, responseInfo } from './api-request.ts';
import { attemptOnce } from './attempt.ts';
import { logFailure } from './log-request.ts';
import type { Settings } from './options.ts';
import { settingsFor } from './read-options.ts';
import { retryLoop } from './retry-loop.ts';

/** Sends requests with deadlines, retries and limits. */
export interface Engine {
  send<T>(request: ApiRequest<T>): Promise<ApiResponse<T>>;
  close(): Promise<void>;
}

/** Makes the engine of one client. The transport is loaded with the first request: until then a client costs nothing. */
export function createEngine(settings: Settings): Engine {
  let agent: Promise<OwnDispatcher> | undefined;
  let ready: RequestDispatcher | undefined = settings.dispatcher;
  let closed: Promise<void> | undefined;

  return {
    async send(request) {
      if (closed !== undefined) throw new ConfigurationError('client_closed', setupMessages.clientClosed());
      const { signal, onResponse } = request.options;
      signal?.throwIfAborted();
      if (ready === undefined) {
        agent ??= openDispatcher(settings);
        ready = await agent;
      }
      const dispatcher = ready;
      const own = settingsFor(settings, request.options);
      const extra = flatHeaders(own.headers);
      const http = { ...request.http, headers: [...request.http.headers, ...extra] };
      const sent = extra.length === 0 ? request : { ...request, http };
      const run = async () => {
        const response = await retryLoop(own, sent, (attempt, leftMs) =>
          attemptOnce(own, dispatcher, sent, attempt, leftMs),
        );
        onResponse?.(responseInfo(response));
        return response;
      };
      const logged = () => logFailure(settings, request, run);
      return observeRequest(request, settings.clock, logged);
    },
    close() {
      closed ??= agent === undefined ? Promise.resolve() : agent.then((opened) => opened.close());
      return closed;
    },
  };
}

async function openDispatcher({ fetch, proxies, timeout }: Settings): Promise<OwnDispatcher> {
  if (fetch) return fetchDispatcher(fetch);
  const { Agent } = await import('undici');
  // Some platforms, such as Bun, have an undici of their own that only fetches. Their fetch obeys the variables of proxies.
  if (typeof Agent.prototype.dispatch !== 'function') return fetchDispatcher(globalThis.fetch);
  // The transport watches for silence itself, with every dispatcher, so the coarse timers of the agent are switched off.
  const options = { headersTimeout: 0, bodyTimeout: 0 };
  const { connect } = timeout;
  const direct = new Agent({
    ...options,
    connect: { timeout: connect === Number.POSITIVE_INFINITY ? 0 : connect },
  });
  if (proxies.size === 0) return direct;
  const { openProxyDispatcher } = await import('../http/proxy-dispatcher.ts');
  const routes = new Map(
    [...proxies].map(([server, proxy]) => [server, openProxyDispatcher(server, proxy, connect, options)]),
  );
  return {
    dispatch: (request, handler) => (routes.get(request.origin) ?? direct).dispatch(request, handler),
    close: async () => {
      await Promise.all([direct, ...routes.values()].map((each) => each.close()));
    },
  };
}

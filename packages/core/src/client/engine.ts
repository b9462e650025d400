import { CallsError, ConfigurationError } from '../errors/calls-error.ts';
import { flatHeaders } from '../http/custom-headers.ts';
import { closeAgent, type OwnDispatcher, type RequestDispatcher } from '../http/dispatch.ts';
import { fetchDispatcher } from '../http/fetch-dispatcher.ts';
import { connectOptions } from '../http/lookup.ts';
import { safeCaller, type TraceOutcome } from '../tracing/index.ts';
import { type ApiRequest, type ApiResponse, responseInfo } from './api-request.ts';
import { type RequestTrace, requestTracing } from './events.ts';
import { noteFailure } from './observe.ts';
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
  const safely = safeCaller('onResponse');
  const underway = new Set<Promise<unknown>>();
  const track = <T>(work: Promise<T>): Promise<T> => {
    const done = () => underway.delete(work);
    underway.add(work);
    work.then(done, done);
    return work;
  };

  return {
    async send(request) {
      if (closed !== undefined) throw new ConfigurationError('client_closed');
      const { signal, onResponse } = request.options;
      signal?.throwIfAborted();
      if (ready === undefined) {
        agent ??= openDispatcher(settings);
        ready = await agent;
      }
      const own = settingsFor(settings, request.options);
      const extra = flatHeaders(own.headers);
      const http = { ...request.http, headers: [...request.http.headers, ...extra] };
      const sending = {
        request: extra.length === 0 ? request : { ...request, http },
        settings: own,
        dispatcher: ready,
        track,
      };
      const response = await requestTracing.run(
        () => traceOf(request),
        () => retryLoop(sending),
        noteOutcome,
      );
      if (onResponse) safely(() => onResponse(responseInfo(response)));
      return response;
    },
    close() {
      closed ??=
        agent === undefined
          ? Promise.resolve()
          : agent.then((opened) => opened.close(Promise.allSettled(underway)));
      return closed;
    },
  };
}

function traceOf({ client, operation, url, http: { method, origin } }: ApiRequest<unknown>): RequestTrace {
  const { protocol, hostname: address, port } = new URL(origin);
  return {
    client,
    operation,
    method,
    url,
    address,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}

function noteOutcome(context: RequestTrace, outcome: TraceOutcome<ApiResponse<unknown>>): void {
  noteFailure(context, outcome);
  if ('value' in outcome) {
    context.attempts = outcome.value.attempts;
    context.status = outcome.value.response.status;
  } else if (outcome.error instanceof CallsError) {
    const { attempts, status } = outcome.error;
    if (attempts !== undefined) context.attempts = attempts;
    if (status !== undefined) context.status = status;
  }
}

async function openDispatcher({ fetch, proxies, timeout }: Settings): Promise<OwnDispatcher> {
  if (fetch) return fetchDispatcher(fetch);
  const { Agent } = await import('undici');
  // Some platforms, such as Bun, have an undici of their own that only fetches. Their fetch obeys the variables of proxies.
  if (typeof Agent.prototype.dispatch !== 'function') return fetchDispatcher(globalThis.fetch);
  // The transport watches for silence itself, with every dispatcher, so the coarse timers of the agent are switched off.
  const options = { headersTimeout: 0, bodyTimeout: 0 };
  const { connect } = timeout;
  const direct = new Agent({ ...options, connect: connectOptions(connect) });
  if (proxies.size === 0)
    return {
      dispatch: (request, handler) => direct.dispatch(request, handler),
      close: (idle) => closeAgent(direct, idle),
    };
  const { openProxyDispatcher } = await import('../http/proxy-dispatcher.ts');
  const routes = new Map(
    [...proxies].map(([server, proxy]) => [server, openProxyDispatcher(server, proxy, connect, options)]),
  );
  return {
    dispatch: (request, handler) => (routes.get(request.origin) ?? direct).dispatch(request, handler),
    close: async (idle) => {
      await Promise.all([closeAgent(direct, idle), ...[...routes.values()].map((each) => each.close(idle))]);
    },
  };
}

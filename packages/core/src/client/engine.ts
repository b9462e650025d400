import type { Dispatcher } from 'undici';
import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { bodyPool } from '../http/body-pool.ts';
import { flatHeaders } from '../http/custom-headers.ts';
import { channels, tracedRequest } from '../observe/events.ts';
import { type ApiRequest, type ApiResponse, responseInfo } from './api-request.ts';
import { attemptOnce } from './attempt.ts';
import type { Settings } from './options.ts';
import { settingsFor } from './read-options.ts';
import { retryLoop } from './retry-loop.ts';

/** Sends requests with deadlines, retries and limits. */
export interface Engine {
  send<T>(request: ApiRequest<T>): Promise<ApiResponse<T>>;
  /** Takes the memory of a body that is no longer read for a later one. */
  reuse(body: Uint8Array): void;
  close(): Promise<void>;
}

/** Makes the engine of one client. The transport is loaded with the first request: until then a client costs nothing. */
export function createEngine(settings: Settings): Engine {
  let agent: Promise<Dispatcher> | undefined;
  let ready = settings.dispatcher;
  let closed: Promise<void> | undefined;
  const bodies = bodyPool();

  return {
    async send(request) {
      if (closed) throw new ConfigurationError('client_closed', setupMessages.clientClosed());
      const { signal, onResponse } = request.options;
      signal?.throwIfAborted();
      if (ready === undefined) {
        agent ??= openDispatcher(settings.timeout.connect);
        ready = await agent;
      }
      const wire = { dispatcher: ready, bodies };
      const own = settingsFor(settings, request.options);
      const extra = flatHeaders(own.headers);
      const http = { ...request.http, headers: [...request.http.headers, ...extra] };
      const sent = extra.length === 0 ? request : { ...request, http };
      const run = async () => {
        const response = await retryLoop(own, sent, (attempt, leftMs) =>
          attemptOnce(own, wire, sent, attempt, leftMs),
        );
        onResponse?.(responseInfo(response));
        return response;
      };
      return channels.request.hasSubscribers ? tracedRequest(request, settings.clock, run) : run();
    },
    reuse: bodies.give,
    close() {
      closed ??= agent ? agent.then((opened) => opened.close()) : Promise.resolve();
      return closed;
    },
  };
}

async function openDispatcher(connectMs: number): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  // The transport watches for silence itself, with every dispatcher, so the coarse timers of the agent are switched off.
  return new Agent({
    connect: { timeout: connectMs === Number.POSITIVE_INFINITY ? 0 : connectMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

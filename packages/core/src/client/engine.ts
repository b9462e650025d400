import type { Dispatcher } from 'undici';
import { ConfigurationError } from '../errors/calls-error.ts';
import { bodyPool } from '../http/body-pool.ts';
import { channels } from '../observe/channels.ts';
import { tracedRequest } from '../observe/publish.ts';
import { type Ask, type Asked, responseOf } from './ask.ts';
import { attemptOnce } from './attempt-once.ts';
import type { Settings } from './read-options.ts';
import { retryLoop } from './retry-loop.ts';

/** Sends requests with deadlines, retries and limits. */
export interface Engine {
  ask<T>(ask: Ask<T>): Promise<Asked<T>>;
  /** Gives the memory of a body back that nobody reads any more. */
  reuse(body: Uint8Array): void;
  close(): Promise<void>;
}

/** Makes the engine of one client. The transport is loaded with the first request: until then a client costs nothing. */
export function createEngine(settings: Settings): Engine {
  let own: Promise<Dispatcher> | undefined;
  let ready = settings.dispatcher;
  let closed: Promise<void> | undefined;
  const bodies = bodyPool();

  return {
    async ask(ask) {
      if (closed)
        throw new ConfigurationError('client_closed', 'The client has been closed.', {
          hint: 'Create a new client.',
        });
      ask.signal?.throwIfAborted();
      if (ready === undefined) {
        own ??= openDispatcher(settings.timeout.connect);
        ready = await own;
      }
      const dispatcher = ready;
      const read = async () => {
        const asked = await retryLoop(settings, ask, (attempt, leftMs) =>
          attemptOnce(settings, { dispatcher, bodies }, ask, attempt, leftMs),
        );
        ask.onResponse?.(responseOf(asked));
        return asked;
      };
      return channels.request.hasSubscribers ? tracedRequest(ask, settings.clock, read) : read();
    },
    reuse: bodies.give,
    close() {
      closed ??= own ? own.then((agent) => agent.close()) : Promise.resolve();
      return closed;
    },
  };
}

async function openDispatcher(connectMs: number): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  // Silence is watched by the transport, for every kind of dispatcher; the agent's own coarse timers stay out of the way.
  return new Agent({
    connect: { timeout: connectMs === Number.POSITIVE_INFINITY ? 0 : connectMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

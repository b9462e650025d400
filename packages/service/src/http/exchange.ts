import { randomUUID } from 'node:crypto';
import type { Clock } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import type { Progress } from '@call-attribution/core/listen';
import type { AppEnv, Exchange } from './context.ts';
import type { Metrics } from './metrics.ts';
import type { LogEntry, NodeExchange, ReplyChanges } from './public-types.ts';

/** What following requests takes from the service. */
interface FollowOptions {
  readonly app: (request: Request, env: AppEnv['Bindings']) => Response | Promise<Response>;
  readonly metrics: Metrics;
  readonly log: ((entry: LogEntry) => void) | null;
  readonly clock: Pick<Clock, 'now'>;
  readonly sendTimeout: number;
  /** True while the service is closing: each response then closes its connection. */
  readonly isStopping: () => boolean;
  readonly progress: Progress;
}

/** Handles a request. `changes` are those of an intercept. */
export type Follow = (
  request: Request,
  env?: Partial<NodeExchange>,
  changes?: ReplyChanges,
) => Promise<Response>;

/**
 * Follows each request to the last byte of its response: its headers, its place, the log and the
 * metrics.
 */
export function followed(options: FollowOptions): Follow {
  const { app, metrics, isStopping } = options;
  return async (request, { incoming, outgoing } = {}, changes = {}) => {
    const startedAt = performance.now();
    metrics.started();
    const requestId = requestIdOf(request);
    const exchange: Exchange = { requestId, changes, route: 'unknown', audit: {}, ends: [] };
    const node = incoming === undefined || outgoing === undefined ? {} : { incoming, outgoing };
    const response = await respondTo(app, request, { ...node, exchange });
    const { headers } = response;
    headers.set('x-request-id', requestId);
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
    headers.set('x-content-type-options', 'nosniff');

    const end = (isWhole: boolean, hasBegun: boolean): void => {
      for (const each of exchange.ends.splice(0)) each();
      const seconds = (performance.now() - startedAt) / 1000;
      report(options, request, exchange, {
        isWhole,
        seconds,
        status: hasBegun ? response.status : 499,
      });
    };

    if (outgoing === undefined) {
      const ended = options.progress.begin(() => cut());
      const { body, cut } = whenRead(request, response, (isWhole) => {
        ended();
        end(isWhole, true);
      });
      return body;
    }

    if (isStopping()) headers.set('connection', 'close');
    if (outgoing.closed) end(false, false);
    else {
      // Of a client that takes nothing.
      outgoing.setTimeout(options.sendTimeout, () => outgoing.destroy());
      let isWhole = false;
      // Node.js says that a response has finished, too, when its connection was destroyed.
      outgoing.prependOnceListener('finish', () => {
        isWhole = outgoing.socket?.destroyed === false;
      });
      outgoing.once('close', () => end(isWhole, outgoing.headersSent));
    }

    return response;
  };
}

async function respondTo(
  app: FollowOptions['app'],
  request: Request,
  env: AppEnv['Bindings'],
): Promise<Response> {
  try {
    return await app(request, env);
  } catch (error) {
    // Hono passes on what is no Error, such as the reason for which a request was aborted.
    if (!request.signal.aborted) env.exchange.fault = error;
    return new Response(null, { status: request.signal.aborted ? 499 : 500 });
  }
}

function requestIdOf({ headers }: Request): string {
  const given = headers.get('x-request-id');
  return given !== null && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}

function report(
  { metrics, log, clock }: FollowOptions,
  { method }: Request,
  { route, fault, requestId, audit }: Exchange,
  { isWhole, status, seconds }: { isWhole: boolean; status: number; seconds: number },
): void {
  metrics.finished({ route, method, status, seconds });
  const outcome = isWhole ? 'completed' : 'abandoned';
  const how =
    fault === undefined
      ? ({ level: 'info', message: outcome } as const)
      : ({ level: 'error', message: 'failed', error: nameOf(fault) } as const);
  log?.({
    time: new Date(clock.now()).toISOString(),
    ...how,
    requestId,
    method: method.slice(0, 10),
    route,
    status,
    milliseconds: Math.round(seconds * 10_000) / 10,
    ...audit,
  });
}

function nameOf(fault: unknown): string {
  if (!(fault instanceof Error)) return 'unknown';
  const code = propertyOf(fault, 'code');
  return code === undefined ? fault.name : `${fault.name} ${String(code)}`;
}

/** The response, and what cuts it short. `ended` learns whether its reader has taken all of it. */
function whenRead(
  { signal }: Request,
  response: Response,
  ended: (isWhole: boolean) => void,
): { readonly body: Response; readonly cut: () => void } {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    ended(true);
    return { body: response, cut: () => {} };
  }

  let cut = (): void => {};
  let isOver = false;

  const end = (isWhole: boolean): void => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', cut);
    ended(isWhole);
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        cut = () => {
          controller.error(new Error('The response was closed before the end.'));
          reader.cancel().catch(() => {});
          end(false);
        };
        signal.addEventListener('abort', cut, { once: true });
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
          end(true);
        } catch (error) {
          controller.error(error);
          end(false);
        }
      },
      cancel(reason) {
        end(false);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { body: new Response(body, response), cut };
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { forwardedFor } from '../connections/addresses.ts';
import type { Connection } from '../connections/connection.ts';
import type { Turns } from '../connections/turns.ts';
import type { Exchange, Intercept, Reply, ReplyChanges, Shape } from './exchange.ts';
import type { Metrics } from './metrics.ts';
import type { Listener } from './pipeline.ts';
import { problemReply, Refusal } from './refusal.ts';
import { send } from './send.ts';

/** One entry of the log. It never holds a key, a query, caller data or an IP address. */
export interface LogEntry {
  /** When the response ended, in ISO 8601. */
  readonly time: string;
  /** `error` when the service failed or the response was cut short. */
  readonly level: 'info' | 'error';
  /**
   * For a request `completed`, `failed`, or `abandoned` when the client left or was closed before the end of the response. A
   * sentence for anything else.
   */
  readonly message: string;
  /** The id in the header `x-request-id` of the response. */
  readonly requestId?: string;
  /** The HTTP method. */
  readonly method?: string;
  /** The path pattern, such as `/v3/user/bid-management/{sid}`. */
  readonly route?: string;
  /** The HTTP status; 499 for a request that was abandoned before its response began. */
  readonly status?: number;
  /** How long the request took. */
  readonly milliseconds?: number;
  /** Id of the account whose credentials were accepted. */
  readonly account?: string;
  /** User name with which a feed was fetched. */
  readonly user?: string;
  /** Rows of the feed that was fetched. */
  readonly rows?: number;
  /** Name and code of the error behind a failure. */
  readonly error?: string;
}

/** What the front takes from its service. */
export interface FrontOptions {
  readonly handle: (exchange: Exchange) => Promise<Reply>;
  readonly intercept: Intercept | null;
  readonly shape: Shape;
  readonly metrics: Metrics;
  readonly mostUrlBytes: number;
  readonly log: ((entry: LogEntry) => void) | null;
  readonly clock: Pick<Clock, 'now'>;
  /** True while the service is closing: each response then closes its connection. */
  readonly draining: () => boolean;
  readonly turns: Turns;
}

/** Handles the requests of an HTTP server, from the head of the request to the last byte of the response. */
export function createFront(options: FrontOptions): Listener {
  const { intercept } = options;
  if (intercept === null)
    return (request, response, connection) => void respond(options, request, response, connection, {});
  return (request, response, connection) =>
    intercept(
      request,
      response,
      (changes = {}) => void respond(options, request, response, connection, changes),
    );
}

async function respond(
  options: FrontOptions,
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  changes: ReplyChanges,
): Promise<void> {
  const began = performance.now();
  options.metrics.started();
  const { address, isProxy } = connection;
  const client = (isProxy ? forwardedFor(request.headers['x-forwarded-for']) : null) ?? address;
  const leave = options.turns.enter(client);
  const exchange = openExchange(options, request, connection, client, changes);
  let fault: unknown;
  let isAbandoned = false;
  try {
    const reply = await replyTo(options, exchange, (error) => {
      fault = error;
    });
    const { headers } = reply;
    headers['x-request-id'] = exchange.requestId;
    headers['cache-control'] ??= 'no-store';
    headers['x-content-type-options'] = 'nosniff';
    if (options.draining()) headers.connection = 'close';
    await send(response, exchange, reply, connection.hold);
  } catch (error) {
    isAbandoned = connection.gone.aborted || connection.socket.destroyed;
    fault = isAbandoned ? undefined : error;
    // The head has been sent: closing the connection is the only way left to report the failure.
    if (!isAbandoned) response.destroy();
  } finally {
    connection.hold(0);
    leave(response.statusCode >= 400 ? 'refused' : undefined);
  }
  const seconds = (performance.now() - began) / 1000;
  const { route, method } = exchange;
  const status = isAbandoned && !response.headersSent ? 499 : response.statusCode;
  options.metrics.finished({ route, method, status, seconds });
  options.log?.({
    time: new Date(options.clock.now()).toISOString(),
    level: fault === undefined ? 'info' : 'error',
    message: isAbandoned ? 'abandoned' : fault === undefined ? 'completed' : 'failed',
    requestId: exchange.requestId,
    method: method.slice(0, 10),
    route,
    status,
    milliseconds: Math.round(seconds * 10_000) / 10,
    ...(exchange.account === null ? {} : { account: exchange.account }),
    ...exchange.audit,
    ...(fault === undefined ? {} : { error: nameOf(fault) }),
  });
}

function openExchange(
  options: FrontOptions,
  request: IncomingMessage,
  connection: Connection,
  client: string,
  changes: ReplyChanges,
): Exchange {
  // A client may also send the whole URL, as to a proxy.
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '');
  const mark = url.indexOf('?');
  const given = request.headers['x-request-id'];
  return {
    request,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    requestId: typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID(),
    signal: connection.gone,
    turn: (work, needs = 'store') =>
      options.turns.run(
        { who: client, signal: connection.gone, needs, hasMemory: connection.hasMemory },
        work,
      ),
    shape: options.shape,
    changes,
    route: 'unknown',
    account: null,
    client,
    audit: {},
  };
}

async function replyTo(
  options: FrontOptions,
  exchange: Exchange,
  onFault: (error: unknown) => void,
): Promise<Reply> {
  try {
    if ((exchange.request.url ?? '').length > options.mostUrlBytes) {
      throw new Refusal(
        414,
        'url_too_long',
        `The URL is longer than ${options.mostUrlBytes} bytes. Shorten the filter.`,
      );
    }
    refuseHead(exchange.request);
    return await options.handle(exchange);
  } catch (error) {
    if (exchange.signal.aborted) throw error;
    if (error instanceof Refusal) return problemReply(error, exchange.requestId);
    onFault(error);
    const retry = propertyOf(error, 'isRetryable') === true;
    const refusal = retry
      ? new Refusal(503, 'store_unavailable', 'The store does not respond at the moment. Try again.', {
          headers: { 'retry-after': '1' },
        })
      : new Refusal(
          500,
          'internal_error',
          `The service failed. Report the request id ${exchange.requestId} to its operator.`,
        );
    return problemReply(refusal, exchange.requestId);
  }
}

/** Refuses what HTTP/1.1 does not allow and Node lets through, or would refuse with an empty body. */
function refuseHead({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw new Refusal(400, 'host_header', 'The request must have exactly one header Host.', {
      parameter: 'host',
    });
  }
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new Refusal(
      417,
      'unknown_expectation',
      'The only known value of the header Expect is 100-continue.',
      {
        parameter: 'expect',
      },
    );
  }
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = propertyOf(error, 'code');
  return code === undefined ? error.name : `${error.name} ${String(code)}`;
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Exchange, Intercept, Reply, ReplyChanges, Shape } from './exchange.ts';
import type { Metrics } from './metrics.ts';
import { problemReply, Refusal } from './refusal.ts';
import { send } from './send.ts';

/** One entry of the log. It never holds a key, a query, caller data or an IP address. */
export interface LogEntry {
  /** When the response ended, in ISO 8601. */
  readonly time: string;
  /** `error` when the service failed or the response was cut short. */
  readonly level: 'info' | 'error';
  /** `completed` or `failed` for a request; a sentence for anything else. */
  readonly message: string;
  /** The id in the header `x-request-id` of the response. */
  readonly requestId?: string;
  /** The HTTP method. */
  readonly method?: string;
  /** The path pattern, such as `/v3/user/bid-management/{sid}`. */
  readonly route?: string;
  /** The HTTP status. */
  readonly status?: number;
  /** How long the request took. */
  readonly milliseconds?: number;
  /** Id of the account whose credentials were accepted. */
  readonly account?: string;
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
  readonly now: () => number;
  /** True while the service is closing: each response then closes its connection. */
  readonly draining: () => boolean;
}

/** The listener of an HTTP server: from the raw request to the last byte of the response. */
export function createFront(
  options: FrontOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { intercept } = options;
  if (intercept === null) return (request, response) => void respond(options, request, response, {});
  return (request, response) =>
    intercept(request, response, (changes = {}) => void respond(options, request, response, changes));
}

async function respond(
  options: FrontOptions,
  request: IncomingMessage,
  response: ServerResponse,
  changes: ReplyChanges,
): Promise<void> {
  const began = performance.now();
  options.metrics.started();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const exchange = openExchange(request, gone.signal, options.shape, changes);
  let fault: unknown;
  try {
    const reply = await replyTo(options, exchange, (error) => {
      fault = error;
    });
    const { headers } = reply;
    headers['x-request-id'] = exchange.requestId;
    headers['cache-control'] ??= 'no-store';
    headers['x-content-type-options'] = 'nosniff';
    if (options.draining()) headers.connection = 'close';
    await send(response, exchange, reply);
  } catch (error) {
    // The head has been sent: closing the connection is the only way left to report the failure.
    fault = response.destroyed && gone.signal.aborted ? undefined : error;
    response.destroy();
  }
  const seconds = (performance.now() - began) / 1000;
  const { route, method } = exchange;
  const status = response.statusCode;
  options.metrics.finished({ route, method, status, seconds });
  options.log?.({
    time: new Date(options.now()).toISOString(),
    level: fault === undefined ? 'info' : 'error',
    message: fault === undefined ? 'completed' : 'failed',
    requestId: exchange.requestId,
    method: method.slice(0, 10),
    route,
    status,
    milliseconds: Math.round(seconds * 10_000) / 10,
    ...(exchange.account === null ? {} : { account: exchange.account }),
    ...(fault === undefined ? {} : { error: nameOf(fault) }),
  });
}

function openExchange(
  request: IncomingMessage,
  signal: AbortSignal,
  shape: Shape,
  changes: ReplyChanges,
): Exchange {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const given = request.headers['x-request-id'];
  return {
    request,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    requestId: typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID(),
    signal,
    shape,
    changes,
    route: 'unknown',
    account: null,
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
    return await options.handle(exchange);
  } catch (error) {
    if (error instanceof Refusal) return problemReply(error, exchange.requestId);
    onFault(error);
    const retry = (error as { isRetryable?: unknown }).isRetryable === true;
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

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { code?: unknown };
  return code === undefined ? error.name : `${error.name} ${String(code)}`;
}

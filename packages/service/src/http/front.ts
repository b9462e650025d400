import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, AnswerChanges, Exchange, Intercept, Shape } from './exchange.ts';
import type { Metrics } from './metrics.ts';
import { problemAnswer, Refusal } from './refusal.ts';
import { send } from './send.ts';

/** One line of the log. Holds no key, no query, no caller data and no address of a visitor. */
export interface LogEntry {
  readonly time: string;
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly requestId?: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly milliseconds?: number;
  readonly account?: string;
  /** Class and code of an inner error. */
  readonly error?: string;
}

/** What the front needs from its service. */
export interface FrontOptions {
  readonly answer: (exchange: Exchange) => Promise<Answer>;
  readonly intercept: Intercept | null;
  readonly shape: Shape;
  readonly metrics: Metrics;
  readonly mostUrlBytes: number;
  readonly log: ((entry: LogEntry) => void) | null;
  readonly now: () => number;
  /** True once the service is being stopped: answers then end their connection. */
  readonly draining: () => boolean;
}

/** The listener of an HTTP server: from the raw request to the last byte of the answer. */
export function createFront(
  options: FrontOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { intercept } = options;
  if (intercept === null) return (request, response) => void handle(options, request, response, {});
  return (request, response) =>
    intercept(request, response, (changes = {}) => void handle(options, request, response, changes));
}

async function handle(
  options: FrontOptions,
  request: IncomingMessage,
  response: ServerResponse,
  changes: AnswerChanges,
): Promise<void> {
  const began = performance.now();
  options.metrics.started();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const exchange = openExchange(request, gone.signal, options.shape, changes);
  let fault: unknown;
  try {
    const answer = await answered(options, exchange, (error) => {
      fault = error;
    });
    const { headers } = answer;
    headers['x-request-id'] = exchange.requestId;
    headers['cache-control'] ??= 'no-store';
    headers['x-content-type-options'] = 'nosniff';
    if (options.draining()) headers.connection = 'close';
    await send(response, exchange, answer);
  } catch (error) {
    // The head is out already: a cut connection is the only honest end.
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
    message: fault === undefined ? 'answered' : 'failed',
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
  changes: AnswerChanges,
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

async function answered(
  options: FrontOptions,
  exchange: Exchange,
  onFault: (error: unknown) => void,
): Promise<Answer> {
  try {
    if ((exchange.request.url ?? '').length > options.mostUrlBytes) {
      throw new Refusal(
        414,
        'url_too_long',
        `The URL is longer than ${options.mostUrlBytes} bytes. Shorten the filter.`,
      );
    }
    return await options.answer(exchange);
  } catch (error) {
    if (error instanceof Refusal) return problemAnswer(error, exchange.requestId);
    onFault(error);
    const retry = (error as { isRetryable?: unknown }).isRetryable === true;
    const refusal = retry
      ? new Refusal(503, 'store_unavailable', 'The store does not answer just now. Try again.', {
          headers: { 'retry-after': '1' },
        })
      : new Refusal(
          500,
          'internal_error',
          `The service failed. Tell its operator the request id ${exchange.requestId}.`,
        );
    return problemAnswer(refusal, exchange.requestId);
  }
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { code?: unknown };
  return code === undefined ? error.name : `${error.name} ${String(code)}`;
}

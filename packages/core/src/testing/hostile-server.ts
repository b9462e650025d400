import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { portOf } from '../errors/checked-reads.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Call } from '../record/generated/calls.ts';
import { durationMillis } from '../time/duration.ts';
import { type Fault, parseFaults } from './fault.ts';
import { fixtureCalls } from './fixture-calls.ts';
import { planResponse } from './plan-response.ts';
import { type Later, type PlannedResponse, sendResponse } from './send-response.ts';

/** A request as the server saw it. */
export interface SeenRequest {
  /** HTTP method. */
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The query alone. */
  readonly query: URLSearchParams;
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Body; filled in once it has been read. */
  body: string;
  /** True when the client closed the connection before the response was complete. */
  aborted: boolean;
}

/** A fault of the hostile server: one of the vocabulary, or code of a test's own. */
export interface HostileFault extends Fault {
  /** Changes the calls that are served, before the request is handled. */
  before?(calls: Call[]): void;
  /** Changes the response. */
  change?(
    response: PlannedResponse,
    request: { readonly url: string; readonly now: number },
  ): PlannedResponse;
  /** Sends the response in its own way. `later` sets a timer that ends with the server. */
  send?(planned: PlannedResponse, response: ServerResponse, later: Later): void;
}

/** The default number of attempts with waits of a few milliseconds, for tests. */
export const fastRetry: RetryPolicy = { attempts: 4, baseDelay: 1, maxDelay: 4 };

/** Faults that need code of the test's own; the others are data. */
export const faults = {
  /** Another status, body or headers in place of the right ones. */
  replace: (
    status: number,
    body = '',
    headers: Readonly<Record<string, string>> = {},
  ): HostileFault => ({
    change: () => ({
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
    }),
  }),
  /** A changed body. */
  body: (change: (body: Buffer) => Buffer): HostileFault => ({
    change: (response) => ({ ...response, body: change(response.body) }),
  }),
  /** Content-Range with its numbers changed; without it when `change` returns undefined. */
  range: (
    change: (first: number, last: number, total: number) => string | undefined,
  ): HostileFault => ({
    change(response) {
      const { 'content-range': sent = '', ...rest } = response.headers;
      const [, first = 0, last = 0, total = 0] = (/(\d+)-(\d+)\/(\d+)/.exec(sent) ?? []).map(
        Number,
      );
      const changed = change(first, last, total);
      return {
        ...response,
        headers: changed === undefined ? rest : { ...rest, 'content-range': changed },
      };
    },
  }),
} as const;

/** What the hostile server serves and when something goes wrong. */
export interface HostileOptions {
  /**
   * Served in this order; the list may be changed while the server runs. @default fixtureCalls(20)
   */
  readonly calls?: Call[] | undefined;
  /**
   * The most rows of a page. A request for more gets this many, and pages are counted by it.
   * @default no limit
   */
  readonly maxRows?: number | undefined;
  /** The fault for a request, when none is queued. `index` counts requests from 0. */
  readonly fault?: ((request: SeenRequest, index: number) => HostileFault | undefined) | undefined;
}

/** A server on loopback that serves calls, with faults on request. */
export interface HostileServer extends AsyncDisposable {
  /** Base URL of the API, and of the SMS listing. */
  readonly url: string;
  /** All requests so far. */
  readonly requests: SeenRequest[];
  /** The calls served; push, splice or replace in place. */
  readonly calls: Call[];
  /** Queues faults, as data or as text: each of the next requests takes one. */
  next(...faults: (HostileFault | string)[]): void;
  /** Connections that are open now. */
  connections(): number;
  /** Resolves when a request has been closed by the client before its response was complete. */
  abortSeen(): Promise<SeenRequest>;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

/**
 * Starts a hostile server on a free port of 127.0.0.1.
 *
 * @example
 * const server = await startHostileServer();
 * server.next('status=503', { cut: 0.5 });
 * const client = createClient({ baseUrl: server.url, auth: apiKeys('a', 'b'), retry: fastRetry });
 */
export async function startHostileServer(options: HostileOptions = {}): Promise<HostileServer> {
  const {
    calls = fixtureCalls(20),
    maxRows: clamp = Number.POSITIVE_INFINITY,
    fault: faultOf,
  } = options;
  const requests: SeenRequest[] = [];
  const queue: HostileFault[] = [];
  const abortWaiters: ((request: SeenRequest) => void)[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const later: Later = (run, ms) => void timers.add(setTimeout(run, ms));

  const respond = (seen: SeenRequest, response: ServerResponse): void => {
    const fault: HostileFault = queue.shift() ?? faultOf?.(seen, requests.length - 1) ?? {};

    const run = () => {
      fault.before?.(calls);
      const right = planResponse(calls, seen.url, { clamp, ...fault });
      const planned = fault.change?.(right, { url: seen.url, now: Date.now() }) ?? right;
      if (fault.send) fault.send(planned, response, later);
      else sendResponse(planned, fault, response, later);
    };

    if (fault.latency === undefined) run();
    else later(run, durationMillis(fault.latency, 'latency'));
  };

  const server = createServer((request, response) => {
    const seen = see(request);
    requests.push(seen);
    response.on('close', () => {
      if (response.writableFinished) return;
      seen.aborted = true;
      for (const resolve of abortWaiters.splice(0)) resolve(seen);
    });
    request.on('end', () => respond(seen, response));
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;

  const close = () =>
    new Promise<void>((resolve) => {
      for (const timer of timers) clearTimeout(timer);
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });

  return {
    url,
    requests,
    calls,
    next: (...faults) => {
      for (const fault of faults)
        queue.push(...(typeof fault === 'string' ? parseFaults(fault) : [fault]));
    },
    connections: () => sockets.size,
    abortSeen() {
      const past = requests.find((request) => request.aborted);
      return past ? Promise.resolve(past) : new Promise((resolve) => abortWaiters.push(resolve));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function see(request: IncomingMessage): SeenRequest {
  const url = request.url ?? '/';
  const { searchParams } = new URL(url, 'http://server.invalid');
  const seen: SeenRequest = {
    method: request.method ?? '',
    url,
    query: searchParams,
    headers: request.headers,
    body: '',
    aborted: false,
  };
  request.on('data', (chunk) => {
    seen.body += String(chunk);
  });
  return seen;
}

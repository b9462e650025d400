import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
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

/** A fault of the fake API: one of the vocabulary, or code of a test's own. */
export interface ApiFault extends Fault {
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
  ): ApiFault => ({
    change: () => ({
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
    }),
  }),
  /** A changed body. */
  body: (change: (body: Buffer) => Buffer): ApiFault => ({
    change: (response) => ({ ...response, body: change(response.body) }),
  }),
  /** Content-Range with its numbers changed; without it when `change` returns undefined. */
  range: (
    change: (first: number, last: number, total: number) => string | undefined,
  ): ApiFault => ({
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

/** What the fake API serves, and when something goes wrong. */
export interface FakeApiOptions {
  /** Served; the list may be changed while it runs. @default fixtureCalls(20) */
  readonly calls?: Call[] | undefined;
  /** The fault for a request, when none is queued. `index` counts requests from 0. */
  readonly faults?: ((request: SeenRequest, index: number) => ApiFault | undefined) | undefined;
  /** By `date_added`, or `scattered` in no order. @default that of `calls` */
  readonly order?: 'oldest' | 'newest' | 'scattered' | undefined;
  /**
   * The most rows of a page. A request for more gets this many, and pages are counted by it.
   * @default no limit
   */
  readonly cap?: number | undefined;
  /** Leaves calls from call extensions out of v3, unless the filter asks for them. @default false */
  readonly leavesOutExtensions?: boolean | undefined;
}

/** The API over a list of calls, for tests. */
export interface FakeApi {
  /** All requests so far. */
  readonly requests: SeenRequest[];
  /** The calls served; push, splice or replace in place. */
  readonly calls: Call[];
  /** Sids of calls that are counted, and that no list gives. */
  hidden: ReadonlySet<string>;
  /** Queues faults, as data or as text: each of the next requests takes one. */
  next(...faults: (ApiFault | string)[]): void;
  /**
   * Answers without a network, as the `fetch` of a client. Of a fault only `before` and `change`
   * are carried out.
   */
  fetch(address: unknown, init?: { readonly signal?: AbortSignal | null }): Promise<Response>;
  /** Starts a server on a free port of 127.0.0.1. */
  listen(): Promise<FakeApiServer>;
}

/** The same as a server on loopback, with faults of the connection. */
export interface FakeApiServer extends FakeApi, AsyncDisposable {
  /** Base URL of the API, and of the SMS listing. */
  readonly url: string;
  /** Connections that are open now. */
  connections(): number;
  /** Resolves when a request has been closed by the client before its response was complete. */
  abortSeen(): Promise<SeenRequest>;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

/**
 * The API over a list of calls, with faults on request: as a server, or as the `fetch` of a client.
 *
 * @example
 * const server = await fakeApi({ order: 'newest', cap: 50 }).listen();
 * server.next('status=503', { cut: 0.5 });
 * const client = createClient({ baseUrl: server.url, auth: apiKeys('a', 'b'), retry: fastRetry });
 */
export function fakeApi(options: FakeApiOptions = {}): FakeApi {
  const { calls = fixtureCalls(20), faults: faultOf, order, cap, leavesOutExtensions } = options;
  const requests: SeenRequest[] = [];
  const queue: ApiFault[] = [];

  /** The fault of a request that was seen, and the response as it would be sent. */
  const plan = (seen: SeenRequest) => {
    const fault: ApiFault = queue.shift() ?? faultOf?.(seen, requests.indexOf(seen)) ?? {};

    const planned = (): PlannedResponse => {
      fault.before?.(calls);
      const listed = order === undefined ? calls : [...calls].sort(orders[order]);
      const { hidden } = api;
      const right = planResponse(listed, seen.url, {
        clamp: cap,
        hidden,
        leavesOutExtensions,
        ...fault,
      });
      return fault.change?.(right, { url: seen.url, now: Date.now() }) ?? right;
    };

    return { fault, planned };
  };

  const api: FakeApi = {
    requests,
    calls,
    hidden: new Set(),
    next(...faults) {
      for (const fault of faults)
        queue.push(...(typeof fault === 'string' ? parseFaults(fault) : [fault]));
    },
    async fetch(address, init) {
      const { pathname, search } = new URL(String(address));
      const seen = seenRequest('GET', `${pathname}${search}`, {});
      requests.push(seen);
      const { status, headers, body } = plan(seen).planned();
      init?.signal?.throwIfAborted();
      return new Response(new Uint8Array(body), { status, headers });
    },
    listen: () => listen(api, plan),
  };
  return api;
}

const hashOf = ({ sid }: Call): string => createHash('sha256').update(sid).digest('hex');

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const timeOf = ({ date_added, sid }: Call): string => `${date_added} ${sid}`;

const orders = {
  oldest: (a: Call, b: Call) => compare(timeOf(a), timeOf(b)),
  newest: (a: Call, b: Call) => compare(timeOf(b), timeOf(a)),
  scattered: (a: Call, b: Call) => compare(hashOf(a), hashOf(b)),
};

/** What becomes of a request. */
type Plan = (seen: SeenRequest) => {
  readonly fault: ApiFault;
  planned(): PlannedResponse;
};

async function listen(api: FakeApi, plan: Plan): Promise<FakeApiServer> {
  const { requests } = api;
  const abortWaiters: ((request: SeenRequest) => void)[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const later: Later = (run, ms) => void timers.add(setTimeout(run, ms));

  const respond = (seen: SeenRequest, response: ServerResponse): void => {
    const { fault, planned } = plan(seen);

    const run = () => {
      if (fault.send) fault.send(planned(), response, later);
      else sendResponse(planned(), fault, response, later);
    };

    if (fault.latency === undefined) run();
    else later(run, durationMillis(fault.latency, 'latency'));
  };

  const server = createServer((request, response) => {
    const seen = seenRequest(request.method ?? '', request.url ?? '/', request.headers);
    requests.push(seen);
    request.on('data', (chunk) => {
      seen.body += String(chunk);
    });
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

  const close = () =>
    new Promise<void>((resolve) => {
      for (const timer of timers) clearTimeout(timer);
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });

  return Object.assign(api, {
    url: `http://127.0.0.1:${portOf(server)}`,
    connections: () => sockets.size,
    abortSeen() {
      const past = requests.find((request) => request.aborted);
      return past
        ? Promise.resolve(past)
        : new Promise<SeenRequest>((resolve) => abortWaiters.push(resolve));
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}

function seenRequest(method: string, url: string, headers: SeenRequest['headers']): SeenRequest {
  const { searchParams: query } = new URL(url, 'http://server.invalid');
  return { method, url, query, headers, body: '', aborted: false };
}

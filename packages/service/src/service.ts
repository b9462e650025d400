import type { Store } from '@call-attribution/store';
import { createTurns } from './connections/turns.ts';
import { serviceDefaults } from './defaults.ts';
import { createFeedDesk } from './feeds/desk.ts';
import type { Feed, FeedSource } from './feeds/feed.ts';
import { feedRoutes } from './feeds/routes.ts';
import { feedMetrics } from './feeds/status-page.ts';
import { refuseOpenFeeds, storeFeeds } from './feeds/store-feeds.ts';
import { createApi, createRoutes, firstOf, type Handler } from './http/api.ts';
import { createClosureLog } from './http/closures.ts';
import type { Intercept, Route, Shape } from './http/exchange.ts';
import { createFront, type LogEntry } from './http/front.ts';
import { createGate } from './http/gate.ts';
import { healthRoutes, metricsRoute } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { createRateLimiter, type RateLimit } from './http/rate-limit.ts';
import { type Limits, type OpenServer, openServer } from './http/server.ts';
import { openApiRoute } from './openapi/document.ts';
import { type PageOptions, pageRoutes } from './page/page-routes.ts';

/** An account with its keys in plain text, as a sandbox or a test knows it. */
export interface AccountWithKeys {
  /** Id in the store. */
  readonly id: string;
  /** Name to show. */
  readonly name: string;
  /** Access key of v3 and of the SMS listing. */
  readonly accessKey: string;
  /** Secret key that belongs to it. */
  readonly secretKey: string;
  /** Bearer token of v2. */
  readonly bearerToken: string;
}

/** What a service serves, and how. */
export interface ServiceOptions extends Partial<Shape> {
  /** Where calls and accounts are. The caller opens and closes it. Null for a service of feeds alone, without the API. */
  readonly store: Store | null;
  /** Accounts that `listen` adds to the store. Default none. */
  readonly accounts?: readonly AccountWithKeys[];
  /** Requests that each key may make; others get status 429. Default no limit. */
  readonly rateLimit?: RateLimit | null;
  /** Sees each API request first and may delay, change or replace the response. Default none. */
  readonly intercept?: Intercept | null;
  /** Further paths, served without credentials. Default none. */
  readonly routes?: readonly Route[];
  /** The page for people at `/`, or false for none. Default: a page with input fields for keys. */
  readonly page?: PageOptions | false;
  /** Upload sheets at fixed addresses, with their status for people at `/feeds`. Default none. */
  readonly feeds?: readonly Feed[];
  /** Where feeds read calls. Default: the store. */
  readonly feedSource?: FeedSource;
  /** What keeps the service from being ready, in a few words, or null. Default: nothing but the store does. */
  readonly ready?: () => string | null;
  /** Further metrics in the text format of Prometheus. Default none. */
  readonly metrics?: () => string;
  /** Receives one entry per request. Default none. */
  readonly log?: ((entry: LogEntry) => void) | null;
  /** Limits of time, number and size. */
  readonly limits?: Partial<Limits>;
  /**
   * Addresses or networks of your own proxies, such as `127.0.0.1` or `10.0.0.0/8`. The limit of connections per address does
   * not apply to them, and turns are shared between the clients that they name last in `x-forwarded-for`. Default none.
   */
  readonly proxies?: readonly string[];
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

/** Where to listen. */
export interface ListenOptions {
  /** Port of the API. Default 0: a free port. */
  readonly port?: number;
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** Another port for `/healthz`, `/readyz` and `/metrics`. Default: the port of the API. */
  readonly adminPort?: number | null;
  /** Certificate and private key in PEM form. Default plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | null;
}

/** Where a service listens. */
export interface Listening {
  /** The base URL of v2 and v3. */
  readonly url: string;
  /** The base URL of the SMS listing. */
  readonly legacyUrl: string;
  /** The base URL of health and metrics. */
  readonly adminUrl: string;
}

/** Threads in the pool of Node.js, unless UV_THREADPOOL_SIZE says otherwise. */
const poolSize = 4;

/** The API over a store. `await using` closes it. */
export interface Service extends AsyncDisposable {
  /** Starts to accept connections. */
  listen(at?: ListenOptions): Promise<Listening>;
  /** Stops listening and waits for responses in progress, up to `limits.drainMs`. The store stays open. */
  close(): Promise<void>;
}

/**
 * Creates the API over a store; `listen` starts it.
 *
 * @example
 * const store = await openStore('sqlite:calls.db');
 * const service = createService({ store, maxRows: 500 });
 * const { url } = await service.listen({ port: 8675 });
 */
export function createService(options: ServiceOptions): Service {
  const { store, now = Date.now, intercept = null, log = null, page = store === null ? false : {} } = options;
  const limits: Limits = { ...serviceDefaults.limits, ...options.limits };
  const shape: Shape = {
    singleAs: options.singleAs ?? serviceDefaults.singleAs,
    countAs: options.countAs ?? serviceDefaults.countAs,
    defaultRows: options.defaultRows ?? serviceDefaults.defaultRows,
    maxRows: options.maxRows ?? serviceDefaults.maxRows,
    rowsOver: options.rowsOver ?? serviceDefaults.rowsOver,
  };
  const metrics = createMetrics({
    connections: () => servers.reduce((sum, server) => sum + server.connections(), 0),
    waiting: () => turns.waiting,
  });
  const turns = createTurns({
    store: Math.min(limits.atWork, store?.readsAtOnce ?? limits.atWork),
    pool: poolSize,
  });
  const closures = createClosureLog(metrics, log, now);
  let stopping = false;
  let servers: OpenServer[] = [];

  const desk = createFeedDesk(options.feeds ?? [], options.feedSource ?? storeFeeds(store), now);
  const routes = createRoutes([
    ...(options.routes ?? []),
    ...(desk.states.length === 0 ? [] : feedRoutes(desk, now)),
    ...(store === null ? [] : [openApiRoute(shape)]),
    ...(page === false ? [] : pageRoutes(page)),
  ]);
  const limiter = options.rateLimit ? createRateLimiter(options.rateLimit, now) : null;
  const api = store === null ? [] : [createApi(store, createGate(store, limiter, now))];
  const health = healthRoutes(store, () => stopping, options.ready ?? (() => null));
  const more = () => (desk.states.length === 0 ? '' : feedMetrics(desk.states)) + (options.metrics?.() ?? '');
  const admin = [...health, metricsRoute(metrics, more)];

  const frontFor = (handlers: readonly Handler[], before: Intercept | null) =>
    createFront({
      handle: firstOf(...handlers),
      intercept: before,
      shape,
      metrics,
      mostUrlBytes: limits.urlBytes,
      log,
      now,
      draining: () => stopping,
      turns,
    });

  const stop = async () => {
    stopping = true;
    await Promise.all(servers.map((server) => server.stop(limits.drainMs)));
    closures.end();
    await Promise.all(
      [...new Set(desk.states.map(({ feed }) => feed.once?.ledger))].map((ledger) => ledger?.close()),
    );
  };
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop());

  const shared = { limits, turns, proxies: options.proxies ?? [], onClosed: closures.add };

  return {
    async listen({ port = 0, host = serviceDefaults.host, adminPort = null, tls = null } = {}) {
      if (servers.length > 0)
        throw new Error('The service is listening already. Create another one for another port.');
      refuseOpenFeeds(options, host);
      if (store !== null) for (const account of options.accounts ?? []) await addAccount(store, account);

      // Health is served even while an intercept holds the API back.
      const probes = adminPort === null ? admin : health;
      const probePaths = new Set(probes.map(({ path }) => path));
      const serveProbes = frontFor([createRoutes(probes)], null);
      const serveApi = frontFor([routes, ...api], intercept);
      const main = await openServer(
        (request, response, connection) => {
          const path = (request.url ?? '').split('?', 1)[0] ?? '';
          (probePaths.has(path) ? serveProbes : serveApi)(request, response, connection);
        },
        { ...shared, port, host, tls },
      );
      servers = [main];
      const { url } = main;
      if (adminPort === null) return { url, legacyUrl: url, adminUrl: url };

      const serveAdmin = frontFor([createRoutes(admin)], null);
      const own = await openServer(serveAdmin, { ...shared, port: adminPort, host, tls: null });
      servers.push(own);
      return { url, legacyUrl: url, adminUrl: own.url };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function addAccount(
  store: Store,
  { id, name, accessKey, secretKey, bearerToken }: AccountWithKeys,
): Promise<void> {
  await store.putAccount({ id, name });
  await store.putCredential(id, { kind: 'keys', accessKey, secretKey });
  await store.putCredential(id, { kind: 'bearer', token: bearerToken });
}

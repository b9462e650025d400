import { ConfigurationError } from '@call-attribution/core/errors';
import type { FetchHandler } from '@call-attribution/core/mount';
import type { Store } from '@call-attribution/store';
import { createTurns } from './connections/turns.ts';
import { serviceDefaults } from './defaults.ts';
import { createFeedDesk } from './feeds/desk.ts';
import { feedRoutes } from './feeds/routes.ts';
import { feedMetrics } from './feeds/status-page.ts';
import { refuseOpenFeeds, storeFeeds } from './feeds/store-feeds.ts';
import { createApi, createRoutes, firstOf, type Handler, isApiPath } from './http/api.ts';
import { createClosureLog } from './http/closures.ts';
import type { Exchange, Intercept, Reply, Route, Shape } from './http/exchange.ts';
import { createFront } from './http/front.ts';
import { createGate } from './http/gate.ts';
import { callCounter, statusRoutes } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { createMounted, type MountedHandler } from './http/mounted.ts';
import type { Listener } from './http/pipeline.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { type Limits, type OpenServer, openServer } from './http/server.ts';
import { openApiRoute } from './openapi/document.ts';
import type { AccountWithKeys, ListenOptions, ServiceOptions } from './options.ts';
import { checkListen, checkService } from './options.ts';
import { pageDataRoutes } from './page/data-routes.ts';
import { storeSource } from './page/index/store-source.ts';
import { type PageOptions, pageRoutes } from './page/page-routes.ts';

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
  /** Instead of `listen`: handles requests of another server, for Node.js, Express and Fastify. */
  readonly handler: MountedHandler;
  /** Instead of `listen`: the same for Hono, Deno and whatever else passes a `Request`. */
  readonly fetch: FetchHandler;
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
  checkService(options);
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
    connections: () => servers.reduce((sum, server) => sum + server.connections(), mounted.size),
    waiting: () => turns.waiting,
  });
  const turns = createTurns({
    store: Math.min(limits.atWork, store?.readsAtOnce ?? limits.atWork),
    pool: poolSize,
  });
  const prefix = (options.prefix ?? '').replace(/\/+$/, '');
  const closures = createClosureLog(metrics, log, now);
  let stopping = false;
  let servers: OpenServer[] = [];

  const limiter = options.rateLimit ? createRateLimiter(options.rateLimit, now) : null;
  const gate =
    store === null ? null : createGate((credential) => store.findAccount(credential), limiter, now);
  const api = store === null || gate === null ? [] : [createApi(store, gate)];
  /** The numbers and calls of the page, over its own source or the store. */
  const pageData = ({ source, mostCalls = serviceDefaults.pageCalls }: PageOptions): Route[] => {
    const find = source?.findAccount;
    const own = find === undefined ? gate : createGate(find, limiter, now);
    const from = source ?? (store === null ? null : storeSource(store, mostCalls));
    return from === null || own === null ? [] : pageDataRoutes(from, own);
  };

  const desk = createFeedDesk(options.feeds ?? [], options.feedSource ?? storeFeeds(store), now);
  const ownRoutes = [
    ...(options.routes ?? []),
    ...(desk.states.length === 0 ? [] : feedRoutes(desk, now)),
    ...(store === null ? [] : [openApiRoute({ ...shape, serverUrl: `${prefix}/` })]),
    ...(page === false ? [] : [...pageRoutes(page, store !== null), ...pageData(page)]),
  ];
  const routes = createRoutes(ownRoutes);
  const paths = new Set(ownRoutes.map(({ path }) => path));
  const countCalls = store === null ? async () => null : callCounter(store, now);
  const admin = statusRoutes(store, () => stopping, {
    ready: options.ready ?? (() => null),
    metrics: async () =>
      metrics.text(await countCalls()) +
      (desk.states.length === 0 ? '' : feedMetrics(desk.states)) +
      (options.metrics?.() ?? ''),
  });

  const health = admin.filter(({ path }) => path !== '/metrics');

  let added: Promise<void> | undefined;
  const addAccounts = (): Promise<void> => {
    added ??= addAll(store, options.accounts ?? []).catch((error: unknown) => {
      added = undefined;
      throw error;
    });
    return added;
  };

  const frontFor = (handlers: readonly Handler[], before: Intercept | null, prepare?: () => Promise<void>) =>
    createFront({
      handle: prepared(firstOf(...handlers), prepare),
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
    await Promise.all([mounted.stop(), ...servers.map((server) => server.stop(limits.drainMs))]);
    closures.end();
    await Promise.all(
      [...new Set(desk.states.map(({ feed }) => feed.once?.ledger))].map((ledger) => ledger?.close()),
    );
  };
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop());

  const shared = { limits, turns, proxies: options.proxies ?? [], onClosed: closures.add };
  const dispatch = (probes: readonly Route[], prepare?: () => Promise<void>): Listener => {
    // Health is served even while an intercept holds the API back.
    const probePaths = new Set(probes.map(({ path }) => path));
    const serveProbes = frontFor([createRoutes(probes)], null);
    const serveApi = frontFor([routes, ...api], intercept, prepare);
    return (request, response, connection) => {
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      (probePaths.has(path) ? serveProbes : serveApi)(request, response, connection);
    };
  };
  const isProbe = (path: string) => admin.some((probe) => probe.path === path);
  const mounted = createMounted({
    ...shared,
    prefix,
    has: (path) => paths.has(path) || isProbe(path) || (store !== null && isApiPath(path)),
    mayServe: (path) => !stopping || isProbe(path),
    check: () => refuseOpenFeeds(options, ''),
    serve: dispatch(admin, addAccounts),
  });

  return {
    async listen(at = {}) {
      checkListen(at);
      const { port = 0, host = serviceDefaults.host, adminPort = null, tls = null } = at;
      if (servers.length > 0)
        throw new ConfigurationError(
          'invalid_argument',
          'The service is listening already. Create another one for another port.',
        );
      refuseOpenFeeds(options, host);
      await addAccounts();
      const main = await openServer(dispatch(adminPort === null ? admin : health), {
        ...shared,
        port,
        host,
        tls,
      });
      servers = [main];
      const { url } = main;
      if (adminPort === null) return { url, legacyUrl: url, adminUrl: url };

      const serveAdmin = frontFor([createRoutes(admin)], null);
      const own = await openServer(serveAdmin, { ...shared, port: adminPort, host, tls: null });
      servers.push(own);
      return { url, legacyUrl: url, adminUrl: own.url };
    },
    handler: mounted.handler,
    fetch: mounted.fetch,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Waits for `prepare` before the first request is handled. */
function prepared(
  handle: (exchange: Exchange) => Promise<Reply>,
  prepare: (() => Promise<void>) | undefined,
): (exchange: Exchange) => Promise<Reply> {
  if (prepare === undefined) return handle;
  return async (exchange) => {
    await prepare();
    return handle(exchange);
  };
}

async function addAll(store: Store | null, accounts: readonly AccountWithKeys[]): Promise<void> {
  if (store !== null) for (const account of accounts) await addAccount(store, account);
}

async function addAccount(
  store: Store,
  { id, name, accessKey, secretKey, bearerToken }: AccountWithKeys,
): Promise<void> {
  await store.putAccount({ id, name });
  await store.putCredential(id, { kind: 'keys', accessKey, secretKey });
  await store.putCredential(id, { kind: 'bearer', token: bearerToken });
}

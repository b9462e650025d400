import { ConfigurationError } from '@call-attribution/core/errors';
import type { FetchHandler } from '@call-attribution/core/mount';
import type { ReadOf } from '@call-attribution/core/options';
import type { Store } from '@call-attribution/store';
import { FairTurns } from './connections/turns.ts';
import { serviceDefaults } from './defaults.ts';
import { createFeedDesk, type FeedDesk } from './feeds/desk.ts';
import { feedRoutes } from './feeds/routes.ts';
import { feedMetrics } from './feeds/status-page.ts';
import { refuseOpenFeeds, storeFeeds } from './feeds/store-feeds.ts';
import { createApi, createRoutes, firstOf, type Handler, isApiPath } from './http/api.ts';
import { createClosureLog } from './http/closures.ts';
import type { Exchange, Intercept, Reply, Route, Shape } from './http/exchange.ts';
import { createFront } from './http/front.ts';
import { createGate } from './http/gate.ts';
import { callCounter, statusRoutes } from './http/health.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { createMounted, type MountedHandler } from './http/mounted.ts';
import type { Listener } from './http/pipeline.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { type OpenServer, openServer } from './http/server.ts';
import { openApiRoute } from './openapi/document.ts';
import {
  type AccountWithKeys,
  type ListenOptions,
  listenOptions,
  type ServiceOptions,
  type ServiceSettings,
  serviceOptions,
} from './options.ts';
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
  /** Stops listening and waits for responses in progress, up to `limits.drainTimeout`. The store stays open. */
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
export function createService(given: ServiceOptions): Service {
  const options = serviceOptions.read(given);
  const { store, clock, log, limits } = options;
  const state: State = { isStopping: false, servers: [] };
  const turns = new FairTurns({
    store: Math.min(limits.atWork, store?.readsAtOnce ?? limits.atWork),
    pool: poolSize,
  });
  const metrics = createMetrics({
    connections: () => state.servers.reduce((sum, server) => sum + server.connections(), mounted.size),
    waiting: () => turns.waiting,
  });
  const closures = createClosureLog(metrics, log, clock);
  const desk = createFeedDesk(options.feeds, options.feedSource ?? storeFeeds(store), clock);
  const routes = routesOf(options, desk);
  const admin = adminRoutes(options, desk, metrics, state);
  const fronts = createFronts(options, routes, (handle, intercept) =>
    createFront({
      ...{ handle, intercept, metrics, log, clock, turns },
      shape: shapeOf(options),
      mostUrlBytes: limits.urlBytes,
      draining: () => state.isStopping,
    }),
  );
  const addAccounts = addingAccounts(options);
  const shared = { limits, turns, proxies: options.proxies, onClosed: closures.add };
  const isProbe = (path: string) => admin.some((probe) => probe.path === path);
  const isOurs = (path: string) => routes.own.some((route) => route.path === path);
  const mounted = createMounted({
    ...shared,
    prefix: prefixOf(options),
    has: (path) => isOurs(path) || isProbe(path) || (store !== null && isApiPath(path)),
    mayServe: (path) => !state.isStopping || isProbe(path),
    check: () => refuseOpenFeeds(options, ''),
    serve: fronts.withProbes(admin, addAccounts),
  });
  const closeAll = async () => {
    state.isStopping = true;
    await Promise.all([mounted.close(), ...state.servers.map((server) => server.close(limits.drainTimeout))]);
    closures.close();
    const ledgers = new Set(desk.states.map(({ feed }) => feed.once?.ledger));
    await Promise.all([...ledgers].map((ledger) => ledger?.close()));
  };
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeAll());
  return {
    async listen(at = {}) {
      const place = listenOptions.read(at);
      if (state.servers.length > 0) throw listensAlready();
      refuseOpenFeeds(options, place.host);
      await addAccounts();
      return openServers(place, { admin, fronts, shared, state });
    },
    handler: mounted.handler,
    fetch: mounted.fetch,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What changes while a service runs. */
interface State {
  isStopping: boolean;
  servers: OpenServer[];
}

const prefixOf = ({ prefix }: ServiceSettings): string => prefix.replace(/\/+$/, '');

const shapeOf = ({ singleAs, countAs, defaultRows, maxRows, rowsOver }: ServiceSettings): Shape => ({
  ...{ singleAs, countAs, defaultRows, maxRows, rowsOver },
});

interface Routes {
  /** Those with a path of their own: of the caller, feeds, the description of the API, the page. */
  readonly own: readonly Route[];
  /** The API, when there is a store. */
  readonly api: readonly Handler[];
}

function routesOf(options: ServiceSettings, desk: FeedDesk): Routes {
  const { store, clock, page = store === null ? false : {} } = options;
  const limiter = options.rateLimit ? createRateLimiter(options.rateLimit, clock) : null;
  const gateOf = (find: Store['findAccount']) => createGate(find, limiter, clock);
  const gate = store === null ? null : gateOf((credential) => store.findAccount(credential));
  /** The numbers and calls of the page, over its own source or the store. */
  const pageData = ({ source, maxCalls = serviceDefaults.pageCalls }: PageOptions): Route[] => {
    const own = source?.findAccount === undefined ? gate : gateOf(source.findAccount);
    const from = source ?? (store === null ? null : storeSource(store, maxCalls));
    return from === null || own === null ? [] : pageDataRoutes(from, own);
  };
  return {
    own: [
      ...options.routes,
      ...(desk.states.length === 0 ? [] : feedRoutes(desk, clock)),
      ...(store === null ? [] : [openApiRoute({ ...shapeOf(options), serverUrl: `${prefixOf(options)}/` })]),
      ...(page === false ? [] : [...pageRoutes(page, store !== null), ...pageData(page)]),
    ],
    api: store === null || gate === null ? [] : [createApi(store, gate)],
  };
}

/** Health and metrics. */
function adminRoutes(options: ServiceSettings, desk: FeedDesk, metrics: Metrics, state: State): Route[] {
  const { store, clock } = options;
  const countCalls = store === null ? async () => null : callCounter(store, clock);
  return statusRoutes(store, () => state.isStopping, {
    ready: options.ready,
    metrics: async () =>
      metrics.text(await countCalls()) +
      (desk.states.length === 0 ? '' : feedMetrics(desk.states)) +
      options.metrics(),
  });
}

interface Fronts {
  /** The service with these probes. `prepare` is waited for before the first request that is not one of them. */
  withProbes(probes: readonly Route[], prepare?: () => Promise<void>): Listener;
  /** Only these routes. */
  only(routes: readonly Route[]): Listener;
}

function createFronts(
  { intercept }: ServiceSettings,
  { own, api }: Routes,
  front: (handle: (exchange: Exchange) => Promise<Reply>, intercept: Intercept | null) => Listener,
): Fronts {
  const handler = createRoutes(own);
  const only = (routes: readonly Route[]) => front(firstOf(createRoutes(routes)), null);
  return {
    withProbes(probes, prepare) {
      // Health is served even while an intercept holds the API back.
      const probePaths = new Set(probes.map(({ path }) => path));
      const serveProbes = only(probes);
      const serveApi = front(prepared(firstOf(handler, ...api), prepare), intercept);
      return (request, response, connection) => {
        const path = (request.url ?? '').split('?', 1)[0] ?? '';
        (probePaths.has(path) ? serveProbes : serveApi)(request, response, connection);
      };
    },
    only,
  };
}

interface Opening {
  readonly admin: readonly Route[];
  readonly fronts: Fronts;
  readonly shared: Omit<Parameters<typeof openServer>[1], 'port' | 'host' | 'tls'>;
  readonly state: State;
}

/** Opens the port of the API, and that of health and metrics when they have one of their own. */
async function openServers(
  { port, host, adminPort, tls }: ReadOf<typeof listenOptions>,
  { admin, fronts, shared, state }: Opening,
): Promise<Listening> {
  const health = admin.filter(({ path }) => path !== '/metrics');
  const probes = adminPort === null ? admin : health;
  const main = await openServer(fronts.withProbes(probes), { ...shared, port, host, tls });
  state.servers = [main];
  const { url } = main;
  if (adminPort === null) return { url, legacyUrl: url, adminUrl: url };
  const own = await openServer(fronts.only(admin), { ...shared, port: adminPort, host, tls: null });
  state.servers.push(own);
  return { url, legacyUrl: url, adminUrl: own.url };
}

const listensAlready = () =>
  new ConfigurationError(
    'invalid_argument',
    'The service is listening already. Create another one for another port.',
  );

/** Adds the accounts of the options once; after a failure again. */
function addingAccounts({ store, accounts }: ServiceSettings): () => Promise<void> {
  let added: Promise<void> | undefined;
  return () => {
    added ??= addAll(store, accounts).catch((error: unknown) => {
      added = undefined;
      throw error;
    });
    return added;
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

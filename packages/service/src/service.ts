import { ConfigurationError } from '@call-attribution/core/errors';
import { createProgress, type HttpListener, listen, type Progress } from '@call-attribution/core/listen';
import type { Store } from '@call-attribution/store';
import { createFeedDesk, type FeedDesk } from './feeds/desk.ts';
import { feedRoutes } from './feeds/routes.ts';
import { feedMetrics } from './feeds/status-page.ts';
import { refuseOpenFeeds, storeFeeds } from './feeds/store-feeds.ts';
import { clientsBehind } from './http/addresses.ts';
import { apiRoutes, createApp, ownRoute } from './http/app.ts';
import type { AppRoute } from './http/context.ts';
import { followed } from './http/exchange.ts';
import { createAdmit } from './http/gate.ts';
import { callCounter, statusRoutes } from './http/health.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { type NodeHandler, nodeHandler } from './http/node.ts';
import { createPlaces, type Places } from './http/places.ts';
import type { Changes, Fetch } from './http/public-types.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { Refusal } from './http/refusal.ts';
import { createTries } from './http/tries.ts';
import { openApiRoute } from './openapi/route.ts';
import {
  type AccountWithKeys,
  type ListenOptions,
  listenPlace,
  type ServiceOptions,
  type ServiceSettings,
  serviceSettings,
} from './options.ts';
import { pageDataRoutes } from './page/data-routes.ts';
import { keysGate, passwordGate } from './page/page-gate.ts';
import type { PageOptions } from './page/page-options.ts';
import { pageRoutes } from './page/page-routes.ts';
import { PageSource } from './page/page-source.ts';

/** Where a service listens. */
export interface Listening {
  /** The base URL of v2 and v3. */
  readonly url: string;
  /** The base URL of the SMS listing. */
  readonly legacyUrl: string;
  /** The base URL of health and metrics. */
  readonly adminUrl: string;
}

/** The API over a store. `await using` closes it. */
export interface Service extends AsyncDisposable {
  /** Responds to a request: for Hono, Bun, Deno and whatever else speaks in requests and responses. */
  readonly fetch: Fetch;
  /** The same for a server of Node.js, for Express and for Fastify. */
  readonly handler: NodeHandler;
  /** Starts a server of its own. */
  listen(at?: ListenOptions): Promise<Listening>;
  /** Stops listening and waits for responses in progress, up to `drainTimeout`. The store stays open. */
  close(): Promise<void>;
}

/**
 * Creates the API over a store: `fetch` responds to requests, and `listen` starts a server for it.
 *
 * @example
 * const store = await openStore('sqlite:calls.db');
 * const service = createService({ store, maxRows: 500 });
 * const { url } = await service.listen({ port: 8675 });
 */
export function createService(given: ServiceOptions): Service {
  const options = serviceSettings(given);
  const { store, clock } = options;
  const state: State = { isStopping: false, servers: [] };
  const metrics = createMetrics();
  const places = createPlaces(options.atOnce);
  const progress = createProgress();
  const desk = createFeedDesk(options.feeds, options.feedSource ?? storeFeeds(store), clock);
  const admin = adminRoutes(options, { desk, metrics, places, state });
  const prepare = addingAccounts(options);
  const routes = ownRoutes(options, desk, places).map(whileOpen(prepare, state));
  const { fetchOf, handlerOf } = createEntries(options, { admin, metrics, progress, state });
  const everything = [...admin, ...routes];
  const [fetch, handler] = [fetchOf(everything), handlerOf(everything)];
  const closeAll = async () => {
    state.isStopping = true;
    const drained = progress.drain(options.drainTimeout);
    await Promise.all([drained, ...state.servers.map((server) => server.close(drained))]);
    const ledgers = new Set(desk.states.map(({ feed }) => feed.once?.ledger));
    await Promise.all([...ledgers].map((ledger) => ledger?.close()));
  };
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeAll());
  return {
    async fetch(request, env) {
      refuseOpenFeeds(options, '');
      return fetch(request, env);
    },
    handler(request, response) {
      refuseOpenFeeds(options, '');
      handler(request, response);
    },
    async listen(at = {}) {
      const place = listenPlace(at);
      if (state.servers.length > 0) throw listensAlready();
      refuseOpenFeeds(options, place.host);
      await prepare();
      const { adminPort, ...main } = place;
      const { connections, headerBytes: maxHeaderSize, headTimeout, idleTimeout } = options;
      const open = async (handle: NodeHandler, where: typeof main): Promise<HttpListener> => {
        const server = await listen(handle, {
          ...{ ...where, connections, maxHeaderSize, idleTimeout, onDrop: metrics.dropped },
          ...{ headersTimeout: headTimeout, requestTimeout: headTimeout },
          connectionsCheckingInterval: Math.min(headTimeout, 5_000),
          keepAliveTimeout: Math.min(idleTimeout, 65_000),
        });
        state.servers.push(server);
        return server;
      };
      if (adminPort === null) {
        const { url } = await open(handler, main);
        return { url, legacyUrl: url, adminUrl: url };
      }
      const health = admin.filter(({ path }) => path !== '/metrics');
      const { url } = await open(handlerOf([...health, ...routes]), main);
      const own = await open(handlerOf(admin), { ...main, port: adminPort, tls: null });
      return { url, legacyUrl: url, adminUrl: own.url };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A route that answers once the accounts are there, and until the service is closed. */
const whileOpen =
  (prepare: () => Promise<void>, state: State) =>
  (route: AppRoute): AppRoute => ({
    ...route,
    async handle(c) {
      await prepare();
      if (state.isStopping && state.servers.length === 0) throw closing();
      return route.handle(c);
    },
  });

/** What changes while a service runs. */
interface State {
  isStopping: boolean;
  readonly servers: HttpListener[];
}

interface Entries {
  /** What responds to a `Request` at these paths. */
  fetchOf(paths: readonly AppRoute[]): Fetch;
  /** The same for Node.js. Through it requests get to the intercept. */
  handlerOf(paths: readonly AppRoute[]): NodeHandler;
}

interface Entered {
  readonly admin: readonly AppRoute[];
  readonly metrics: Metrics;
  readonly progress: Progress;
  readonly state: State;
}

function createEntries(
  { prefix, intercept, sendTimeout, urlBytes, log, clock }: ServiceSettings,
  { admin, metrics, progress, state }: Entered,
): Entries {
  const probes = new Set(admin.map(({ path }) => `${prefix}${path}`));
  const isProbe = (url: string) => probes.has(url.replace(/\?.*/s, ''));
  const changes: Changes = new WeakMap();
  const fetchOf = (routes: readonly AppRoute[]) =>
    followed({
      ...{ changes, metrics, log, clock, progress, sendTimeout },
      app: createApp({ prefix, mostUrlBytes: urlBytes, routes }).fetch,
      isStopping: () => state.isStopping,
    });
  return {
    fetchOf,
    handlerOf: (paths) => nodeHandler(fetchOf(paths), { intercept, isProbe, changes, progress }),
  };
}

/** All paths of the service but those of health and metrics. */
function ownRoutes(options: ServiceSettings, desk: FeedDesk, places: Places): AppRoute[] {
  const { store, clock, page = store === null ? false : {} } = options;
  const limiter = options.rateLimit ? createRateLimiter(options.rateLimit, clock) : null;
  const admit =
    store === null
      ? null
      : createAdmit((credential) => store.findAccount(credential), { limiter, clock, places });
  const tryPassword = createTries(clientsBehind(options.proxies));
  const ofPage = (page: PageOptions): AppRoute[] => {
    if (store === null || admit === null) return [];
    const { password } = page;
    const gate = password ? passwordGate(password, { store, places, tryPassword }) : keysGate(admit);
    return [...pageRoutes(page, gate, clock), ...pageDataRoutes(new PageSource(store), gate)];
  };
  return [
    ...options.routes.map(ownRoute),
    ...(desk.states.length === 0 ? [] : feedRoutes(desk, { clock, places, tryPassword })),
    ...(page === false ? [] : ofPage(page)),
    ...(store === null || admit === null
      ? []
      : [openApiRoute({ ...options, serverUrl: `${options.prefix}/` }), ...apiRoutes(store, admit, options)]),
  ];
}

interface Observed {
  readonly desk: FeedDesk;
  readonly metrics: Metrics;
  readonly places: Places;
  readonly state: State;
}

/** Health and metrics. */
function adminRoutes(options: ServiceSettings, { desk, metrics, places, state }: Observed): AppRoute[] {
  const { store, clock } = options;
  const countCalls = store === null ? async () => null : callCounter(store, clock);
  return statusRoutes(store, () => state.isStopping, {
    ready: options.ready,
    async metrics() {
      const counts = await Promise.all(state.servers.map((server) => server.connections()));
      const connections = counts.reduce((sum, count) => sum + count, 0);
      return (
        metrics.text({ connections, waiting: places.waiting, calls: await countCalls() }) +
        (desk.states.length === 0 ? '' : feedMetrics(desk.states)) +
        options.metrics()
      );
    },
  });
}

const closing = () => new Refusal('closing', 'The service is closing.', { headers: { 'retry-after': '1' } });

const listensAlready = () =>
  new ConfigurationError(
    'invalid_option',
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

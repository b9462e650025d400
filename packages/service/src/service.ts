import { ConfigurationError } from '@call-attribution/core/errors';
import { createProgress, type HttpListener, listen } from '@call-attribution/core/listen';
import { limits, serviceDefaults } from './defaults.ts';
import { refuseOpenFeeds } from './feeds/feed.ts';
import { feedRoutes } from './feeds/routes.ts';
import { createAdmission } from './http/admission.ts';
import { createApp } from './http/app.ts';
import type { AppRoute } from './http/context.ts';
import { followed } from './http/exchange.ts';
import { createMetrics, statusRoutes } from './http/metrics.ts';
import { nodeHandler } from './http/node.ts';
import { createTries, refuseShortPassword } from './http/passwords.ts';
import type { Fetch, NodeHandler, RouteFacts } from './http/public-types.ts';
import { Refusal } from './http/refusal.ts';
import {
  type ListenOptions,
  type ServiceOptions,
  type ServiceSettings,
  serviceSettings,
} from './options.ts';
import { serviceRoutes } from './routes.ts';

/** Where a service listens. */
export interface Listening {
  /** The base URL of v2, v3 and the SMS listing. */
  readonly url: string;
  /** The base URL of health and metrics. */
  readonly adminUrl: string;
}

/** The API over a store. `await using` closes it. */
export interface Service extends AsyncDisposable {
  /**
   * Responds to a request: for Hono, Bun, Deno and whatever else speaks in requests and responses.
   */
  readonly fetch: Fetch;
  /** All its paths: who may use each, and what it shows. */
  readonly routes: readonly RouteFacts[];
  /** The same for a server of Node.js, for Express and for Fastify. */
  readonly handler: NodeHandler;
  /** Starts a server of its own. */
  listen(at?: ListenOptions): Promise<Listening>;
  /**
   * Stops listening and waits for responses in progress, up to `drainTimeout`. The store stays
   * open.
   */
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
  const { store, clock, prefix } = options;
  const servers: HttpListener[] = [];
  let isStopping = false;
  const metrics = createMetrics();
  const progress = createProgress();
  const admission = createAdmission(options);
  const tryPassword = createTries(options.proxies, clock);
  const feeds = feedRoutes(options.feeds, {
    store,
    clock,
    tryPassword,
    takePlace: admission.takePlace,
  });
  const prepare = addingAccounts(options);

  const admin = statusRoutes({
    store,
    ready: options.ready,
    isStopping: () => isStopping,
    async metrics() {
      const counts = await Promise.all(servers.map((server) => server.connections()));
      const open = counts.reduce((sum, count) => sum + count, 0);
      const own = metrics.text({ connections: open, waiting: admission.waiting() });
      return own + feeds.metrics() + options.metrics();
    },
  });
  const whileOpen = (route: AppRoute): AppRoute => ({
    ...route,
    async handle(c) {
      await prepare();
      if (isStopping && servers.length === 0)
        throw new Refusal('closing', 'The service is closing.', {
          headers: { 'retry-after': '1' },
        });
      return route.handle(c);
    },
  });
  const routes = serviceRoutes(options, { admission, tryPassword, clock, feeds }).map(whileOpen);

  const followOf = (paths: readonly AppRoute[]) =>
    followed({
      metrics,
      clock,
      progress,
      log: options.log,
      sendTimeout: options.sendTimeout,
      app: createApp(prefix, paths).fetch,
      isStopping: () => isStopping,
    });

  const handlerOf = (paths: readonly AppRoute[]) =>
    nodeHandler(followOf(paths), options.intercept, progress);
  const follow = followOf([...admin, ...routes]);
  const handler = nodeHandler(follow, options.intercept, progress);

  const closeAll = async () => {
    isStopping = true;
    const drained = progress.drain(options.drainTimeout);
    await Promise.all([drained, ...servers.map((server) => server.close(drained))]);
    const ledgers = new Set(options.feeds.map(({ once }) => once?.ledger));
    await Promise.all([...ledgers].map((ledger) => ledger?.close()));
  };

  /** Refuses what may not be where others can reach it. */
  const refuseReachable = (host: string): void => {
    refuseOpenFeeds(options, host);
    const { page, proxies } = options;
    refuseShortPassword((page !== false && page.password) || null, host, proxies);
  };

  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeAll());
  return {
    routes: [...admin, ...routes].map(({ handle: _, ...facts }) => facts),
    async fetch(request, env) {
      refuseReachable('');
      return follow(request, env);
    },
    handler(request, response) {
      refuseReachable('');
      handler(request, response);
    },
    async listen({ port = 0, host = serviceDefaults.host, adminPort = null, tls = null } = {}) {
      if (servers.length > 0)
        throw new ConfigurationError(
          'invalid_option',
          'The service is listening already. Create another one for another port.',
        );

      refuseReachable(host);
      await prepare();

      const open = async (
        handle: NodeHandler,
        at: number,
        certificate: typeof tls,
      ): Promise<string> => {
        const place = { host, port: at, tls: certificate, onDrop: metrics.dropped };
        const server = await listen(handle, { ...place, ...timesOf(options) });
        servers.push(server);
        return server.url;
      };

      if (adminPort === null) {
        const url = await open(handler, port, tls);
        return { url, adminUrl: url };
      }

      const health = admin.filter(({ path }) => path !== '/metrics');
      const url = await open(handlerOf([...health, ...routes]), port, tls);
      return { url, adminUrl: await open(handlerOf(admin), adminPort, null) };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** How many connections a server has, and how long each may be silent. */
const timesOf = ({ connections, headTimeout, idleTimeout }: ServiceSettings) => ({
  connections,
  idleTimeout,
  headersTimeout: headTimeout,
  requestTimeout: headTimeout,
  maxHeaderSize: limits.headerBytes,
  connectionsCheckingInterval: Math.min(headTimeout, 5_000),
  keepAliveTimeout: Math.min(idleTimeout, 65_000),
});

/** Adds the accounts of the options once; after a failure again. */
function addingAccounts({ store, accounts }: ServiceSettings): () => Promise<void> {
  const addAll = async () => {
    for (const { id, name, accessKey, secretKey, bearerToken } of accounts) {
      await store.putAccount({ id, name });
      await store.putCredential(id, { kind: 'keys', accessKey, secretKey });
      await store.putCredential(id, { kind: 'bearer', token: bearerToken });
    }
  };

  let added: Promise<void> | undefined;
  return () => {
    added ??= addAll().catch((error: unknown) => {
      added = undefined;
      throw error;
    });
    return added;
  };
}

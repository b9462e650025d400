import type { Server } from 'node:http';
import type { Store } from '@call-attribution/store';
import { serviceDefaults } from './defaults.ts';
import { createApi, createRoutes } from './http/api.ts';
import type { Intercept, Route, Shape } from './http/exchange.ts';
import { createFront, type FrontOptions, type LogEntry } from './http/front.ts';
import { createGate } from './http/gate.ts';
import { healthRoutes, metricsRoute } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { createRateLimiter, type RateLimit } from './http/rate-limit.ts';
import { type Limits, openServer, stopServer, urlOf } from './http/server.ts';
import { openApiRoute } from './openapi/openapi-route.ts';
import { type PageOptions, pageRoutes } from './page/page-routes.ts';

/** An account with its keys in plain text, as a sandbox or a test knows it. */
export interface AccountWithKeys {
  readonly id: string;
  readonly name: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bearerToken: string;
}

/** Options of {@link createService}. */
export interface ServiceOptions extends Partial<Shape> {
  /** Where calls and accounts are. The caller opens it and closes it. */
  readonly store: Store;
  /** Accounts that are added to the store before it listens. Default none. */
  readonly accounts?: readonly AccountWithKeys[];
  /** Requests each key may make; more are answered 429. Default no limit. */
  readonly rateLimit?: RateLimit | null;
  /** Stands before the API and may delay, change or replace answers. Default none. */
  readonly intercept?: Intercept | null;
  /** Further paths, answered without credentials. */
  readonly routes?: readonly Route[];
  /** The human page at `/`, or false for none. Default a page that asks for one's own keys. */
  readonly page?: PageOptions | false;
  /** Takes one entry per request. Default none. */
  readonly log?: ((entry: LogEntry) => void) | null;
  /** Limits of time and size. */
  readonly limits?: Partial<Limits>;
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

/** Where to listen. */
export interface ListenOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** A port of its own for `/healthz`, `/readyz` and `/metrics`. Default: they are served beside the API. */
  readonly adminPort?: number | null;
  /** Certificate and key in PEM form. Default plain HTTP. */
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

/** The API over a store. */
export interface Service {
  listen(at?: ListenOptions): Promise<Listening>;
  /** Takes no new connection, lets answers finish for a while, then ends. The store stays open. */
  close(): Promise<void>;
}

/** Makes the API over a store; `listen` starts it. */
export function createService(options: ServiceOptions): Service {
  const { store, now = Date.now, intercept = null, log = null, page = {} } = options;
  const limits: Limits = { ...serviceDefaults.limits, ...options.limits };
  const shape: Shape = {
    singleAs: options.singleAs ?? serviceDefaults.singleAs,
    countAs: options.countAs ?? serviceDefaults.countAs,
    defaultRows: options.defaultRows ?? serviceDefaults.defaultRows,
    maxRows: options.maxRows ?? serviceDefaults.maxRows,
    rowsOver: options.rowsOver ?? serviceDefaults.rowsOver,
  };
  const routes = [
    ...(options.routes ?? []),
    openApiRoute(shape),
    ...(page === false ? [] : pageRoutes(page)),
  ];
  const metrics = createMetrics();
  const limiter = options.rateLimit ? createRateLimiter(options.rateLimit, now) : null;
  const gate = createGate(store, limiter, now);
  let stopping = false;
  let servers: Server[] = [];

  const health = healthRoutes(store, () => stopping);
  const admin = [...health, metricsRoute(metrics)];
  const front = (answer: FrontOptions['answer'], before: Intercept | null) =>
    createFront({
      answer,
      intercept: before,
      shape,
      metrics,
      mostUrlBytes: limits.urlBytes,
      log,
      now,
      draining: () => stopping,
    });

  return {
    async listen({ port = 0, host = serviceDefaults.host, adminPort = null, tls = null } = {}) {
      if (servers.length > 0)
        throw new Error('The service listens already. Make another one for another port.');
      for (const account of options.accounts ?? []) await addAccount(store, account);
      const api = front(createRoutes(routes, createApi(store, gate)), intercept);
      // Probes of health are answered even while an intercept holds the API back.
      const beside = adminPort === null ? admin : health;
      const probes = front(createRoutes(beside), null);
      const probed = new Set(beside.map(({ path }) => path));
      const main = await openServer(
        (request, response) =>
          (probed.has((request.url ?? '').split('?', 1)[0] ?? '') ? probes : api)(request, response),
        { port, host, tls, limits },
      );
      servers = [main];
      const url = urlOf(main, host, tls !== null);
      if (adminPort === null) return { url, legacyUrl: url, adminUrl: url };
      const own = await openServer(front(createRoutes(admin), null), {
        port: adminPort,
        host,
        tls: null,
        limits,
      });
      servers.push(own);
      return { url, legacyUrl: url, adminUrl: urlOf(own, host, false) };
    },
    async close() {
      stopping = true;
      await Promise.all(servers.map((server) => stopServer(server, limits.drainMs)));
    },
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

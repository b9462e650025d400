import { type Clock, durationMillis, systemClock } from '@call-attribution/core/time';
import type { Store } from '@call-attribution/store';
import {
  type LimitOptions,
  type Limits,
  limitDefaults,
  type Shape,
  type ShapeOptions,
  serviceDefaults,
  shapeDefaults,
} from './defaults.ts';
import type { Feed, FeedSource } from './feeds/feed.ts';
import type { Intercept, LogEntry, Route } from './http/public-types.ts';
import type { RateLimit } from './http/rate-limit.ts';
import type { PageOptions } from './page/page-options.ts';

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
export interface ServiceOptions extends ShapeOptions, LimitOptions {
  /** Where calls and accounts are. The caller opens and closes it. Null for a service of feeds alone, without the API. */
  readonly store: Store | null;
  /** Accounts that `listen` adds to the store. Default none. */
  readonly accounts?: readonly AccountWithKeys[] | undefined;
  /** Requests that each key may make; others get status 429. Default no limit. */
  readonly rateLimit?: RateLimit | null | undefined;
  /** Sees each API request first and may delay, change or replace the response. Default none. */
  readonly intercept?: Intercept | null | undefined;
  /** Further paths, served without credentials. Default none. */
  readonly routes?: readonly Route[] | undefined;
  /** The page for people at `/`, or false for none. Default: a page with input fields for keys. */
  readonly page?: false | PageOptions | undefined;
  /** Upload sheets at fixed addresses, with their status for people at `/feeds`. Default none. */
  readonly feeds?: readonly Feed[] | undefined;
  /** Where feeds read calls. Default: the store. */
  readonly feedSource?: FeedSource | undefined;
  /** What keeps the service from being ready, in a few words, or null. Default: nothing but the store does. */
  readonly ready?: (() => string | null) | undefined;
  /** Further metrics in the text format of Prometheus. Default none. */
  readonly metrics?: (() => string) | undefined;
  /** Receives one entry per request. Default none. */
  readonly log?: ((entry: LogEntry) => void) | null | undefined;
  /**
   * Addresses or networks of your own proxies, such as `127.0.0.1` or `10.0.0.0/8`: wrong passwords of feeds count for the
   * clients that they name last in `x-forwarded-for`. Default none.
   */
  readonly proxies?: readonly string[] | undefined;
  /** Path under which an application mounts the service, such as `/calls`. Not needed where the application cuts it off. Default none. */
  readonly prefix?: string | undefined;
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/** The same with the defaults. */
export type ServiceSettings = ReturnType<typeof serviceSettings>;

/** What a service serves, and how, with the defaults. */
export function serviceSettings(options: ServiceOptions) {
  return {
    store: options.store,
    accounts: options.accounts ?? [],
    rateLimit: options.rateLimit ?? null,
    intercept: options.intercept ?? null,
    routes: options.routes ?? [],
    page: options.page,
    feeds: options.feeds ?? [],
    feedSource: options.feedSource,
    ready: options.ready ?? (() => null),
    metrics: options.metrics ?? (() => ''),
    log: options.log ?? null,
    proxies: options.proxies ?? [],
    prefix: (options.prefix ?? '').replace(/\/+$/, ''),
    clock: options.clock ?? systemClock,
    ...shapeOf(options),
    ...limitsOf(options),
  };
}

/** A certificate and its key, in PEM form. */
export interface Certificate {
  /** The certificate. */
  readonly cert: string;
  /** The private key. */
  readonly key: string;
}

/** Where to listen. */
export interface ListenOptions {
  /** Port of the API. Default 0: a free port. */
  readonly port?: number | undefined;
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Another port for `/healthz`, `/readyz` and `/metrics`. Default: the port of the API. */
  readonly adminPort?: number | null | undefined;
  /** Certificate and private key in PEM form. Default plain HTTP. */
  readonly tls?: Certificate | null | undefined;
}

/** Where to listen, with the defaults. */
export function listenPlace({
  port = 0,
  host = serviceDefaults.host,
  adminPort = null,
  tls = null,
}: ListenOptions) {
  return { port, host, adminPort, tls };
}

/** The points that the text of the API leaves open, with their defaults. */
export function shapeOf(options: ShapeOptions): Shape {
  const { singleAs, countAs, defaultRows, maxRows, rowsOver } = options;
  return {
    singleAs: singleAs ?? shapeDefaults.singleAs,
    countAs: countAs ?? shapeDefaults.countAs,
    defaultRows: defaultRows ?? shapeDefaults.defaultRows,
    maxRows: maxRows ?? shapeDefaults.maxRows,
    rowsOver: rowsOver ?? shapeDefaults.rowsOver,
  };
}

/** Limits of time in milliseconds, of number and of size, with their defaults. */
function limitsOf(options: LimitOptions): Limits {
  const given = { ...limitDefaults, ...options };
  const limit = (name: keyof Limits) => durationMillis(given[name] ?? limitDefaults[name], name);
  return {
    connections: limit('connections'),
    atOnce: limit('atOnce'),
    headTimeout: limit('headTimeout'),
    headerBytes: limit('headerBytes'),
    urlBytes: limit('urlBytes'),
    sendTimeout: limit('sendTimeout'),
    idleTimeout: limit('idleTimeout'),
    drainTimeout: limit('drainTimeout'),
  };
}

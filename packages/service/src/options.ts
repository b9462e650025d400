import {
  checkOptions,
  either,
  group,
  kinds,
  number,
  type OptionKind,
  type OptionShape,
  oneOf,
  only,
  whole,
  withMethods,
  wrongOption,
} from '@call-attribution/core/errors';
import type { Store } from '@call-attribution/store';
import { serviceDefaults } from './defaults.ts';
import type { Feed, FeedSource } from './feeds/feed.ts';
import type { Intercept, Route, Shape } from './http/exchange.ts';
import type { LogEntry } from './http/front.ts';
import type { RateLimit } from './http/rate-limit.ts';
import type { ServiceLimits } from './http/server.ts';
import type { PageOptions } from './page/page-routes.ts';

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
  readonly accounts?: readonly AccountWithKeys[] | undefined;
  /** Requests that each key may make; others get status 429. Default no limit. */
  readonly rateLimit?: RateLimit | null | undefined;
  /** Sees each API request first and may delay, change or replace the response. Default none. */
  readonly intercept?: Intercept | null | undefined;
  /** Further paths, served without credentials. Default none. */
  readonly routes?: readonly Route[] | undefined;
  /** The page for people at `/`, or false for none. Default: a page with input fields for keys. */
  readonly page?: PageOptions | false | undefined;
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
  /** Limits of time, number and size. */
  readonly limits?: Partial<ServiceLimits> | undefined;
  /**
   * Addresses or networks of your own proxies, such as `127.0.0.1` or `10.0.0.0/8`. The limit of connections per address does
   * not apply to them, and turns are shared between the clients that they name last in `x-forwarded-for`. Default none.
   */
  readonly proxies?: readonly string[] | undefined;
  /** Path under which an application mounts the service, such as `/calls`. Not needed where the application cuts it off. Default none. */
  readonly prefix?: string | undefined;
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
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
  readonly tls?: { readonly cert: string; readonly key: string } | null | undefined;
}

const none = only(null);
const storeKind = either(withMethods('a store opened with openStore()', 'page', 'count'), none);

const shape = {
  store: storeKind,
  accounts: kinds.list,
  rateLimit: either(group({ requests: whole(1), seconds: number(0) }), none),
  intercept: either(kinds.callback, none),
  routes: kinds.list,
  page: either(
    only(false),
    group({
      kind: oneOf('sandbox', 'mirror'),
      live: kinds.flag,
      accounts: kinds.list,
      assets: kinds.string,
      source: kinds.object,
      mostCalls: whole(0),
    } satisfies OptionShape & Record<keyof PageOptions, OptionKind>),
  ),
  feeds: kinds.list,
  feedSource: kinds.anything,
  ready: kinds.callback,
  metrics: kinds.callback,
  log: either(kinds.callback, none),
  limits: group(Object.fromEntries(Object.keys(serviceDefaults.limits).map((name) => [name, number(0)]))),
  proxies: kinds.list,
  prefix: kinds.string,
  now: kinds.callback,
  singleAs: oneOf('object', 'array'),
  countAs: oneOf('object', 'number', 'text', 'array', 'header'),
  defaultRows: whole(1),
  maxRows: whole(1),
  rowsOver: oneOf('reject', 'clamp'),
} satisfies OptionShape & Record<keyof ServiceOptions, OptionKind>;

const isPem = (value: unknown): boolean => typeof value === 'string' || value instanceof Uint8Array;

/** Further names are left to node:tls, which has many. */
const certificate: OptionKind = {
  expected: 'an object with cert and key in PEM form',
  accepts: (value) =>
    kinds.object.accepts(value) &&
    isPem((value as { cert?: unknown }).cert) &&
    isPem((value as { key?: unknown }).key),
};

/** The options of `listen`. */
const listenShape = {
  port: { ...whole(0), expected: 'a port from 0 to 65535', accepts: isPort },
  host: kinds.string,
  adminPort: either({ expected: 'a port from 0 to 65535', accepts: isPort, isShown: true }, none),
  tls: either(certificate, none),
} satisfies OptionShape & Record<keyof ListenOptions, OptionKind>;

function isPort(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 65_535;
}

/** Refuses options that a service cannot use. */
export function checkService(options: ServiceOptions): void {
  checkOptions(options, shape);
  if (options.store === undefined) throw wrongOption('store', storeKind, undefined);
}

/** Refuses options that `listen` does not have. */
export const checkListen = (options: ListenOptions): void => checkOptions(options, listenShape);

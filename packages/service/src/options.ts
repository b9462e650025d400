import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import type { Store } from '@call-attribution/store';
import {
  type LimitOptions,
  limitOptions,
  type ShapeOptions,
  serviceDefaults,
  shapeOptions,
} from './defaults.ts';
import type { Feed, FeedSource } from './feeds/feed.ts';
import type { Intercept, LogEntry, Route } from './http/public-types.ts';
import { type RateLimit, type RateSettings, rateLimitOptions } from './http/rate-limit.ts';
import { type PageOptions, pageOptions } from './page/page-options.ts';

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

const none = option.only(null);

/** The options of `createService`. */
export const serviceOptions = defineOptions({
  /** Where calls and accounts are. The caller opens and closes it. Null for a service of feeds alone, without the API. */
  store: option.methods<Store>('a store opened with openStore()', 'page', 'count').or(none).required(),
  /** Accounts that `listen` adds to the store. Default none. */
  accounts: option.list<AccountWithKeys>().default([]),
  /** Requests that each key may make; others get status 429. Default no limit. */
  rateLimit: option.table<RateLimit, RateSettings>(rateLimitOptions).or(none).default(null),
  /** Sees each API request first and may delay, change or replace the response. Default none. */
  intercept: option.callback<Intercept>().or(none).default(null),
  /** Further paths, served without credentials. Default none. */
  routes: option.list<Route>().default([]),
  /** The page for people at `/`, or false for none. Default: a page with input fields for keys. */
  page: option.only(false).or(option.table<PageOptions, PageOptions>(pageOptions)),
  /** Upload sheets at fixed addresses, with their status for people at `/feeds`. Default none. */
  feeds: option.list<Feed>().default([]),
  /** Where feeds read calls. Default: the store. */
  feedSource: option.anything<FeedSource>(),
  /** What keeps the service from being ready, in a few words, or null. Default: nothing but the store does. */
  ready: option.callback<() => string | null>().default(() => null),
  /** Further metrics in the text format of Prometheus. Default none. */
  metrics: option.callback<() => string>().default(() => ''),
  /** Receives one entry per request. Default none. */
  log: option.callback<(entry: LogEntry) => void>().or(none).default(null),
  /**
   * Addresses or networks of your own proxies, such as `127.0.0.1` or `10.0.0.0/8`: wrong passwords of feeds count for the
   * clients that they name last in `x-forwarded-for`. Default none.
   */
  proxies: option.list<string>().default([]),
  /** Path under which an application mounts the service, such as `/calls`. Not needed where the application cuts it off. Default none. */
  prefix: option
    .string()
    .as((path) => path.replace(/\/+$/, ''))
    .default(''),
  /** The clock. Default: that of the machine. */
  clock: option.clock(),
  ...shapeOptions.entries,
  ...limitOptions.entries,
});

/** What a service serves, and how. */
export interface ServiceOptions extends ShapeOptions, LimitOptions, OptionsOf<typeof serviceOptions> {}
/** The same with the defaults. */
export interface ServiceSettings extends ReadOf<typeof serviceOptions> {}

const port = () =>
  option.of<number>(
    'a port from 0 to 65535',
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 65_535,
    true,
  );

const isPem = (value: unknown): boolean => typeof value === 'string' || value instanceof Uint8Array;

/** A certificate and its key, in PEM form. */
export interface Certificate {
  /** The certificate. */
  readonly cert: string;
  /** The private key. */
  readonly key: string;
}

/** The options of `listen`. */
export const listenOptions = defineOptions({
  /** Port of the API. Default 0: a free port. */
  port: port().default(0),
  /** Address to listen on. Default `127.0.0.1`. */
  host: option.string().default(serviceDefaults.host),
  /** Another port for `/healthz`, `/readyz` and `/metrics`. Default: the port of the API. */
  adminPort: port().or(none).default(null),
  /** Certificate and private key in PEM form. Default plain HTTP. */
  tls: option
    // Further names are left to node:tls, which has many.
    .of<Certificate>(
      'an object with cert and key in PEM form',
      (value) =>
        typeof value === 'object' &&
        value !== null &&
        isPem(Reflect.get(value, 'cert')) &&
        isPem(Reflect.get(value, 'key')),
    )
    .or(none)
    .default(null),
});

/** Where to listen. */
export interface ListenOptions extends OptionsOf<typeof listenOptions> {}

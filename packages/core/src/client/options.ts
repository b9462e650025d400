import type { FilterInput } from '@call-attribution/query-dsl';
import type { Auth, KeyAuth } from '../auth/auth.ts';
import type { CustomHeaders } from '../http/custom-headers.ts';
import type { RequestDispatcher } from '../http/dispatch.ts';
import type { Fetch } from '../http/fetch-dispatcher.ts';
import { type Limiter, type LimiterOptions, limiterOptions } from '../http/limiter.ts';
import type { ProxyServer } from '../http/proxy.ts';
import { type RetryOptions, type RetryPolicy, retryOptions } from '../http/retry.ts';
import { type Log, type Logger, logLevels } from '../log/logger.ts';
import { defineOptions, type OptionsOf, type ReadOf } from '../options/define-options.ts';
import { option } from '../options/option.ts';
import type { RecordProblem } from '../record/check-record.ts';
import type { Environment } from '../settings/environment.ts';
import { type Clock, systemClock } from '../time/clock.ts';

/** Version of this package, for the user agent. A test keeps it equal to the manifest. */
const packageVersion = '0.1.0';

/** Deadlines of a client. */
const timeoutOptions = defineOptions({
  /** Until a connection is made. A given dispatcher has a deadline of its own instead. @default '10s' */
  connect: option.timeout().default('10s'),
  /** Silence of the server, before or within a response. @default '15s' */
  idle: option.timeout().default('15s'),
  /** One attempt, including its whole body. @default '1m' */
  attempt: option.timeout().default('1m'),
  /** The whole call, with all attempts and the waits between them. A list of many pages has it for each page. @default '2m' */
  total: option.timeout().default('2m'),
});

/** Deadlines that differ from the defaults: milliseconds, or a string such as '30s'; `Infinity` switches one off. */
export interface TimeoutOptions extends OptionsOf<typeof timeoutOptions> {}

/** Deadlines in milliseconds. */
export interface Timeouts extends ReadOf<typeof timeoutOptions> {}

const { connect: _, ...requestTimeouts } = timeoutOptions.entries;
/** The same of one request. */
const requestTimeoutOptions = defineOptions(requestTimeouts).open();

/** Deadlines of a request. */
export interface RequestTimeoutOptions extends OptionsOf<typeof requestTimeoutOptions> {}

/** The response that a result was read from. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** Headers by their names in lower case, without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** Id under which the server knows the request; null when it does not send one. */
  readonly requestId: string | null;
  /** How many times the request was sent. */
  readonly attempts: number;
}

/** The options of every request. */
export const requestOptions = defineOptions({
  /** Ends the request when it is aborted; the request rejects with the signal's reason. */
  signal: option.signal(),
  /** Deadlines of this request that differ from those of the client. A list has them for each of its pages. */
  timeout: option.table<RequestTimeoutOptions, Partial<Timeouts>>(requestTimeoutOptions),
  /** When this request is sent again, where that differs from the client. */
  retry: option.table<RetryOptions, Partial<RetryPolicy>>(retryOptions.open()),
  /** Headers of this request, in addition to those of the client or instead of them; `undefined` leaves one out. */
  headers: option.object<CustomHeaders>(),
  /** Called with the response that the result was read from. An error it throws ends nothing. */
  onResponse: option.callback<(response: ResponseInfo) => void>(),
});

/** What every method takes. */
export interface RequestOptions extends OptionsOf<typeof requestOptions> {}

/** The options of a count. */
export const countOptions = defineOptions({
  ...requestOptions.entries,
  /** Which calls. @default all calls */
  filter: option.of<FilterInput>(
    'a string in the language of q, a parsed filter or a builder',
    (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
  ),
});

/** The options of a list. */
export const listOptions = defineOptions({
  ...countOptions.entries,
  /** Calls of a page: what the maker of the API suggests for its sibling. @default 250 */
  rows: option.whole(1).default(250),
  /** Number of the first page, counted from 0, in pages of `rows`. @default 0 */
  page: option.whole(0).default(0),
});

/** Which calls to list. */
export interface ListQuery extends OptionsOf<typeof listOptions> {}

/** The options of `listSmsNumbers`. */
export const smsOptions = defineOptions({
  ...requestOptions.entries,
  /** `POST` sends the keys in a form body, which access logs do not record. @default 'GET' */
  method: option.oneOf('GET', 'POST').default('GET'),
});

/** How to list the SMS-enabled numbers. */
export interface SmsOptions extends OptionsOf<typeof smsOptions> {}

/** Something that a client noticed: not an error, but somebody should know. */
export type ClientReport =
  | ({ readonly type: 'record' } & RecordProblem)
  | { readonly type: 'clamped'; readonly requested: number; readonly received: number }
  | { readonly type: 'total_moved'; readonly from: number; readonly to: number }
  | { readonly type: 'repeated_calls'; readonly count: number }
  | { readonly type: 'plain_http'; readonly origin: string };

const made = <V>(expected: string) => option.of<V>(expected, (value) => value !== null);

/** The options of a client. */
export const clientOptions = defineOptions({
  /**
   * URL of the API, the part before `/v2` or `/v3`, without credentials. Leave it out to read `CALLS_BASE_URL`, and with it those
   * of `legacyBaseUrl`, `version` and `auth` that are left out too. `undefined` is refused: a variable may not be set.
   */
  baseUrl: option.string().expecting('a URL as a string'),
  /** URL of the SMS listing, the part before `/ibp_api.php`. Only `listSmsNumbers` needs it. */
  legacyBaseUrl: option.string().expecting('a URL as a string'),
  /** Version of the API. @default 'v3' */
  version: option.oneOf('v2', 'v3').default('v3'),
  /** Credentials, made by `apiKeys` or `bearerToken`. v2 takes a bearer token only. */
  auth: made<Auth>('made by apiKeys(access, secret) or bearerToken(token)'),
  /** Keys of the SMS listing, if `auth` is a bearer token. */
  legacyAuth: made<KeyAuth>('made by apiKeys(access, secret)'),
  /** Deadlines. */
  timeout: option.table<TimeoutOptions, Timeouts>(timeoutOptions).default({}),
  /** When a failed request is sent again. */
  retry: option.table<RetryOptions, RetryPolicy>(retryOptions).default({}),
  /** Limits to keep to, or a limiter shared with other clients. @default none */
  limiter: option
    .methods<Limiter>('a limiter', 'acquire', 'release', 'pause')
    .or(option.table<LimiterOptions, LimiterOptions>(limiterOptions))
    .expecting('limits such as { concurrency: 4 }, or a limiter made by createLimiter'),
  /**
   * The URL of a proxy for every server, or `false` for none, whatever the environment says.
   * @default what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say
   */
  proxy: option.string().or(option.only(false)).expecting('the URL of a proxy, or false'),
  /**
   * A dispatcher of undici 7 or 8 (a mock, other TLS settings, another proxy) instead of the client's own. `close()` leaves it open.
   * @default an agent of undici 7, through `proxy`
   */
  dispatcher: option.methods<RequestDispatcher>('a dispatcher of undici', 'dispatch'),
  /**
   * Sends requests with this function instead. It is passed a URL and `RequestInit`, and decodes bodies as the `fetch` of the platform
   * does; `timeout.connect` does not apply to it. @default the `fetch` of the platform where undici is not complete, as in Bun
   */
  fetch: option.callback<Fetch>(),
  /** Largest body that is accepted, compressed or decoded. @default 67108864 */
  maxBodyBytes: option.whole(1).default(64 * 1024 * 1024),
  /** Request gzip and br. @default true */
  compress: option.flag().default(true),
  /** What happens to records that do not match the table of fields. @default 'report' */
  records: option.oneOf('strict', 'report', 'off').default('report'),
  /** Called once for each unknown or broken field, and for clamped pages and totals that change. An error it throws ends nothing. */
  onReport: option.callback<(report: ClientReport) => void>(),
  /**
   * What the client logs to, such as `console` or a pino logger. Lines have no keys and no data of callers.
   * @default none; stderr when `logLevel` or the variable CALLS_LOG is set
   */
  logger: option.methods<Logger>(
    'a logger with debug, info, warn and error, such as console or one of pino',
    'debug',
    'info',
    'warn',
    'error',
  ),
  /** From which level on something is logged; a logger may leave out more. @default 'info' */
  logLevel: option.oneOf(...logLevels),
  /** Where the client takes the time from. @default systemClock */
  clock: option.methods<Clock>('a clock with now() and timer()', 'now', 'timer').default(systemClock),
  /** A number from 0 up to 1, for the jitter of waits. @default Math.random */
  random: option.callback<() => number>().default(() => Math.random()),
  /** Headers of every request, such as those that a gateway expects. The client sets its own and those of `auth`. */
  headers: option.object<CustomHeaders>().default({}),
  /** The User-Agent header. @default call-attribution-core and its version */
  userAgent: option
    .of<string>(
      'up to 256 printable ASCII characters',
      (value) => typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value),
    )
    .default(`call-attribution-core/${packageVersion}`),
  /**
   * Also reads a configuration file, as the `calls` command does: the file with this path, or, when `true`,
   * the one in the user's configuration folder. @default only the file named by CALLS_CONFIG
   */
  config: option.string().or(option.flag()).expecting('a path or true'),
  /** Environment variables to read, such as those of `takeEnvironment()`. @default process.env */
  env: option.object<Environment>().expecting('an object of environment variables'),
});

/** How a client is set up. What names the server and the account is read from the environment when `baseUrl` is left out. */
export interface ClientOptions extends OptionsOf<typeof clientOptions> {}

/** A base URL in the two parts that the transport needs. It holds no secret. */
export interface Address {
  readonly origin: string;
  /** Path before the API's own, without a slash at its end. */
  readonly prefix: string;
}

/** Options as the client uses them: checked, with defaults. */
export interface Settings
  extends Omit<
    ReadOf<typeof clientOptions>,
    'baseUrl' | 'legacyBaseUrl' | 'config' | 'env' | 'limiter' | 'proxy' | 'logger' | 'logLevel'
  > {
  readonly base: Address;
  readonly legacy: Address | undefined;
  readonly limiter: Limiter | undefined;
  /** Proxies by the origins of the servers. */
  readonly proxies: ReadonlyMap<string, ProxyServer>;
  readonly log: Log;
}

/** What a client uses unless an option says otherwise. */
export const clientDefaults: {
  /** Calls of a page. */
  readonly rows: number;
  /** Deadlines in milliseconds. */
  readonly timeout: Timeouts;
} = { rows: listOptions.fill({}).rows, timeout: timeoutOptions.fill({}) };

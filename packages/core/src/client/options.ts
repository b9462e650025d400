import type { FilterInput } from '@call-attribution/query-dsl';
import type { Auth, KeyAuth } from '../auth/auth.ts';
import type { RequestDispatcher } from '../http/dispatch.ts';
import type { Fetch } from '../http/fetch-dispatcher.ts';
import type { Limiter, LimiterOptions } from '../http/limiter.ts';
import type { ProxyServer } from '../http/proxy.ts';
import type { ClientRetry, RetryOptions } from '../http/retry.ts';
import type { Log, Logger, LogLevel } from '../log/logger.ts';
import type { RecordProblem } from '../record/check-record.ts';
import type { Version } from '../record/fields.ts';
import type { RecordMode } from '../record/to-call.ts';
import type { Environment } from '../settings/environment.ts';
import type { Clock } from '../time/clock.ts';
import type { Duration } from '../time/duration.ts';

/** Deadlines in milliseconds. */
export interface Timeouts {
  /**
   * Until a connection is made. A given dispatcher has a deadline of its own instead. @default
   * '10s'
   */
  readonly connect: number;
  /**
   * Silence of the server, before or within a response: milliseconds, or a string such as '30s'.
   * @default '15s'
   */
  readonly idle: number;
  /**
   * One attempt, including its whole body: milliseconds, or a string such as '30s'. @default '1m'
   */
  readonly attempt: number;
  /**
   * The whole call, with all attempts and the waits between them: milliseconds, or a string such as
   * '30s'. A list of many pages has it for each page. @default '2m'
   */
  readonly total: number;
}

/**
 * Deadlines that differ from the defaults: milliseconds, or a string such as '30s'; `Infinity`
 * switches one off.
 */
export type TimeoutOptions = { readonly [deadline in keyof Timeouts]?: Duration | undefined };

/** Deadlines of a request: milliseconds, or a string such as '30s'; `Infinity` switches one off. */
export type RequestTimeoutOptions = Omit<TimeoutOptions, 'connect'>;

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

/** What every method takes. */
export interface RequestOptions {
  /** Ends the request when it is aborted; the request rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Deadlines of this request that differ from those of the client: milliseconds or a string such
   * as '5s', after which it ends whatever it is doing, or one for each part, such as `{ idle: '5s',
   * total: '30s' }`. A list has them for each of its pages.
   */
  readonly timeout?: RequestTimeoutOptions | Duration | undefined;
  /** When this request is sent again, where that differs from the client. */
  readonly retry?: RetryOptions | undefined;
  /**
   * Headers of this request, in addition to those of the client or instead of them; `undefined`
   * leaves one out.
   */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called with the response that the result was read from. An error it throws ends nothing. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** Which calls to list. */
export interface ListQuery extends RequestOptions {
  /** Which calls. @default all calls */
  readonly filter?: FilterInput | undefined;
  /**
   * Calls of a page, from 1 on: what the maker of the API suggests for its sibling. @default 250
   */
  readonly rows?: number | undefined;
  /** Number of the first page, counted from 0, in pages of `rows`. @default 0 */
  readonly page?: number | undefined;
}

/** How to list the SMS-enabled numbers. */
export interface SmsOptions extends RequestOptions {
  /** `POST` sends the keys in a form body, which access logs do not record. @default 'GET' */
  readonly method?: 'GET' | 'POST' | undefined;
}

/** Something that a client noticed: not an error, but somebody should know. */
export type ClientReport =
  | ({ readonly type: 'record' } & RecordProblem)
  | { readonly type: 'clamped'; readonly requested: number; readonly received: number }
  | { readonly type: 'total_moved'; readonly from: number; readonly to: number }
  | { readonly type: 'repeated_calls'; readonly count: number }
  | { readonly type: 'plain_http'; readonly origin: string };

/**
 * How a client is set up. What names the server and the account is read from the environment when
 * `baseUrl` is left out.
 */
export interface ClientOptions {
  /**
   * URL of the API, without credentials. Leave it out to read `CALLS_BASE_URL`, and with it those
   * of `legacyBaseUrl`, `version` and `auth` that are left out too. `undefined` is refused: a
   * variable may not be set.
   */
  readonly baseUrl?: string | undefined;
  /** URL of the SMS listing, the part before `/ibp_api.php`. Only `listSmsNumbers` needs it. */
  readonly legacyBaseUrl?: string | undefined;
  /** Version of the API. @default the one that ends `baseUrl`, else 'v3' */
  readonly version?: Version | undefined;
  /** Credentials, made by `apiKeys` or `bearerToken`. v2 takes a bearer token only. */
  readonly auth?: Auth | undefined;
  /** Keys of the SMS listing, if `auth` is a bearer token. */
  readonly legacyAuth?: KeyAuth | undefined;
  /**
   * Deadlines: milliseconds or a string such as '30s', after which a call ends whatever it is
   * doing, or one for each part.
   * @default { connect: '10s', idle: '15s', attempt: '1m', total: '2m' }
   */
  readonly timeout?: TimeoutOptions | Duration | undefined;
  /**
   * When a failed request is sent again. @default { attempts: 4, baseDelay: 250, maxDelay: '8s' }
   */
  readonly retry?: RetryOptions | undefined;
  /**
   * Limits to keep to, such as `{ concurrency: 4 }`, or a limiter shared with other clients.
   * @default none
   */
  readonly limiter?: Limiter | LimiterOptions | undefined;
  /**
   * The URL of a proxy for every server, or `false` for none, whatever the environment says.
   * @default what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say
   */
  readonly proxy?: string | false | undefined;
  /**
   * A dispatcher of undici 7 or 8 (a mock, other TLS settings, another proxy) instead of the
   * client's own. `close()` leaves it open.
   * @default an agent of undici 7, through `proxy`
   */
  readonly dispatcher?: RequestDispatcher | undefined;
  /**
   * Sends requests with this function instead. It is passed a URL and `RequestInit`, and decodes
   * bodies as the `fetch` of the platform does; `timeout.connect` does not apply to it. @default
   * the `fetch` of the platform where undici is not complete, as in Bun
   */
  readonly fetch?: Fetch | undefined;
  /** Largest body that is accepted in bytes, compressed or decoded. @default 67108864 */
  readonly maxBodyBytes?: number | undefined;
  /** Request gzip and br. @default true */
  readonly compress?: boolean | undefined;
  /** What happens to records that do not match the table of fields. @default 'report' */
  readonly records?: RecordMode | undefined;
  /**
   * Called once for each unknown or broken field, and for clamped pages and totals that change. An
   * error it throws ends nothing.
   */
  readonly onReport?: ((report: ClientReport) => void) | undefined;
  /**
   * What the client logs to, such as `console` or a pino logger. Lines have no keys and no data of
   * callers.
   * @default none; stderr when `logLevel` or the variable CALLS_LOG is set
   */
  readonly logger?: Logger | undefined;
  /** From which level on something is logged; a logger may leave out more. @default 'info' */
  readonly logLevel?: LogLevel | undefined;
  /** Where the client takes the time from. @default systemClock */
  readonly clock?: Clock | undefined;
  /** A number from 0 up to 1, for the jitter of waits. @default Math.random */
  readonly random?: (() => number) | undefined;
  /**
   * Headers of every request, such as those that a gateway expects. The client sets its own and
   * those of `auth`.
   */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** The User-Agent header. @default call-attribution-core and its version */
  readonly userAgent?: string | undefined;
  /** Environment variables to read, such as those of `takeEnvironment()`. @default process.env */
  readonly env?: Environment | undefined;
}

/** A base URL in the two parts that the transport needs. It holds no secret. */
export interface Address {
  readonly origin: string;
  /** Path before the API's own, without a slash at its end. */
  readonly prefix: string;
}

/** Options as the client uses them: with defaults. */
export interface Settings
  extends Pick<ClientOptions, 'auth' | 'legacyAuth' | 'dispatcher' | 'fetch' | 'onReport'> {
  readonly base: Address;
  readonly legacy: Address | undefined;
  readonly version: Version;
  readonly timeout: Timeouts;
  readonly retry: ClientRetry;
  readonly limiter: Limiter | undefined;
  /** Proxies by the origins of the servers. */
  readonly proxies: ReadonlyMap<string, ProxyServer>;
  readonly maxBodyBytes: number;
  readonly compress: boolean;
  readonly records: RecordMode;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What a client uses unless an option says otherwise: calls of a page, and deadlines in
 * milliseconds.
 */
export const clientDefaults: { readonly rows: number; readonly timeout: Timeouts } = {
  rows: 250,
  timeout: { connect: 10_000, idle: 15_000, attempt: 60_000, total: 120_000 },
};

import type { Auth, KeyAuth } from '../auth/auth.ts';
import type { Clock } from '../http/clock.ts';
import type { CustomHeaders } from '../http/custom-headers.ts';
import type { RequestDispatcher } from '../http/dispatch.ts';
import type { Fetch } from '../http/fetch-dispatcher.ts';
import type { Limiter, LimiterOptions } from '../http/limiter.ts';
import type { ProxyServer } from '../http/proxy.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Log, Logger, LogLevel } from '../log/logger.ts';
import type { RecordProblem } from '../record/check-record.ts';
import type { Version } from '../record/fields.ts';
import type { RecordMode } from '../record/to-call.ts';
import type { Environment } from '../settings/environment.ts';
import type { Address } from './address.ts';

/** Deadlines in milliseconds; `Infinity` switches one off. */
export interface Timeouts {
  /** Until a connection is made. A given dispatcher has a deadline of its own instead. @default 10000 */
  readonly connect: number;
  /** Silence of the server, before or within a response. @default 15000 */
  readonly idle: number;
  /** One attempt, including its whole body. @default 60000 */
  readonly attempt: number;
  /** The whole call, with all attempts and the waits between them. A list of many pages has it for each page. @default 120000 */
  readonly total: number;
}

/** Something that a client noticed: not an error, but somebody should know. */
export type ClientReport =
  | ({ readonly type: 'record' } & RecordProblem)
  | { readonly type: 'clamped'; readonly requested: number; readonly received: number }
  | { readonly type: 'total_moved'; readonly from: number; readonly to: number }
  | { readonly type: 'repeated_calls'; readonly count: number }
  | { readonly type: 'plain_http'; readonly origin: string };

/** How a client is set up. What names the server and the account is read from the environment when `baseUrl` is left out. */
export interface ClientOptions {
  /**
   * URL of the API, the part before `/v2` or `/v3`, without credentials. Leave it out to read `CALLS_BASE_URL`, and with it those
   * of `legacyBaseUrl`, `version` and `auth` that are left out too. `undefined` is refused: a variable may not be set.
   */
  readonly baseUrl?: string | undefined;
  /**
   * Also reads a configuration file, as the `calls` command does: the file with this path, or, when `true`,
   * `calls.config.json` in the current folder or in the user's configuration folder. @default only the file named by CALLS_CONFIG
   */
  readonly config?: string | boolean | undefined;
  /** Environment variables to read, such as those of `takeEnvironment()`. @default process.env */
  readonly env?: Environment | undefined;
  /** URL of the SMS listing, the part before `/ibp_api.php`. Only `listSmsNumbers` needs it. */
  readonly legacyBaseUrl?: string | undefined;
  /** Version of the API. @default 'v3' */
  readonly version?: Version | undefined;
  /** Credentials, made by `apiKeys` or `bearerToken`. v2 takes a bearer token only. */
  readonly auth?: Auth | undefined;
  /** Keys of the SMS listing, if `auth` is a bearer token. */
  readonly legacyAuth?: KeyAuth | undefined;
  /** Deadlines in milliseconds. */
  readonly timeout?: { readonly [name in keyof Timeouts]?: number | undefined } | undefined;
  /** When a failed request is sent again. */
  readonly retry?: { readonly [name in keyof RetryPolicy]?: RetryPolicy[name] | undefined } | undefined;
  /** Limits to keep to, or a limiter shared with other clients. @default none */
  readonly limiter?: LimiterOptions | Limiter | undefined;
  /**
   * The URL of a proxy for every server, or `false` for none, whatever the environment says.
   * @default what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say
   */
  readonly proxy?: string | false | undefined;
  /**
   * A dispatcher of undici 7 or 8 (a mock, other TLS settings, another proxy) instead of the client's own. `close()` leaves it open.
   * @default an agent of undici 7, through `proxy`
   */
  readonly dispatcher?: RequestDispatcher | undefined;
  /**
   * Sends requests with this function instead. It is passed a URL and `RequestInit`, and decodes bodies as the `fetch` of the platform
   * does; `timeout.connect` does not apply to it. @default the `fetch` of the platform where undici is not complete, as in Bun
   */
  readonly fetch?: Fetch | undefined;
  /** Largest body that is accepted, compressed or decoded. @default 67108864 */
  readonly maxBodyBytes?: number | undefined;
  /** Request gzip and br. @default true */
  readonly compress?: boolean | undefined;
  /** What happens to records that do not match the table of fields. @default 'report' */
  readonly records?: RecordMode | undefined;
  /** Called once for each unknown or broken field, and for clamped pages and totals that change. */
  readonly onReport?: ((report: ClientReport) => void) | undefined;
  /**
   * What the client logs to, such as `console` or a pino logger. Lines have no keys and no data of callers.
   * @default none; stderr when `logLevel` or the variable CALLS_LOG is set
   */
  readonly logger?: Logger | undefined;
  /** From which level on something is logged; a logger may leave out more. @default 'info' */
  readonly logLevel?: LogLevel | undefined;
  /** Where the client takes the time from. @default systemClock */
  readonly clock?: Clock | undefined;
  /** A number from 0 up to 1, for the jitter of waits. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Headers of every request, such as those that a gateway expects. The client sets its own and those of `auth`. */
  readonly headers?: CustomHeaders | undefined;
  /** The User-Agent header. @default call-attribution-core and its version */
  readonly userAgent?: string | undefined;
}

/** Options as the client uses them: checked, with defaults. */
export interface Settings {
  readonly base: Address;
  readonly legacy: Address | undefined;
  readonly version: Version;
  readonly auth: Auth | undefined;
  readonly legacyAuth: KeyAuth | undefined;
  readonly timeout: Timeouts;
  readonly retry: RetryPolicy;
  readonly limiter: Limiter | undefined;
  readonly dispatcher: RequestDispatcher | undefined;
  readonly fetch: Fetch | undefined;
  /** Proxies by the origins of the servers. */
  readonly proxies: ReadonlyMap<string, ProxyServer>;
  readonly maxBodyBytes: number;
  readonly compress: boolean;
  readonly records: RecordMode;
  readonly onReport: ((report: ClientReport) => void) | undefined;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  /** Headers of the program. */
  readonly headers: CustomHeaders;
}

/** What a client uses unless an option says otherwise. */
export const clientDefaults = {
  /** Version of the API. */
  version: 'v3',
  /** Calls of a page: what the maker of the API suggests for its sibling. */
  rows: 250,
  /** Deadlines in milliseconds. */
  timeout: { connect: 10_000, idle: 15_000, attempt: 60_000, total: 120_000 },
  /** When a failed request is sent again. */
  retry: { attempts: 4, baseDelay: 250, maxDelay: 8_000 },
  /** Largest body that is accepted. */
  maxBodyBytes: 64 * 1024 * 1024,
  /** What happens to records that do not match the table of fields. */
  records: 'report',
} as const satisfies Pick<ClientOptions, 'version' | 'timeout' | 'retry' | 'maxBodyBytes' | 'records'> & {
  rows: number;
};

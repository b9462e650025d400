import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Dispatcher } from 'undici';
import { type Auth, checkAuth, type KeyAuth } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { type Clock, systemClock } from '../http/clock.ts';
import { createLimiter, type Limiter, type LimiterOptions } from '../http/limiter.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { RecordProblem } from '../record/check-record.ts';
import type { Version } from '../record/fields.ts';
import type { RecordMode } from '../record/to-call.ts';
import type { Environment } from '../settings/environment.ts';
import { type Address, readAddress } from './address.ts';
import { withEnvironment } from './from-environment.ts';

/** Version of this package, for the user agent. A test keeps it equal to the manifest. */
const packageVersion = '0.1.0';

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
export type Report =
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
  readonly timeout?: Partial<Timeouts> | undefined;
  /** When a failed request is sent again. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Limits to keep to, or a limiter shared with other clients. @default none */
  readonly limiter?: LimiterOptions | Limiter | undefined;
  /** An undici 7 dispatcher (proxy, mock, other TLS settings) instead of the client's own. `close()` leaves it open. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Largest body that is accepted, compressed or decoded. @default 67108864 */
  readonly maxBodyBytes?: number | undefined;
  /** Request gzip and br. @default true */
  readonly compress?: boolean | undefined;
  /** What happens to records that do not match the table of fields. @default 'report' */
  readonly records?: RecordMode | undefined;
  /** Called once for each unknown or broken field, and for clamped pages and totals that change. */
  readonly onReport?: ((report: Report) => void) | undefined;
  /** Where the client takes the time from. @default systemClock */
  readonly clock?: Clock | undefined;
  /** A number from 0 up to 1, for the jitter of waits. @default Math.random */
  readonly random?: (() => number) | undefined;
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
  readonly dispatcher: Dispatcher | undefined;
  readonly maxBodyBytes: number;
  readonly compress: boolean;
  readonly records: RecordMode;
  readonly onReport: ((report: Report) => void) | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
}

const names = [
  'baseUrl',
  'legacyBaseUrl',
  'version',
  'auth',
  'legacyAuth',
  'timeout',
  'retry',
  'limiter',
  'dispatcher',
  'maxBodyBytes',
  'compress',
  'records',
  'onReport',
  'clock',
  'random',
  'userAgent',
  'config',
  'env',
] satisfies (keyof ClientOptions)[];

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

const recordModes = ['strict', 'report', 'off'];

/** Checks the options of a client when it is made, so that no request is sent with an incomplete configuration. */
export function readOptions(given: ClientOptions): Settings {
  if (typeof given !== 'object' || given === null) throw invalid('options', 'an object');
  refuseUnknown(given, names, '');
  const options = withEnvironment(given);
  const {
    legacyBaseUrl,
    auth,
    legacyAuth,
    version = clientDefaults.version,
    records = clientDefaults.records,
    clock = systemClock,
  } = options;
  if (version !== 'v2' && version !== 'v3') throw invalid('version', "'v2' or 'v3'");
  if (auth !== undefined) checkAuth(auth, version);
  if (legacyAuth !== undefined) checkAuth(legacyAuth, 'v3');
  if (!recordModes.includes(records)) throw invalid('records', "'strict', 'report' or 'off'");
  const userAgent = options.userAgent ?? `call-attribution-core/${packageVersion}`;
  if (!/^[\x20-\x7e]{1,256}$/.test(userAgent))
    throw invalid('userAgent', 'up to 256 printable ASCII characters');
  return {
    base: readAddress(options.baseUrl, 'baseUrl'),
    legacy: legacyBaseUrl === undefined ? undefined : readAddress(legacyBaseUrl, 'legacyBaseUrl'),
    version,
    auth,
    legacyAuth: legacyAuth ?? (auth?.kind === 'keys' ? auth : undefined),
    timeout: readTimeouts(options.timeout ?? {}),
    retry: readRetry(options.retry ?? {}),
    limiter: readLimiter(options.limiter, clock),
    dispatcher: options.dispatcher,
    maxBodyBytes: whole(options.maxBodyBytes ?? clientDefaults.maxBodyBytes, 'maxBodyBytes', 1),
    compress: options.compress ?? true,
    records,
    onReport: options.onReport,
    clock,
    random: options.random ?? Math.random,
    userAgent,
  };
}

function readTimeouts(given: Partial<Timeouts>): Timeouts {
  const timeouts = withDefaults<Timeouts>(clientDefaults.timeout, given, 'timeout.');
  for (const [name, ms] of Object.entries(timeouts))
    if (typeof ms !== 'number' || !(ms > 0))
      throw invalid(`timeout.${name}`, 'milliseconds above 0, or Infinity');
  return timeouts;
}

function readRetry(given: Partial<RetryPolicy>): RetryPolicy {
  const policy = withDefaults<RetryPolicy>(clientDefaults.retry, given, 'retry.');
  whole(policy.attempts, 'retry.attempts', 1);
  whole(policy.baseDelay, 'retry.baseDelay', 0);
  whole(policy.maxDelay, 'retry.maxDelay', 0);
  return policy;
}

function readLimiter(given: ClientOptions['limiter'], clock: Clock): Limiter | undefined {
  if (given === undefined || 'acquire' in given) return given;
  refuseUnknown(given, ['requestsPerMinute', 'concurrency', 'adaptive'], 'limiter.');
  if (given.requestsPerMinute !== undefined) whole(given.requestsPerMinute, 'limiter.requestsPerMinute', 1);
  if (given.concurrency !== undefined) whole(given.concurrency, 'limiter.concurrency', 1);
  return createLimiter(given, clock);
}

/** An option that is there but undefined, as in merged configurations, counts as left out. */
function withDefaults<T extends object>(defaults: T, given: Partial<T>, prefix: string): T {
  refuseUnknown(given, Object.keys(defaults), prefix);
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}

function refuseUnknown(given: object, known: readonly string[], prefix: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  const full = known.map((name) => prefix + name);
  throw new ConfigurationError(
    'invalid_option',
    setupMessages.optionUnknown(prefix + unknown.slice(0, 40), near && prefix + near, full),
  );
}

/** Checks that a value is a whole number of at least `least`; the error names the option. */
export function whole(value: unknown, name: string, least: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw invalid(name, `a whole number of at least ${least}`);
}

const invalid = (name: string, expected: string): ConfigurationError =>
  new ConfigurationError('invalid_option', setupMessages.optionInvalid(name, expected));

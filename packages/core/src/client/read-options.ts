import { checkAuth } from '../auth/auth.ts';
import {
  checkOptions,
  group,
  kinds,
  type OptionKind,
  type OptionShape,
  oneOf,
  whole,
  withMethods,
} from '../errors/check-options.ts';
import { systemClock } from '../http/clock.ts';
import { checkHeaders, mergeHeaders } from '../http/custom-headers.ts';
import { createLimiter, type Limiter, type LimiterOptions } from '../http/limiter.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { readAddress } from './address.ts';
import type { ListQuery, RequestOptions, SmsOptions } from './client.ts';
import { withEnvironment } from './from-environment.ts';
import { type ClientOptions, clientDefaults, type Settings, type Timeouts } from './options.ts';

/** Version of this package, for the user agent. A test keeps it equal to the manifest. */
const packageVersion = '0.1.0';

const callTimeout = {
  idle: kinds.milliseconds,
  attempt: kinds.milliseconds,
  total: kinds.milliseconds,
};
const retry = group({ attempts: whole(1), baseDelay: whole(0), maxDelay: whole(0) });
const limits = group({ requestsPerMinute: whole(1), concurrency: whole(1), adaptive: kinds.flag });
const url: OptionKind = { ...kinds.string, expected: 'a URL as a string' };
const keys: OptionKind = { expected: 'made by apiKeys(access, secret)', accepts: (value) => value !== null };

const clientShape = {
  baseUrl: url,
  legacyBaseUrl: url,
  version: oneOf('v2', 'v3'),
  auth: { ...keys, expected: 'made by apiKeys(access, secret) or bearerToken(token)' },
  legacyAuth: keys,
  timeout: group({ connect: kinds.milliseconds, ...callTimeout }),
  retry,
  limiter: {
    expected: 'limits such as { concurrency: 4 }, or a limiter made by createLimiter',
    accepts: (value) => isLimiter(value) || limits.accepts(value),
  },
  dispatcher: withMethods('a dispatcher of undici', 'dispatch'),
  maxBodyBytes: whole(1),
  compress: kinds.flag,
  records: oneOf('strict', 'report', 'off'),
  onReport: kinds.callback,
  clock: withMethods('a clock with now() and timer()', 'now', 'timer'),
  random: kinds.callback,
  headers: kinds.object,
  userAgent: {
    expected: 'up to 256 printable ASCII characters',
    accepts: (value) => typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value),
  },
  config: { expected: 'a path or true', accepts: (value) => ['string', 'boolean'].includes(typeof value) },
  env: { expected: 'an object of environment variables', accepts: kinds.object.accepts },
} satisfies OptionShape & Record<keyof ClientOptions, OptionKind>;

const requestShape = {
  signal: withMethods('an AbortSignal', 'addEventListener', 'throwIfAborted'),
  onResponse: kinds.callback,
  timeout: group(callTimeout),
  retry,
  headers: kinds.object,
} satisfies OptionShape & Record<keyof RequestOptions, OptionKind>;

const filter: OptionKind = {
  expected: 'a string in the language of q, a parsed filter or a builder',
  accepts: (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
};

/** The options of each kind of request. */
export const requestShapes = {
  get: requestShape,
  count: { ...requestShape, filter },
  list: { ...requestShape, filter, rows: whole(1), page: whole(0) } satisfies OptionShape &
    Record<keyof ListQuery, OptionKind>,
  sms: { ...requestShape, method: oneOf('GET', 'POST') } satisfies OptionShape &
    Record<keyof SmsOptions, OptionKind>,
};

/** Refuses options that a request does not have, before anything is sent. */
export function checkRequest(options: RequestOptions, shape: OptionShape): void {
  checkOptions(options, shape);
  if (options.headers) checkHeaders(options.headers);
}

/** Checks the options of a client when it is made, so that no request is sent with an incomplete configuration. */
export function readOptions(given: ClientOptions): Settings {
  checkOptions(given, clientShape);
  const options = withEnvironment(given);
  const { legacyBaseUrl, auth, legacyAuth, limiter, headers = {} } = options;
  const { version = clientDefaults.version, clock = systemClock } = options;
  if (auth !== undefined) checkAuth(auth, version);
  if (legacyAuth !== undefined) checkAuth(legacyAuth, 'v3');
  checkHeaders(headers);
  return {
    base: readAddress(options.baseUrl, 'baseUrl'),
    legacy: legacyBaseUrl === undefined ? undefined : readAddress(legacyBaseUrl, 'legacyBaseUrl'),
    version,
    auth,
    legacyAuth: legacyAuth ?? (auth?.kind === 'keys' ? auth : undefined),
    timeout: withDefaults<Timeouts>(clientDefaults.timeout, options.timeout),
    retry: withDefaults<RetryPolicy>(clientDefaults.retry, options.retry),
    limiter: limiter === undefined || isLimiter(limiter) ? limiter : makeLimiter(limiter, clock),
    dispatcher: options.dispatcher,
    maxBodyBytes: options.maxBodyBytes ?? clientDefaults.maxBodyBytes,
    compress: options.compress ?? true,
    records: options.records ?? clientDefaults.records,
    onReport: options.onReport,
    clock,
    random: options.random ?? Math.random,
    userAgent: options.userAgent ?? `call-attribution-core/${packageVersion}`,
    headers,
  };
}

/** The settings of a client, as the options of one request change them. */
export function settingsFor(settings: Settings, { timeout, retry, headers }: RequestOptions): Settings {
  if (timeout === undefined && retry === undefined && headers === undefined) return settings;
  return {
    ...settings,
    timeout: withDefaults<Timeouts>(settings.timeout, timeout),
    retry: withDefaults(settings.retry, retry),
    headers: mergeHeaders(settings.headers, headers ?? {}),
  };
}

const isLimiter = (value: unknown): value is Limiter =>
  withMethods('', 'acquire', 'release', 'pause').accepts(value);

function makeLimiter(given: LimiterOptions, clock: ClientOptions['clock']): Limiter {
  checkOptions(given, limits.inner as OptionShape, 'limiter.');
  return createLimiter(given, clock);
}

/** An option that is there but undefined, as in merged configurations, counts as left out. */
function withDefaults<T extends object>(defaults: T, given: Partial<T> = {}): T {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}

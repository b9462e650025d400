import { checkAuth } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
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
import { setupMessages } from '../errors/setup-messages.ts';
import { systemClock } from '../http/clock.ts';
import { checkHeaders, mergeHeaders } from '../http/custom-headers.ts';
import { createLimiter, type Limiter, type LimiterOptions } from '../http/limiter.ts';
import { type ProxyServer, proxyFor, readProxy } from '../http/proxy.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { createLog, lineLogger, logLevels } from '../log/logger.ts';
import type { Environment } from '../settings/environment.ts';
import { type Address, readAddress } from './address.ts';
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
const retry = group({
  attempts: whole(1),
  baseDelay: whole(0),
  maxDelay: whole(0),
  afterSilence: kinds.flag,
});
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
  proxy: {
    expected: 'the URL of a proxy, or false',
    accepts: (value) => value === false || typeof value === 'string',
  },
  fetch: kinds.callback,
  maxBodyBytes: whole(1),
  compress: kinds.flag,
  records: oneOf('strict', 'report', 'off'),
  onReport: kinds.callback,
  logger: withMethods(
    'a logger with debug, info, warn and error, such as console or one of pino',
    'debug',
    'info',
    'warn',
    'error',
  ),
  logLevel: oneOf(...logLevels),
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
  signal: kinds.signal,
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
  const { dispatcher, fetch, proxy, logger, logLevel } = options;
  const senders = Object.entries({ dispatcher, fetch, proxy }).flatMap(([name, value]) =>
    value ? [name] : [],
  );
  if (senders.length > 1)
    throw new ConfigurationError(
      'invalid_option',
      setupMessages.optionsExclude(senders[0] as string, senders[1] as string),
    );
  const base = readAddress(options.baseUrl, 'baseUrl');
  const legacy = legacyBaseUrl === undefined ? undefined : readAddress(legacyBaseUrl, 'legacyBaseUrl');
  return {
    base,
    legacy,
    version,
    auth,
    legacyAuth: legacyAuth ?? (auth?.kind === 'keys' ? auth : undefined),
    timeout: withDefaults<Timeouts>(clientDefaults.timeout, options.timeout),
    retry: withDefaults<RetryPolicy>(clientDefaults.retry, options.retry),
    limiter: limiter === undefined || isLimiter(limiter) ? limiter : makeLimiter(limiter, clock),
    dispatcher,
    fetch,
    proxies:
      dispatcher || fetch || proxy === false
        ? new Map()
        : proxiesFor([base, legacy], proxy ?? given.env ?? process.env),
    maxBodyBytes: options.maxBodyBytes ?? clientDefaults.maxBodyBytes,
    compress: options.compress ?? true,
    records: options.records ?? clientDefaults.records,
    onReport: options.onReport,
    log: createLog(logger ?? (logLevel && lineLogger()), logLevel ?? 'info'),
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

/** The proxies for these servers. The environment is read with every `baseUrl`, since its proxies hold no key of the API. */
function proxiesFor(
  servers: readonly (Address | undefined)[],
  from: Environment | string,
): Map<string, ProxyServer> {
  const proxies = new Map<string, ProxyServer>();
  for (const server of servers) {
    const proxy =
      server && (typeof from === 'string' ? readProxy(from, 'proxy') : proxyFor(server.origin, from));
    if (proxy) proxies.set(server.origin, proxy);
  }
  return proxies;
}

const isLimiter = (value: unknown): value is Limiter =>
  withMethods('', 'acquire', 'release', 'pause').accepts(value);

function makeLimiter(given: LimiterOptions, clock: ClientOptions['clock']): Limiter {
  checkOptions(given, limits.inner as OptionShape, 'limiter.');
  return createLimiter(given, clock);
}

/** An option that is there but undefined, as in merged configurations, counts as left out. */
function withDefaults<T extends object>(defaults: T, given: { [K in keyof T]?: T[K] | undefined } = {}): T {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}

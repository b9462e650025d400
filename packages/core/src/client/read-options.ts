import { type Auth, apiKeys, bearerToken, checkAuth } from '../auth/auth.ts';
import { whenMissing } from '../auth/secret.ts';
import { ConfigurationError } from '../errors/classes.ts';
import { checkHeaders, mergedHeaders } from '../http/headers.ts';
import { createLimiter } from '../http/limiter.ts';
import { type ProxyServer, proxyFor, readProxy } from '../http/proxy.ts';
import { readRetry, retryDefaults } from '../http/retry.ts';
import { createLog, lineLogger } from '../log/logger.ts';
import { checkNames, checkRequestNames } from '../options/check-names.ts';
import type { Version } from '../record/fields.ts';
import {
  type Environment,
  readSecretVariable,
  readVariable,
  versionOfUrl,
} from '../settings/environment.ts';
import {
  plainSettings,
  type SecretName,
  type SettingSpec,
  secretSettings,
} from '../settings/table.ts';
import { systemClock } from '../time/clock.ts';
import { type Duration, deadlineMillis } from '../time/duration.ts';
import {
  type Address,
  type ClientOptions,
  clientDefaults,
  type RequestOptions,
  type Settings,
  type TimeoutOptions,
  type Timeouts,
} from './options.ts';

/** Version of this package, for the user agent. A test keeps it equal to the manifest. */
const packageVersion = '0.1.0';

const optionNames: readonly (keyof ClientOptions)[] = [
  'baseUrl',
  'legacyBaseUrl',
  'version',
  'auth',
  'legacyAuth',
  'timeout',
  'retry',
  'limiter',
  'proxy',
  'dispatcher',
  'fetch',
  'maxBodyBytes',
  'compress',
  'records',
  'onReport',
  'logger',
  'logLevel',
  'clock',
  'random',
  'headers',
  'userAgent',
  'env',
];

/**
 * Reads the options of a client when it is made, so that no request is sent with an incomplete
 * configuration.
 */
export function readOptions(given: ClientOptions): Settings {
  checkNames(given, optionNames);
  checkRequestNames(given);
  const options = withEnvironment(given);
  const {
    auth,
    dispatcher,
    fetch,
    proxy,
    limiter,
    logger,
    logLevel,
    clock = systemClock,
  } = options;
  const { version: named, ...base } = readAddress(options.baseUrl, 'baseUrl');
  const version = options.version ?? named ?? 'v3';
  if (named !== undefined && named !== version)
    throw new ConfigurationError(
      'invalid_option',
      `baseUrl ends in /${named}, and version is ${version}.`,
      {
        hint: 'Remove one of them.',
      },
    );

  const legacy =
    options.legacyBaseUrl === undefined
      ? undefined
      : readAddress(options.legacyBaseUrl, 'legacyBaseUrl');
  if (auth !== undefined) checkAuth(auth, version);
  if (options.legacyAuth !== undefined) checkAuth(options.legacyAuth, 'v3');
  const { userAgent = `call-attribution-core/${packageVersion}`, headers = {} } = options;
  checkHeaders({ ...headers, 'user-agent': userAgent });
  return {
    base,
    legacy,
    version,
    auth,
    legacyAuth: options.legacyAuth ?? (auth?.kind === 'keys' ? auth : undefined),
    timeout: readTimeout(options.timeout, clientDefaults.timeout),
    retry: readRetry(options.retry, retryDefaults),
    limiter:
      limiter === undefined || (typeof limiter === 'object' && 'acquire' in limiter)
        ? limiter
        : createLimiter(limiter, clock),
    dispatcher,
    fetch,
    proxies:
      dispatcher || fetch || proxy === false
        ? new Map()
        : proxiesFor([base, legacy], proxy ?? given.env ?? process.env),
    maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
    compress: options.compress ?? true,
    records: options.records ?? 'report',
    onReport: options.onReport,
    log: createLog(logger ?? (logLevel && lineLogger()), logLevel ?? 'info'),
    clock,
    random: options.random ?? Math.random,
    headers: mergedHeaders({ 'user-agent': userAgent }, headers),
  };
}

/** The settings of a client, as the options of one request change them. */
export function settingsFor(settings: Settings, options: RequestOptions): Settings {
  const { timeout, retry, headers } = options;
  checkRequestNames(options);
  if (timeout === undefined && retry === undefined && headers === undefined) return settings;
  if (headers) checkHeaders(headers);
  return {
    ...settings,
    timeout: readTimeout(timeout, settings.timeout),
    retry: readRetry(retry, settings.retry),
    headers: mergedHeaders(settings.headers, headers ?? {}),
  };
}

/**
 * Deadlines in milliseconds. One length of time is for everything but the connection, which the
 * others end too.
 */
function readTimeout(given: TimeoutOptions | Duration | undefined, rest: Timeouts): Timeouts {
  if (given === undefined) return rest;
  if (typeof given === 'number' || typeof given === 'string') {
    const ms = deadlineMillis(given, 'timeout');
    return { ...rest, idle: ms, attempt: ms, total: ms };
  }

  const changed: Record<string, number> = {};
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) changed[name] = deadlineMillis(value, `timeout.${name}`);
  return { ...rest, ...changed };
}

/**
 * The proxies for these servers. The environment is read with every `baseUrl`, since its proxies
 * hold no key of the API.
 */
function proxiesFor(
  servers: readonly (Address | undefined)[],
  from: Environment | string,
): Map<string, ProxyServer> {
  const proxies = new Map<string, ProxyServer>();
  for (const server of servers) {
    const proxy =
      server &&
      (typeof from === 'string' ? readProxy(from, 'proxy') : proxyFor(server.origin, from));
    if (proxy) proxies.set(server.origin, proxy);
  }

  return proxies;
}

/**
 * Takes a base URL apart, and refuses one that would send credentials to the wrong place. `/v3` at
 * its end names the version.
 */
function readAddress(
  text: string | undefined,
  option: string,
): Address & { readonly version?: Version } {
  const fail = (what: string, hint: string): never => {
    throw new ConfigurationError('invalid_option', `${option} ${what}.`, { hint });
  };

  if (text === undefined)
    return fail('is undefined', `${whenMissing} Leave baseUrl out to read CALLS_BASE_URL.`);
  if (!URL.canParse(text))
    return fail('is not an absolute URL', 'Pass a URL such as https://api.example.com.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    fail('must begin with https:// or http://', 'Add the scheme.');
  if (url.username !== '' || url.password !== '')
    fail('has credentials in it', 'Pass them as auth: apiKeys(...) or bearerToken(...).');
  if (url.search !== '' || url.hash !== '')
    fail('has a query or a fragment', 'Keep only the scheme, the host and the path.');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/ibp_api\.php$/, '');
  const version = versionOfUrl(path);
  if (version === null) return { origin: url.origin, prefix: path };
  return { origin: url.origin, prefix: path.slice(0, path.lastIndexOf(`/${version}`)), version };
}

/**
 * The options, completed from `CALLS_*` variables when `baseUrl` was left out. Where it was given
 * nothing is read: keys of the environment go only to the URL that the environment or the program
 * itself names for them.
 */
function withEnvironment({ env, ...given }: ClientOptions): ClientOptions {
  if (!Object.hasOwn(given, 'baseUrl')) return readEnvironment(given, env ?? process.env);
  if (env !== undefined)
    throw new ConfigurationError('invalid_option', 'env is not read when baseUrl is given.', {
      hint: 'Leave env out, or leave baseUrl out to read it from there.',
    });
  return given;
}

/**
 * Options completed from variables: those that were given come first. One error lists everything
 * that is missing.
 */
function readEnvironment(given: ClientOptions, env: Environment): ClientOptions {
  const problems: string[] = [];

  /** A setting of the table that programs share. */
  const plain = <T>({ variable, read }: SettingSpec<T>): T | undefined => {
    const text = readVariable(env, variable);
    if (text === null) return undefined;
    const found = read(text, variable);
    if ('value' in found) return found.value;
    problems.push(found.message);
    return undefined;
  };

  /** What is wrong with the file of a key counts as given. */
  const secret = (name: SecretName): string | undefined => {
    const read = readSecretVariable(env, secretSettings[name]);
    if (read === null) return undefined;
    if ('value' in read) return read.value;
    problems.push(read.problem);
    return '';
  };

  if (readVariable(env, plainSettings.baseUrl.variable) === null)
    problems.push(`${plainSettings.baseUrl.variable} is missing: the URL of the API`);
  const baseUrl = plain(plainSettings.baseUrl);
  const version = given.version ?? plain(plainSettings.apiVersion);
  const isV2 = (version ?? versionOfUrl(baseUrl ?? '')) === 'v2';
  const level = plain(plainSettings.log);
  const format = plain(plainSettings.logFormat);

  // Keys of the environment may be those of another account than credentials that were given.
  const isOwn = given.auth === undefined;
  const accessKey = isOwn ? secret('accessKey') : undefined;
  const secretKey = isOwn ? secret('secretKey') : undefined;
  const token = isOwn ? secret('bearerToken') : undefined;
  if (isOwn && isV2 && token === undefined)
    problems.push('CALLS_BEARER_TOKEN is missing: v2 needs the bearer token of the account');
  if (isOwn && !isV2 && token === undefined) {
    if (accessKey === undefined)
      problems.push('CALLS_ACCESS_KEY is missing: the access key of the account');
    if (secretKey === undefined)
      problems.push('CALLS_SECRET_KEY is missing: the secret key of the account');
  }

  if (problems.length > 0)
    throw new ConfigurationError(
      'invalid_option',
      `createClient() found no connection to use. ${problems.join('. ')}.`,
      {
        hint: 'Set these variables (CALLS_ACCESS_KEY_FILE and so on name files instead), or pass baseUrl and auth.',
      },
    );

  const keys = accessKey && secretKey ? apiKeys(accessKey, secretKey) : undefined;
  const bearer: Auth | undefined = token ? bearerToken(token) : undefined;
  const found = {
    baseUrl,
    legacyBaseUrl: plain(plainSettings.legacyBaseUrl),
    version,
    auth: isV2 ? bearer : (keys ?? bearer),
    legacyAuth: keys,
    timeout: plain(plainSettings.timeout),
    ...(level === undefined ? {} : { logger: lineLogger(format), logLevel: level }),
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...found, ...Object.fromEntries(set) };
}

import { checkAuth } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages, type UrlProblem } from '../errors/setup-messages.ts';
import { checkHeaders, mergeHeaders } from '../http/custom-headers.ts';
import { createLimiter } from '../http/limiter.ts';
import { type ProxyServer, proxyFor, readProxy } from '../http/proxy.ts';
import { createLog, lineLogger } from '../log/logger.ts';
import { connectionOf, missingSettings } from '../settings/credentials.ts';
import type { Environment } from '../settings/environment.ts';
import { readSettings } from '../settings/read-settings.ts';
import {
  type Address,
  type ClientOptions,
  clientOptions,
  type RequestOptions,
  requestOptions,
  type Settings,
} from './options.ts';

/** Refuses options that a request does not have, before anything is sent. */
export function checkRequest(options: RequestOptions, table: { check(given: unknown): void }): void {
  table.check(options);
  if (options.headers) checkHeaders(options.headers);
}

/** Checks the options of a client when it is made, so that no request is sent with an incomplete configuration. */
export function readOptions(given: ClientOptions): Settings {
  clientOptions.check(given);
  const options = clientOptions.fill(withEnvironment(given));
  const { version, auth, legacyAuth, limiter, clock, headers, logger, logLevel } = options;
  if (auth !== undefined) checkAuth(auth, version);
  if (legacyAuth !== undefined) checkAuth(legacyAuth, 'v3');
  checkHeaders(headers);
  const { dispatcher, fetch, proxy } = options;
  const [sender, other] = Object.entries({ dispatcher, fetch, proxy }).flatMap(([name, value]) =>
    value ? [name] : [],
  );
  if (sender !== undefined && other !== undefined)
    throw new ConfigurationError('invalid_option', setupMessages.optionsExclude(sender, other));
  const base = readAddress(options.baseUrl, 'baseUrl');
  const legacy =
    options.legacyBaseUrl === undefined ? undefined : readAddress(options.legacyBaseUrl, 'legacyBaseUrl');
  return {
    ...options,
    base,
    legacy,
    legacyAuth: legacyAuth ?? (auth?.kind === 'keys' ? auth : undefined),
    limiter: limiter === undefined || 'acquire' in limiter ? limiter : createLimiter(limiter, clock),
    proxies:
      dispatcher || fetch || proxy === false
        ? new Map()
        : proxiesFor([base, legacy], proxy ?? given.env ?? process.env),
    log: createLog(logger ?? (logLevel && lineLogger()), logLevel ?? 'info'),
  };
}

/** The settings of a client, as the options of one request change them. */
export function settingsFor(settings: Settings, { timeout, retry, headers }: RequestOptions): Settings {
  if (timeout === undefined && retry === undefined && headers === undefined) return settings;
  const changed = requestOptions.fill({ timeout, retry });
  return {
    ...settings,
    timeout: { ...settings.timeout, ...changed.timeout },
    retry: { ...settings.retry, ...changed.retry },
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

/** Takes a base URL apart, and refuses one that would send credentials to the wrong place. */
function readAddress(text: unknown, option: string): Address {
  const fail = (problem: UrlProblem): never => {
    throw new ConfigurationError('invalid_option', setupMessages.urlInvalid(option, problem));
  };
  if (text === undefined) return fail('undefined');
  if (typeof text !== 'string' || text.trim() === '') return fail('missing');
  if (!URL.canParse(text.trim())) return fail('not_absolute');
  const url = new URL(text.trim());
  if (url.protocol !== 'https:' && url.protocol !== 'http:') fail('not_http');
  if (url.username !== '' || url.password !== '') fail('credentials');
  if (url.search !== '' || url.hash !== '') fail('query');
  const prefix = url.pathname.replace(/\/+$/, '');
  if (/\/v[23](?:\/|$)/.test(prefix)) fail('version');
  return { origin: url.origin, prefix: prefix.replace(/\/ibp_api\.php$/, '') };
}

/**
 * The options, completed from `CALLS_*` variables when `baseUrl` was left out. Where it was given nothing is read: keys of the
 * environment go only to the URL that the environment or the program itself names for them.
 */
function withEnvironment(options: ClientOptions): ClientOptions {
  const { config, env, ...given } = options;
  if (Object.hasOwn(options, 'baseUrl')) {
    if (config !== undefined || env !== undefined)
      throw new ConfigurationError(
        'invalid_option',
        setupMessages.notRead(config === undefined ? 'env' : 'config'),
      );
    return given;
  }
  const settings = readSettings({
    options: { legacyBaseUrl: given.legacyBaseUrl, apiVersion: given.version },
    nameOption: (name) => (name === 'apiVersion' ? 'version' : name),
    config: typeof config === 'string' ? config : null,
    searchHome: config === true,
    ...(env === undefined ? {} : { env }),
  });
  const [first] = settings.problems;
  if (first?.code === 'unknown_log_setting')
    throw new ConfigurationError('invalid_option', setupMessages.logUnusable(first.message, first.hint));
  const wrong = settings.problems.map(({ message, hint }) =>
    hint === undefined ? message : `${message} (${hint})`,
  );
  const missing = missingSettings(settings)
    .filter(({ code }) => code === 'no_base_url' || given.auth === undefined)
    .map(({ message }) => message)
    // A variable that is set to something unusable is not missing.
    .filter((message) => !wrong.some((problem) => problem.includes(message.split(' ', 1)[0] ?? message)));
  const problems = [...wrong, ...missing];
  if (problems.length > 0)
    throw new ConfigurationError('invalid_option', setupMessages.settingsUnusable(problems));
  const { legacyAuth, ...found } = connectionOf(settings);
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // Keys of the environment may be those of another account than the credentials that were given.
  return { ...found, ...(given.auth === undefined && legacyAuth ? { legacyAuth } : {}), ...set };
}

import { checkAuth } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { checkHeaders, mergeHeaders } from '../http/custom-headers.ts';
import { createLimiter } from '../http/limiter.ts';
import { type ProxyServer, proxyFor, readProxy } from '../http/proxy.ts';
import { createLog, lineLogger } from '../log/logger.ts';
import type { Environment } from '../settings/environment.ts';
import { type Address, readAddress } from './address.ts';
import { withEnvironment } from './from-environment.ts';
import {
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

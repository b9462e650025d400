import { authHeaders } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/classes.ts';
import type { Settings } from './options.ts';
import type { ApiRequest } from './request.ts';

/** What a request to the bid-management API asks for. */
interface Asked<T> extends Pick<ApiRequest<T>, 'operation' | 'options' | 'read'> {
  /** What follows `/v2` or `/v3` and the name of the resource, already encoded. */
  readonly tail: string;
  /**
   * The same for errors and events. Credentials are only in headers, so nothing else is left out.
   */
  readonly shown: string;
}

/** A request to the bid-management API. */
export function apiRequest<T>(
  settings: Settings,
  { operation, options, read, tail, shown }: Asked<T>,
  alsoRead: readonly number[] = [],
): ApiRequest<T> {
  const { base, version, auth } = settings;
  if (auth === undefined)
    throw new ConfigurationError(
      'invalid_credentials',
      `No credentials were given, and ${version} needs them.`,
      {
        hint: `Pass auth: ${version === 'v3' ? 'apiKeys(access, secret) or bearerToken(token)' : 'bearerToken(token)'} to createClient.`,
      },
    );

  const v3Kind = auth.kind === 'bearer' ? 'v3 token' : 'v3 keys';
  const root = `${base.prefix}/${version}/user/bid-management`;
  const type = ['content-type', 'application/json'];
  const headers = commonHeaders(settings, 'application/json').concat(type, authHeaders(auth));
  return {
    operation,
    http: { origin: base.origin, path: root + tail, method: 'GET', headers },
    url: base.origin + root + shown,
    authKind: version === 'v2' ? 'v2' : v3Kind,
    alsoRead,
    options,
    read,
  };
}

/** Headers of every request, besides those of the program. */
export function commonHeaders({ compress }: Settings, accept: string): string[] {
  const headers = ['accept', accept];
  return compress ? [...headers, 'accept-encoding', 'gzip, br'] : headers;
}

/**
 * Joins names and values into a query; undefined values are left out. A space becomes `%20`, never
 * `+`.
 */
export function queryString(parts: Readonly<Record<string, string | number | undefined>>): string {
  let query = '';
  for (const [name, value] of Object.entries(parts))
    if (value !== undefined) query += `${query === '' ? '?' : '&'}${name}=${encode(String(value))}`;
  return query;
}

/** Percent-encodes a string. A lone surrogate, which has no encoding, becomes U+FFFD. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

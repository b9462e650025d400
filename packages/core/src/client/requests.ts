import { type Auth, authHeaders } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import type { Outgoing } from '../http/transport.ts';
import type { Settings } from './read-options.ts';

/** Makes the requests of one client to the bid-management API; what never changes is put together once. */
export interface Requests {
  /** `tail` is what follows `/v2` or `/v3` and the name of the resource, already encoded. */
  bidManagement(tail: string): Outgoing;
  /** The same address for errors and events. It holds no secret, for keys travel in headers only. */
  shown(tail: string): string;
  readonly authHint: string;
}

/** See `Requests`. */
export function createRequests(settings: Settings): Requests {
  const { base, version, auth } = settings;
  const root = `${base.prefix}/${version}/user/bid-management`;
  let headers: string[] | undefined;
  return {
    bidManagement(tail) {
      if (auth === undefined) throw missingAuth(settings);
      headers ??= [
        ...commonHeaders(settings, 'application/json'),
        'content-type',
        'application/json',
        ...authHeaders(auth),
      ];
      return { origin: base.origin, path: root + tail, method: 'GET', headers };
    },
    shown: (tail) => base.origin + root + tail,
    authHint: authHint(settings, auth),
  };
}

/** Headers of every request. */
export function commonHeaders(settings: Settings, accept: string): string[] {
  const headers = ['accept', accept, 'user-agent', settings.userAgent];
  return settings.compress ? [...headers, 'accept-encoding', 'gzip, br'] : headers;
}

function missingAuth({ version }: Settings): ConfigurationError {
  const use = version === 'v3' ? 'apiKeys(access, secret) or bearerToken(token)' : 'bearerToken(token)';
  return new ConfigurationError('missing_auth', `No credentials were given, and ${version} needs them.`, {
    hint: `Pass auth: ${use} to createClient.`,
  });
}

function authHint({ version }: Settings, auth: Auth | undefined): string {
  if (version === 'v2')
    return 'v2 expects a bearer token issued for this account; check that it is the right one and not expired.';
  if (auth?.kind === 'bearer')
    return 'v3 takes bearer tokens of legacy users only; others need auth: apiKeys(access, secret).';
  return 'v3 expects the access key and the secret key in the headers access_key and secret_key. Some proxies (nginx by default) drop header names with an underscore: check the way there, too.';
}

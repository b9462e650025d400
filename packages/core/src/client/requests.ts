import { authHeaders } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import type { ApiRequest } from './api-request.ts';
import type { Client } from './client.ts';
import type { Operation } from './events.ts';
import type { RequestOptions, Settings } from './options.ts';

/** Makes the requests of one client to the bid-management API. */
export interface Requests {
  /**
   * A request without its reader.
   *
   * @param tail what follows `/v2` or `/v3` and the name of the resource, already encoded.
   * @param shown the same for errors and events. Credentials are only in headers, so nothing else is left out.
   */
  make(
    operation: Operation,
    tail: string,
    options: RequestOptions,
    shown?: string,
  ): Omit<ApiRequest<never>, 'read'>;
}

/** See `Requests`. What never changes is put together once. */
export function createRequests(client: Client, settings: Settings): Requests {
  const { base, version, auth } = settings;
  const root = `${base.prefix}/${version}/user/bid-management`;
  const v3Kind = auth?.kind === 'bearer' ? 'v3 token' : 'v3 keys';
  const authKind = version === 'v2' ? 'v2' : v3Kind;
  let headers: string[] | undefined;
  return {
    make(operation, tail, options, shown = tail) {
      if (auth === undefined)
        throw new ConfigurationError('invalid_credentials', setupMessages.authMissing(version));
      headers ??= [
        ...commonHeaders(settings, 'application/json'),
        'content-type',
        'application/json',
        ...authHeaders(auth),
      ];
      return {
        client,
        operation,
        http: { origin: base.origin, path: root + tail, method: 'GET', headers },
        url: base.origin + root + shown,
        authKind,
        options,
      };
    },
  };
}

/** Headers of every request, besides those of the program. */
export function commonHeaders(settings: Settings, accept: string): string[] {
  const headers = ['accept', accept, 'user-agent', settings.userAgent];
  return settings.compress ? [...headers, 'accept-encoding', 'gzip, br'] : headers;
}

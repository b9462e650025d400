import { ConfigurationError } from '@call-attribution/core/errors';
import { isLoopback } from '@call-attribution/core/settings';
import { OAuthError, OAuthErrorCode, type OAuthTokenVerifier } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, decodeJwt, errors, jwtVerify } from 'jose';
import { isObject } from '../protocol/messages.ts';
import type { AuthMetadata } from './options.ts';

// Access tokens that are signed by an authorization server (RFC 9068), checked with the keys that the server publishes.

/** Signatures with a public key: a shared secret of the server is not known here. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

const longestMs = 5000;
/** Clocks of two machines differ. */
const toleranceSeconds = 30;

/** Keys of a server, and the name that it gives itself. */
interface Keys {
  readonly issuer: string;
  readonly find: ReturnType<typeof createRemoteJWKSet>;
}

/** Checks tokens with the servers that the metadata names. */
export function createTokenVerifier(
  { resource, authorizationServers }: AuthMetadata,
  log: (error: unknown) => void,
): OAuthTokenVerifier {
  const servers = new Map(authorizationServers.map((url) => [withoutSlash(url), once(() => keysOf(url))]));
  const audience = [resource, withoutSlash(resource), `${withoutSlash(resource)}/`];
  return {
    async verifyAccessToken(token) {
      try {
        if (token.split('.').length !== 3)
          throw refused(
            'The token is not signed: this endpoint takes signed access tokens (JWT, RFC 9068), no opaque ones',
          );
        const { iss } = decodeJwt(token);
        const keys = typeof iss === 'string' ? servers.get(withoutSlash(iss)) : undefined;
        if (keys === undefined) throw refused('The token is of another authorization server');
        const { issuer, find } = await keys();
        const { payload } = await jwtVerify(token, find, {
          algorithms,
          audience,
          issuer,
          requiredClaims: ['exp'],
          clockTolerance: toleranceSeconds,
        });
        const { exp = 0, client_id: clientId, scope } = payload;
        return {
          token,
          clientId: typeof clientId === 'string' ? clientId : '',
          scopes: typeof scope === 'string' ? scope.split(' ') : [],
          expiresAt: exp + toleranceSeconds,
        };
      } catch (error) {
        if (error instanceof OAuthError) throw error;
        if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout))
          throw refused('The token is not valid for this endpoint');
        log(error);
        throw new OAuthError(OAuthErrorCode.ServerError, 'The authorization server cannot be asked now');
      }
    },
  };
}

const refused = (text: string): OAuthError => new OAuthError(OAuthErrorCode.InvalidToken, text);

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/** Remembers the first success: a server that could not be reached is asked again. */
function once(find: () => Promise<Keys>): () => Promise<Keys> {
  let found: Promise<Keys> | undefined;
  return () => {
    found ??= find().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

/**
 * Finds the keys of an authorization server by its metadata (RFC 8414, then OpenID Connect). Throws a `ConfigurationError` that
 * says what is wrong with the URL.
 */
export async function keysOf(server: string): Promise<Keys> {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !isSafe(url))
    throw unusable(server, 'it must be a URL that begins with https://, or http:// on this machine');
  const path = withoutSlash(url.pathname);
  const places = [
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
    `${url.origin}${path}/.well-known/openid-configuration`,
    `${url.origin}/.well-known/openid-configuration${path}`,
  ];
  for (const place of new Set(places)) {
    const found = await documentAt(place);
    if (found === undefined) continue;
    const { issuer, jwks_uri: keys } = found;
    if (typeof issuer !== 'string' || withoutSlash(issuer) !== withoutSlash(server))
      throw unusable(
        server,
        `its metadata names another issuer${typeof issuer === 'string' ? `, ${issuer}` : ''}`,
      );
    if (typeof keys !== 'string' || !URL.canParse(keys) || !isSafe(new URL(keys)))
      throw unusable(server, 'its metadata names no keys (jwks_uri), so its tokens cannot be checked');
    return { issuer, find: createRemoteJWKSet(new URL(keys), { timeoutDuration: longestMs }) };
  }
  throw unusable(
    server,
    'it has no metadata at /.well-known/oauth-authorization-server or openid-configuration',
  );
}

const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));

async function documentAt(place: string): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(place, { redirect: 'error', signal: AbortSignal.timeout(longestMs) });
    const body: unknown = response.ok ? await response.json() : undefined;
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function unusable(server: string, why: string): ConfigurationError {
  return new ConfigurationError(
    'invalid_option',
    `The authorization server ${server} cannot be used: ${why}.`,
  );
}

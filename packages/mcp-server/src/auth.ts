import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type JsonObject, sendJson, sendRequest } from '@call-attribution/core/http';
import { isLoopback } from '@call-attribution/core/settings';
import {
  type AuthInfo,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';

// Who may use the endpoint: a token of its own, or one of an authorization server.

/** OAuth protected-resource metadata. */
export interface AuthMetadata {
  /** The public URL of this endpoint, which is the audience of the token. */
  readonly resource: string;
  /**
   * URLs of the servers that issue tokens. Their tokens are checked with the keys that they
   * publish, unless `verify` is given.
   */
  readonly authorizationServers: readonly string[];
  /** Scopes that a token must have. Default: none. */
  readonly scopes?: readonly string[] | undefined;
}

/** How the HTTP endpoint authenticates clients. */
export interface HttpAuth {
  /**
   * The bearer token that clients must send. It belongs to this server and is never a key of the
   * call-attribution API.
   */
  readonly token?: string | undefined;
  /** Verifies a token in a way of your own. It must check the audience too. */
  readonly verify?: ((token: string) => Promise<boolean>) | undefined;
  /**
   * Says where clients get a token (OAuth protected-resource metadata, RFC 9728), and whose tokens
   * count.
   */
  readonly metadata?: AuthMetadata | undefined;
}

/**
 * Says who may use an endpoint: resolves to the refusal of a request, or to null. Null itself:
 * everybody who reaches it.
 */
export type Gate = ((request: Request) => Promise<Response | null>) | null;

/** Makes the check of an endpoint. Metadata alone names the servers whose tokens count. */
export function createGate(auth: HttpAuth | undefined, log: (error: unknown) => void): Gate {
  const { token, verify, metadata } = auth ?? {};
  if (token === undefined && verify === undefined && metadata === undefined) return null;
  checkToken(token);
  const requiredScopes = [...(metadata?.scopes ?? [])];
  const ofServers = metadata && verify === undefined ? verifierOf(metadata, log) : null;
  const gate = requireBearerAuth({
    requiredScopes,
    ...(metadata && {
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(new URL(metadata.resource)),
    }),
    verifier: {
      async verifyAccessToken(given) {
        // What is not a JWT may do all that the endpoint can, for as long as it is not changed.
        const rights = { clientId: '', scopes: requiredScopes, expiresAt: Number.MAX_SAFE_INTEGER };
        const info = { token: given, ...rights };
        if (token !== undefined && sameSecret(given, token)) return info;
        if (verify !== undefined && (await verify(given))) return info;
        if (ofServers !== null) return ofServers(given);
        throw refused('Send the bearer token of this server');
      },
    },
  });
  return async (request) => {
    const found = await gate(request);
    return found instanceof Response ? found : null;
  };
}

/** Compares two secrets in constant time. */
function sameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Refuses a token that clients could not send or others could guess. */
function checkToken(token: string | undefined): void {
  if (token === undefined) return;
  if (token.length < 16)
    throw unusable('The token of the HTTP endpoint is too short: use at least 16 characters.');
  if (!/^[A-Za-z0-9._~+/=-]{1,8192}$/.test(token))
    throw unusable(
      'The token of the HTTP endpoint has a character that an Authorization header cannot carry: ' +
        'use only letters, digits and - . _ ~ + / =.',
    );
}

/**
 * The protected-resource document of RFC 9728, at the paths where clients look for it; null for
 * other requests.
 */
export function metadataResponse(
  { method, url }: Request,
  metadata: AuthMetadata,
): Response | null {
  const known = new URL(getOAuthProtectedResourceMetadataUrl(new URL(metadata.resource))).pathname;
  const { pathname } = new URL(url);
  if (
    method !== 'GET' ||
    (pathname !== known && pathname !== '/.well-known/oauth-protected-resource')
  )
    return null;

  const document = {
    resource: metadata.resource,
    authorization_servers: metadata.authorizationServers,
    bearer_methods_supported: ['header'],
    scopes_supported: metadata.scopes,
  };
  return Response.json(document, { headers: { 'access-control-allow-origin': '*' } });
}

/** Signatures with a public key: a shared secret of the server is not known here. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];
const longestMs = 5000;
/** Clocks of two machines differ. */
const toleranceSeconds = 30;

/**
 * Checks access tokens that the servers of the metadata have signed (RFC 9068), with the keys that
 * they publish.
 */
function verifierOf(
  { resource, authorizationServers }: AuthMetadata,
  log: (error: unknown) => void,
): (token: string) => Promise<AuthInfo> {
  // Keys are remembered; a server that could not be reached is asked again.
  const found = new Map<string, Awaited<ReturnType<typeof keysOf>>>();
  const audience = [resource, withoutSlash(resource), `${withoutSlash(resource)}/`];
  return async (token) => {
    try {
      if (token.split('.').length !== 3)
        throw refused(
          'The token is not signed: this endpoint takes signed access tokens (JWT, RFC 9068), no opaque ones',
        );
      const { iss } = decodeJwt(token);
      const server = authorizationServers.find(
        (url) => withoutSlash(url) === withoutSlash(String(iss)),
      );
      if (server === undefined) throw refused('The token is of another authorization server');
      const keys = found.get(server) ?? (await keysOf(server));
      found.set(server, keys);
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms,
        audience,
        issuer: keys.issuer,
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
      throw new OAuthError(
        OAuthErrorCode.ServerError,
        'The authorization server cannot be asked now',
      );
    }
  };
}

const refused = (text: string): OAuthError => new OAuthError(OAuthErrorCode.InvalidToken, text);

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/**
 * Finds the keys of an authorization server by its metadata (RFC 8414, then OpenID Connect), and
 * the name that it gives itself. Throws a `ConfigurationError` that says what is wrong with the
 * URL.
 */
export async function keysOf(
  server: string,
): Promise<{ readonly issuer: string; readonly find: JWTVerifyGetKey }> {
  const wrong = (why: string): ConfigurationError =>
    unusable(`The authorization server ${server} cannot be used: ${why}.`);
  const url = URL.canParse(server) ? new URL(server) : null;
  if (url === null || !isSafe(url))
    throw wrong('it must be a URL that begins with https://, or http:// on this machine');
  const path = withoutSlash(url.pathname);
  const places = [
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
    `${url.origin}${path}/.well-known/openid-configuration`,
    `${url.origin}/.well-known/openid-configuration${path}`,
  ];
  for (const place of new Set(places)) {
    const found = await documentAt(place);
    if (found === null) continue;
    const { issuer, jwks_uri: keys } = found;
    if (typeof issuer !== 'string' || withoutSlash(issuer) !== withoutSlash(server))
      throw wrong(`its metadata names another issuer, ${String(issuer)}`);
    if (typeof keys !== 'string' || !URL.canParse(keys) || !isSafe(new URL(keys)))
      throw wrong('its metadata names no keys (jwks_uri), so its tokens cannot be checked');
    return { issuer, find: createRemoteJWKSet(new URL(keys), { [customFetch]: fetchKeys }) };
  }

  throw wrong(
    'it has no metadata at /.well-known/oauth-authorization-server or openid-configuration',
  );
}

const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));

/** Whose answer is not there after five seconds cannot be asked now. */
const asking = { deadline: longestMs, most: 1024 * 1024 };

async function documentAt(place: string): Promise<JsonObject | null> {
  const { response } = await sendJson(new URL(place), { method: 'GET' }, asking);
  return response?.status === 200 ? response.body : null;
}

/** Keys are asked for as the metadata is: within a limit, and at no other place. */
async function fetchKeys(place: string): Promise<Response> {
  const { response, reason } = await sendRequest(new URL(place), { method: 'GET' }, asking);
  if (response === null) throw new errors.JWKSTimeout(reason);
  return new Response(new Uint8Array(response.body), { status: response.status });
}

const unusable = (message: string): ConfigurationError =>
  new ConfigurationError('invalid_option', message);

import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '@call-attribution/core/errors';
import { isLoopback } from '@call-attribution/core/settings';
import { getOAuthProtectedResourceMetadataUrl, requireBearerAuth } from '@modelcontextprotocol/server';
import { createTokenVerifier } from './oauth.ts';
import type { HttpAuth } from './options.ts';

// Who may use the endpoint: names of hosts and pages, tokens, and where to get one.

function hostNameOf(header: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d{1,5})?$/i.exec(header);
  return match?.[1]?.toLowerCase();
}

/**
 * Refuses a request with an unknown `Host` or `Origin`: they give away a web page that points its own name at this
 * machine (DNS rebinding). Returns the reason, or undefined when the request may pass.
 */
export function refusalOf(
  request: Request,
  allowedHosts: readonly string[],
  allowedOrigins: readonly string[],
): string | undefined {
  const host = hostNameOf(request.headers.get('host') ?? new URL(request.url).host);
  const hosts = allowedHosts.map((name) => name.toLowerCase());
  if (host === undefined || !(isLoopback(host) || hosts.includes(host))) return unknownHost;
  const origin = request.headers.get('origin');
  if (origin === null || allowedOrigins.includes(origin)) return undefined;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && isLoopback(url.hostname)) {
    return undefined;
  }
  return 'Forbidden: unknown Origin header. If the origin is yours, add it to allowedOrigins (--allow-origin).';
}

/** What a request is told whose `Host` is not a name of the endpoint. */
export const unknownHost =
  'Forbidden: unknown Host header. If the name is yours, add it to allowedHosts (--allow-host).';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two secrets in constant time. */
function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** True for a string that can be a bearer token (RFC 6750). */
function isBearerToken(text: string): boolean {
  return /^[A-Za-z0-9._~+/=-]{1,8192}$/.test(text);
}

/** Says who may use an endpoint. Null: everybody who reaches it. */
export type Gate = ((request: Request) => Promise<Response | null>) | null;

/**
 * Makes the check of an endpoint: it resolves to the refusal of a request, or to null. Metadata alone names the servers whose tokens
 * count.
 */
export function createGate(auth: HttpAuth | undefined, log: (error: unknown) => void): Gate {
  if (auth === undefined) return null;
  const { token, verify, metadata } = auth;
  if (token === undefined && verify === undefined && metadata === undefined) return null;
  checkToken(token);
  let challenge = 'Bearer realm="call-attribution"';
  let byServers: ReturnType<typeof requireBearerAuth> | undefined;
  if (metadata) {
    const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(metadata.resource));
    challenge += `, resource_metadata="${resourceMetadataUrl}"`;
    if (verify === undefined)
      byServers = requireBearerAuth({
        verifier: createTokenVerifier(metadata, log),
        requiredScopes: [...(metadata.scopes ?? [])],
        resourceMetadataUrl,
      });
  }
  return async (request) => {
    const given = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    if (given !== undefined && isBearerToken(given)) {
      if (token !== undefined && sameSecret(given, token)) return null;
      if (verify !== undefined && (await verify(given))) return null;
      if (byServers !== undefined) {
        const found = await byServers(request);
        return found instanceof Response ? found : null;
      }
    }
    const error = { code: -32600, message: 'Unauthorized: send the bearer token of this server.' };
    const headers = { 'www-authenticate': challenge };
    return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 401, headers });
  };
}

/** Refuses a token that clients could not send or others could guess. */
function checkToken(token: string | undefined): void {
  if (token === undefined) return;
  if (token.length < 16) {
    throw new ConfigurationError(
      'invalid_option',
      'The token of the HTTP endpoint is too short: use at least 16 characters.',
    );
  }
  if (!isBearerToken(token)) {
    throw new ConfigurationError(
      'invalid_option',
      'The token of the HTTP endpoint has a character that an Authorization header cannot carry: ' +
        'use only letters, digits and - . _ ~ + / =.',
    );
  }
}

const wellKnown = '/.well-known/oauth-protected-resource';

/** True for the paths at which clients look for the metadata of an endpoint. */
export function isMetadataPath(pathname: string, { resource }: NonNullable<HttpAuth['metadata']>): boolean {
  const path = new URL(resource).pathname.replace(/\/$/, '');
  return pathname === wellKnown || pathname === `${wellKnown}${path}`;
}

/** The protected-resource document of RFC 9728. */
export function resourceMetadata(metadata: NonNullable<HttpAuth['metadata']>): Record<string, unknown> {
  return {
    resource: metadata.resource,
    authorization_servers: metadata.authorizationServers,
    bearer_methods_supported: ['header'],
    ...(metadata.scopes === undefined ? {} : { scopes_supported: metadata.scopes }),
  };
}

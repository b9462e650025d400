import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@call-attribution/core';
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
  request: IncomingMessage,
  allowedHosts: readonly string[],
  allowedOrigins: readonly string[],
): string | undefined {
  const host = hostNameOf(request.headers.host ?? '');
  const hosts = allowedHosts.map((name) => name.toLowerCase());
  if (host === undefined || !(isLoopback(host) || hosts.includes(host))) {
    return 'Forbidden: unknown Host header. If the name is yours, add it to allowedHosts (--allow-host).';
  }
  const origin = request.headers.origin;
  if (origin === undefined || allowedOrigins.includes(origin)) return undefined;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && isLoopback(url.hostname)) {
    return undefined;
  }
  return 'Forbidden: unknown Origin header. If the origin is yours, add it to allowedOrigins (--allow-origin).';
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two secrets in constant time. */
function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** True for a string that can be a bearer token (RFC 6750). */
export function isBearerToken(text: string): boolean {
  return /^[A-Za-z0-9._~+/=-]{1,8192}$/.test(text);
}

/** True when the request may pass: the endpoint has no auth, or the bearer token is right. */
export async function isAuthorized(request: IncomingMessage, auth: HttpAuth | undefined): Promise<boolean> {
  if (!auth || (auth.token === undefined && auth.verify === undefined)) return true;
  const match = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '');
  if (!match?.[1] || !isBearerToken(match[1])) return false;
  if (auth.token !== undefined && sameSecret(match[1], auth.token)) return true;
  return auth.verify === undefined ? false : auth.verify(match[1]);
}

const wellKnown = '/.well-known/oauth-protected-resource';

/** True for the paths at which clients look for the metadata of an endpoint. */
export function isMetadataPath(pathname: string, endpoint: string): boolean {
  return pathname === wellKnown || pathname === `${wellKnown}${endpoint}`;
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

/** The `WWW-Authenticate` header of a 401, which points to the metadata when there is any. */
export function challenge(auth: HttpAuth | undefined, endpoint: string): string {
  if (!auth?.metadata) return 'Bearer realm="call-attribution"';
  const url = new URL(`${wellKnown}${endpoint}`, auth.metadata.resource);
  return `Bearer realm="call-attribution", resource_metadata="${url.href}"`;
}

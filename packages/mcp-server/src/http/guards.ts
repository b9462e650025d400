import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { HttpAuth } from './options.ts';

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]']);

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return loopbackNames.has(host) || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function hostNameOf(header: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d{1,5})?$/i.exec(header);
  return match?.[1]?.toLowerCase();
}

/**
 * Refuses a request whose `Host` or `Origin` is not known: a web page that points its own name at this
 * machine (DNS rebinding) shows itself by them. Answers the reason, or undefined when all is well.
 */
export function foreignSource(
  request: IncomingMessage,
  allowedHosts: readonly string[],
  allowedOrigins: readonly string[],
): string | undefined {
  const host = hostNameOf(request.headers.host ?? '');
  const hosts = allowedHosts.map((name) => name.toLowerCase());
  if (host === undefined || !(loopbackNames.has(host) || hosts.includes(host))) {
    return 'Forbidden: unknown Host header. Add the name to allowedHosts if it is yours.';
  }
  const origin = request.headers.origin;
  if (origin === undefined || allowedOrigins.includes(origin)) return undefined;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && loopbackNames.has(url.hostname)) {
    return undefined;
  }
  return 'Forbidden: unknown Origin header. Add it to allowedOrigins if it is yours.';
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two secrets in a time that tells nothing about either. */
function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** True for a text that a bearer token may be (RFC 6750). */
export function isBearerText(text: string): boolean {
  return /^[A-Za-z0-9._~+/=-]{1,8192}$/.test(text);
}

/** True when the request may come in: no auth is asked for, or its bearer token is right. */
export async function isAuthorized(request: IncomingMessage, auth: HttpAuth | undefined): Promise<boolean> {
  if (!auth || (auth.token === undefined && auth.verify === undefined)) return true;
  const match = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '');
  if (!match?.[1] || !isBearerText(match[1])) return false;
  if (auth.token !== undefined && sameSecret(match[1], auth.token)) return true;
  return auth.verify === undefined ? false : auth.verify(match[1]);
}

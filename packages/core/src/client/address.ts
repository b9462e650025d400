import { isIPv4, isIPv6 } from 'node:net';
import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages, type UrlProblem } from '../errors/setup-messages.ts';

/** A base URL in the two parts that the transport needs. It holds no secret. */
export interface Address {
  readonly origin: string;
  /** Path before the API's own, without a slash at its end. */
  readonly prefix: string;
}

/** Takes a base URL apart, and refuses one that would send credentials to the wrong place. */
export function readAddress(text: unknown, option: string): Address {
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
 * Can only this machine reach the host? There plain HTTP is safe. Decided by the address itself, in any of its spellings:
 * `127.evil.example` is a name like any other.
 *
 * @param host a name or an address, as in a URL: `localhost`, `127.0.0.1`, `[::1]`, `[::ffff:127.0.0.1]`.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (isIPv4(bare)) return bare.startsWith('127.');
  if (!isIPv6(bare)) return bare === 'localhost';
  // URLs write an IPv6 address in its shortest form, and an IPv4 address within it as two groups.
  const url = `http://[${bare}]`;
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  return hostname === '[::1]' || /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname);
}

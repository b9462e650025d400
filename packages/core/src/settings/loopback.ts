import { isIPv4, isIPv6 } from 'node:net';

/**
 * Can only this machine reach the host? There plain HTTP is safe. Decided by the address itself, in
 * any of its spellings:
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

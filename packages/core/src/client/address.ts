import { ConfigurationError } from '../errors/calls-error.ts';

/** A base address in the two parts the transport wants. It holds no secret. */
export interface Address {
  readonly origin: string;
  /** Path before the API's own, without a slash at its end. */
  readonly prefix: string;
}

/** Takes a base URL apart and refuses what would send keys astray. */
export function readAddress(text: unknown, option: string): Address {
  const fail = (problem: string, hint: string): never => {
    throw new ConfigurationError('invalid_option', `${option} ${problem}.`, { hint });
  };
  if (typeof text !== 'string' || text.trim() === '')
    return fail('is missing', 'Give an address such as https://api.example.com.');
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return fail('is not an absolute URL', 'Give an address such as https://api.example.com.');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    fail('must begin with https:// or http://', 'Add the scheme.');
  if (url.username !== '' || url.password !== '')
    fail('has credentials in it', 'Pass them as auth: apiKeys(...) or bearerToken(...).');
  if (url.search !== '' || url.hash !== '')
    fail('has a query or a fragment', 'Keep only scheme, host and path.');
  const prefix = url.pathname.replace(/\/+$/, '');
  if (/\/v[23](?:\/|$)/.test(prefix))
    fail('already names the version', 'Leave /v2 or /v3 and what follows out; use the option version.');
  return { origin: url.origin, prefix: prefix.replace(/\/ibp_api\.php$/, '') };
}

/**
 * Can only this machine reach the host? There plain HTTP is safe.
 *
 * @param host a name or an address, as in a URL: `localhost`, `127.0.0.1`, `[::1]`.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

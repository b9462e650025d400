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

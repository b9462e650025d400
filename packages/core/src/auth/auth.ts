import { propertyOf } from '../errors/checked-reads.ts';
import { ConfigurationError } from '../errors/classes.ts';
import { reveal, Secret, secret } from './secret.ts';

/** Access key and secret key of an account: for v3 and for the SMS listing. Made by `apiKeys`. */
export interface KeyAuth {
  /** Tells the two kinds of credentials apart. */
  readonly kind: 'keys';
  /** Sent as `access_key`. */
  readonly accessKey: Secret;
  /** Sent as `secret_key`, or as `secret_access_key` to the SMS listing. */
  readonly secretKey: Secret;
}

/** A bearer token: for v2, and for v3 of legacy users. Made by `bearerToken`. */
export interface BearerAuth {
  /** Tells the two kinds of credentials apart. */
  readonly kind: 'bearer';
  /** Sent in the Authorization header. */
  readonly token: Secret;
}

/** The credentials of a client. */
export type Auth = KeyAuth | BearerAuth;

/**
 * Keys from the account's key manager. They are checked here, before anything is sent; `undefined`,
 * such as a variable that is not set, is refused with an error that says so.
 *
 * @example
 * createClient({ baseUrl, auth: apiKeys(process.env.ACCESS_KEY, process.env.SECRET_KEY) });
 */
export function apiKeys(
  accessKey: string | Secret | undefined,
  secretKey: string | Secret | undefined,
): KeyAuth {
  return {
    kind: 'keys',
    accessKey: secret(accessKey, 'access key'),
    secretKey: secret(secretKey, 'secret key'),
  };
}

/**
 * A token issued for one account, with or without the word `Bearer` in front.
 *
 * @example
 * createClient({ baseUrl, version: 'v2', auth: bearerToken(process.env.CALLS_BEARER_TOKEN) });
 */
export function bearerToken(token: string | Secret | undefined): BearerAuth {
  const bare = typeof token === 'string' ? token.trim().replace(/^bearer\s+/i, '') : token;
  return { kind: 'bearer', token: secret(bare, 'bearer token') };
}

/** Refuses a combination that the API does not have, before anything is sent. */
export function checkAuth(auth: Auth, version: 'v2' | 'v3'): void {
  const kind = propertyOf(auth, 'kind');
  const isSecret = (name: string): boolean => propertyOf(auth, name) instanceof Secret;
  const isKeys = kind === 'keys' && isSecret('accessKey') && isSecret('secretKey');
  const isBearer = kind === 'bearer' && isSecret('token');
  if (!isKeys && !isBearer)
    throw new ConfigurationError(
      'invalid_option',
      'auth must be made by apiKeys(access, secret) or bearerToken(token).',
      { hint: 'Plain objects are refused, because the keys in them could be printed by accident.' },
    );

  if (isKeys && version === 'v2')
    throw new ConfigurationError(
      'invalid_credentials',
      'v2 takes a bearer token only; an access key and a secret key were given.',
      { hint: "Use auth: bearerToken(token), or version: 'v3' with these keys." },
    );
}

/** Header names and values, flat, as the transport takes them. */
export function authHeaders(auth: Auth): string[] {
  if (auth.kind === 'bearer') return ['authorization', `Bearer ${reveal(auth.token)}`];
  return ['access_key', reveal(auth.accessKey), 'secret_key', reveal(auth.secretKey)];
}

import { ConfigurationError } from '../errors/calls-error.ts';
import type { Version } from '../version.ts';
import { reveal, Secret, secret } from './secret.ts';

/** Access key and secret key of an account: v3 headers and the SMS listing. Made by `apiKeys`. */
export interface KeyAuth {
  readonly kind: 'keys';
  readonly accessKey: Secret;
  readonly secretKey: Secret;
}

/** A bearer token: all of v2, and v3 for legacy users. Made by `bearerToken`. */
export interface BearerAuth {
  readonly kind: 'bearer';
  readonly token: Secret;
}

/** How a client proves who it is. */
export type Auth = KeyAuth | BearerAuth;

/** Keys from the account's key manager, checked before any header is set. */
export function apiKeys(accessKey: string | Secret, secretKey: string | Secret): KeyAuth {
  return { kind: 'keys', accessKey: wrap(accessKey, 'access key'), secretKey: wrap(secretKey, 'secret key') };
}

/** A token issued for one account, with or without the word `Bearer` in front. */
export function bearerToken(token: string | Secret): BearerAuth {
  if (token instanceof Secret) return { kind: 'bearer', token };
  const bare = typeof token === 'string' ? token.trim().replace(/^bearer\s+/i, '') : token;
  return { kind: 'bearer', token: secret(bare, 'bearer token') };
}

const wrap = (value: string | Secret, what: string): Secret =>
  value instanceof Secret ? value : secret(value, what);

/** Refuses a combination the API does not know, before anything is sent. */
export function checkAuth(auth: Auth, version: Version): void {
  const made = auth as unknown as Record<string, unknown>;
  const isKeys = made.kind === 'keys' && made.accessKey instanceof Secret && made.secretKey instanceof Secret;
  const isBearer = made.kind === 'bearer' && made.token instanceof Secret;
  if (!isKeys && !isBearer)
    throw new ConfigurationError(
      'invalid_option',
      'auth must be made by apiKeys(access, secret) or bearerToken(token).',
      {
        hint: 'Keys given as plain objects are refused, because they would print.',
      },
    );
  if (isKeys && version === 'v2')
    throw new ConfigurationError(
      'auth_mismatch',
      'v2 takes a bearer token only; an access key and a secret key were given.',
      {
        hint: "Use auth: bearerToken(token), or version: 'v3' with these keys.",
      },
    );
}

/** Header names and values, flat, as the transport takes them. */
export function authHeaders(auth: Auth): string[] {
  if (auth.kind === 'bearer') return ['authorization', `Bearer ${reveal(auth.token)}`];
  return ['access_key', reveal(auth.accessKey), 'secret_key', reveal(auth.secretKey)];
}

import type { AccountCredential } from '@call-attribution/store';
import type { RefusalCode } from './problems.ts';
import { Refusal } from './refusal.ts';

const authHeaders = ['authorization', 'access_key', 'secret_key'] as const;

/** Reads the credentials of a request in the given version; refuses with 401 when they are missing or incomplete. */
export function readCredential({ headers }: Request, version: 'v2' | 'v3'): AccountCredential {
  const [authorization, accessKey, secretKey] = authHeaders.map((name) => single(headers, name));
  const wantsKeys = version === 'v3' && (accessKey !== undefined || secretKey !== undefined);
  if (wantsKeys && authorization !== undefined) {
    throw new Refusal(
      'two_credentials',
      'The request has both key headers and a bearer token. Send only one of them.',
      {
        parameter: 'authorization',
      },
    );
  }
  if (wantsKeys) return keys(accessKey, secretKey);
  if (authorization === undefined) throw missing(version);
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  if (token === undefined) {
    throw refused('malformed_authorization', 'The header Authorization must have the form "Bearer <token>".');
  }
  return { kind: 'bearer', token };
}

/** The refusal of a credential that does not belong to an account. */
export function refused(code: RefusalCode, detail: string): Refusal {
  return new Refusal(code, detail, { headers: { 'www-authenticate': 'Bearer' } });
}

function keys(accessKey: string | undefined, secretKey: string | undefined): AccountCredential {
  if (accessKey && secretKey) return { kind: 'keys', accessKey, secretKey };
  const absent = accessKey ? 'secret_key' : 'access_key';
  throw refused(
    'missing_credentials',
    `The header ${absent} is missing: v3 needs both access_key and secret_key.`,
  );
}

function missing(version: 'v2' | 'v3'): Refusal {
  return version === 'v2'
    ? refused('missing_credentials', 'v2 needs the header "Authorization: Bearer <token>".')
    : refused(
        'missing_credentials',
        'v3 needs the headers access_key and secret_key, or "Authorization: Bearer <token>".',
      );
}

function single(headers: Headers, name: string): string | undefined {
  const value = headers.get(name) ?? undefined;
  // Headers that are sent twice arrive as one, joined like this.
  if (value?.includes(', ')) {
    throw new Refusal('repeated_header', `The header ${name} is given twice. Send it once.`, {
      parameter: name,
    });
  }
  return value;
}

import type { RefinementCtx } from 'zod';

// A job file is copied from machine to machine, and everybody may read it.

/** Names under which people write keys. */
const names = /key|token|secret|passw|pwd|auth|bearer/i;

/**
 * What looks like a key wherever it stands: tokens with their scheme, JSON web tokens, keys of AWS,
 * private keys.
 */
const forms = [
  /\bbearer\s+\S{8}/i,
  /\beyJ[\w-]{8,}\.[\w-]{8,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /-----BEGIN/,
  /\b(?:access_?key|secret_?key|secret|password|passwd|token)\s*[=:]\s*\S/i,
];

/** What to do with a key. */
export const wayOut =
  'put keys into a file of their own and name it with "credential": "file:101.json", since a job file is no place for keys';

/**
 * Refuses keys in the values of a job, and names under which people write them, before anything
 * else is looked at.
 */
export function refuseKeys(value: unknown, context: RefinementCtx, path: PropertyKey[] = []): void {
  const refuse = (at: PropertyKey[], message: string): void =>
    context.addIssue({ code: 'custom', path: at, message, params: { hint: wayOut } });
  if (typeof value === 'string' && looksLikeKey(value)) refuse(path, 'looks like a key in clear');

  // A job is not that deep; its schema says so.
  if (typeof value !== 'object' || value === null || path.length > 8) return;
  const isList = Array.isArray(value);
  for (const [name, inner] of Object.entries(value)) {
    const at = [...path, isList ? Number(name) : name];
    if (!isList && (looksLikeKey(name) || looksRandom(name)))
      refuse(path, 'has a name that looks like a key in clear');
    else if (!isList && names.test(name)) refuse(at, 'is a key in clear');
    else refuseKeys(inner, context, at);
  }
}

/** Whether a string looks like a key. */
const looksLikeKey = (text: string): boolean => forms.some((form) => form.test(text));

/**
 * Long, in one piece, with upper and lower case and digits: nobody calls an account or a file so.
 */
export function looksRandom(text: string): boolean {
  const pieces = text.match(/[A-Za-z0-9+/=_]{28,}/g) ?? [];
  return pieces.some((piece) => /[a-z]/.test(piece) && /[A-Z]/.test(piece) && /\d/.test(piece));
}

/** Whether a URL has a password or a key in it. */
export function hasPassword(url: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:[^/?#@]*@/i.test(url)) return true;
  return /[?&](?:ssl)?(?:password|secret|token|access_?key|secret_?key)[^=&]*=/i.test(url);
}

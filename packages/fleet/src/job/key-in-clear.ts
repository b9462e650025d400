// A job is copied to the board and to the target, where everybody may read it.

/** Names under which people write keys. */
const names = /key|token|secret|passw|pwd|auth|bearer|credentials/i;

/** What looks like a key wherever it stands: tokens with their scheme, JSON web tokens, keys of AWS, private keys. */
const forms = [
  /\bbearer\s+\S{8}/i,
  /\beyJ[\w-]{8,}\.[\w-]{8,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /-----BEGIN/,
  /\b(?:access_?key|secret_?key|secret|password|passwd|token)\s*[=:]\s*\S/i,
];

/** Whether a setting of this name would hold a key. */
export const isKeyName = (name: string): boolean => names.test(name);

/** Whether a string looks like a key. */
export const looksLikeKey = (text: string): boolean => forms.some((form) => form.test(text));

/** Long, in one piece, with upper and lower case and digits: nobody calls an account or a file so. */
export function looksRandom(text: string): boolean {
  const pieces = text.match(/[A-Za-z0-9+/=_]{28,}/g) ?? [];
  return pieces.some((piece) => /[a-z]/.test(piece) && /[A-Z]/.test(piece) && /\d/.test(piece));
}

/** Whether a URL has a password or a key in it. */
export function hasPassword(url: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:[^/?#@]*@/i.test(url)) return true;
  return /[?&](?:ssl)?(?:password|secret|token|access_?key|secret_?key)[^=&]*=/i.test(url);
}

import { plainText } from './plain-text.ts';

// Removes secrets and personal data from text of programs, for messages and logs. What servers say
// goes through `serverWords`, which is stricter; what agents are shown goes through the masks of
// mcp-server.

const secrets =
  '(?:secret_)?access_key|access_key_id|secret_key|(?:x-)?api[-_]?key|(?:access|refresh|id)?_?token|passw(?:or)?d|pwd|secret|session_?id';

const rules: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w\-.~+/=]{4,}/gi, '$1 [secret]'],
  [/("?\bauthorization"?\s*[:=]\s*"?)(?!(?:bearer|basic) \[secret\])[^\s",;&<]+/gi, '$1[secret]'],
  [
    new RegExp(`("?(?:${secrets})"?\\s*[:=]\\s*"?)(?!\\[secret\\])[^\\s",;&<>]+`, 'gi'),
    '$1[secret]',
  ],
  // Of a URL only the server is kept: paths and queries may name a recording, a caller or a key.
  [
    /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"'<>@]*@)?([^\s/?#"'<>]+)[/?#][^\s"'<>]*/gi,
    '$1$2/…',
  ],
  // The last part of a domain begins with a letter; a version such as `undici@7.30` does not.
  [/[\p{L}\p{N}._%+'-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}[\p{L}\p{N}-]{0,62}/giu, '[email]'],
  // Two colons in a row, or eight groups: times of day have neither. `::1` is this machine.
  [
    /(?<![\w:])(?!::1(?::\d{1,5})?(?![\w:]))(?=[\da-f:]*::|(?:[\da-f]{1,4}:){7}[\da-f])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?![\w:])/gi,
    '[ip]',
  ],
  [/(?<![\d.])(?!127\.)\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g, '[ip]'],
  // What is that long and has letters and digits is a key, a token or a hash of one.
  [/(?<![\w-])(?=[a-z_-]*\d)(?=[\d_-]*[a-z])[\w-]{32,}/gi, '[secret]'],
];

// Dates, times of day and addresses of this machine look like phone numbers to a pattern, so they
// are recognized first and kept.
const phone =
  /((?<!\d)(?:\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2})?|\d{1,2}:\d{2}(?::\d{2})?|127(?:\.\d{1,3}){3}(?::\d{1,5})?)(?![\d:]))|\+?\(?\d(?:(?:(?![,;]\s)[^\p{L}\d&=?#"'<>{}[\]\n]){0,12}\d){6,}/gu;

/**
 * Removes secrets and personal data from a string: keys, tokens and passwords, phone numbers, email
 * and IP addresses, and everything of a URL but its server. It knows them by their form, also in
 * other digits, wide characters and percent-encoding. A name has no form of its own: do not pass
 * records through this, leave them out.
 *
 * @example
 * redact('no call from 555-555-0100, see https://api.example.com/a?key=b');
 * // no call from [number], see https://api.example.com/…
 */
export function redact(text: string): string {
  const plain = plainText(text);
  const clean = redactPlain(plain);

  // Where nothing is hidden, the text stays as it was written.
  return clean === plain ? redactPlain(text) : clean;
}

function redactPlain(text: string): string {
  const clean = rules.reduce((done, [pattern, put]) => done.replace(pattern, put), text);
  return clean.replace(phone, (_, kept) => kept ?? '[number]');
}

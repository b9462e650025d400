import { email, ipv4, ipv6, isIpv6, replacePatterns } from './patterns.ts';

const secretNames =
  'secret_access_key|access_key_id|access_key|secret_key|api[-_]?key|x-api-key|token|password|passwd|secret';

const patterns: readonly (readonly [RegExp, string | ((match: string, ...groups: string[]) => string)])[] = [
  [/\b(bearer|basic)\s+[\w\-.~+/=]{4,}/gi, '$1 [secret]'],
  [/("?\bauthorization"?\s*[:=]\s*"?)(?!(?:bearer|basic) \[secret\])[^\s",;&<]+/gi, '$1[secret]'],
  [new RegExp(`("?(?:${secretNames})"?\\s*[:=]\\s*"?)(?!\\[secret\\])[^\\s",;&<>]+`, 'gi'), '$1[secret]'],
  // Of a URL only the server is kept: paths and queries may name a recording, a caller or a key.
  [/(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"'<>@]*@)?([^\s/?#"'<>]+)[/?#][^\s"'<>]*/gi, '$1$2/…'],
  [email, '[email]'],
  [ipv4, '[ip]'],
  [ipv6, (match) => (isIpv6(match) ? '[ip]' : match)],
  // A date looks like a phone number to a pattern, so it is recognized first and kept.
  [
    /(\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2})?(?!\d))|\+?\(?\d(?:[\s().-]{0,2}\d){6,}/g,
    (_, date) => date ?? '[number]',
  ],
];

/**
 * Removes secrets and personal data from a string: keys and tokens, phone numbers, email and IP addresses, and everything
 * of a URL but its server. It knows them by their form. A name in a sentence has no form of its own, so do not pass
 * records through this: leave them out.
 *
 * @example
 * redact('no call from 555-555-0100, see https://api.example.com/a?key=b');
 * // no call from [number], see https://api.example.com/…
 */
export function redact(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement as string);
  // What is encoded, or written with the digits of another script.
  return replacePatterns(clean, (kind) => `[${names[kind] ?? kind}]`);
}

const names: Readonly<Record<string, string>> = { phone: 'number', value: 'secret' };

/** The beginning of a string, cut between words: half a key or half a number would no longer be recognized. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, text.slice(0, most).search(/\s\S*$/) + 1)}…`;
}

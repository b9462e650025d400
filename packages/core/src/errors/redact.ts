const secretNames =
  'secret_access_key|access_key_id|access_key|secret_key|api[-_]?key|x-api-key|token|password|passwd|secret';

const patterns: readonly (readonly [RegExp, string | ((match: string, ...groups: string[]) => string)])[] = [
  [/\b(bearer|basic)\s+[\w\-.~+/=]{4,}/gi, '$1 [secret]'],
  [/("?\bauthorization"?\s*[:=]\s*"?)(?!(?:bearer|basic) \[secret\])[^\s",;&<]+/gi, '$1[secret]'],
  [new RegExp(`("?(?:${secretNames})"?\\s*[:=]\\s*"?)(?!\\[secret\\])[^\\s",;&<>]+`, 'gi'), '$1[secret]'],
  // Of an address only the server is kept: paths and queries may name a recording, a caller or a key.
  [/(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"'<>@]*@)?([^\s/?#"'<>]+)[/?#][^\s"'<>]*/gi, '$1$2/…'],
  [/(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, '[ip]'],
  [/(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi, (match) => (isIpV6(match) ? '[ip]' : match)],
  // A date looks like a phone number to a pattern, so that it is recognised first and kept.
  [
    /(\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2})?(?!\d))|\+?\(?\d(?:[\s().-]{0,2}\d){6,}/g,
    (_, date) => date ?? '[number]',
  ],
];

/**
 * Takes secrets and personal data that have a shape out of a text: keys and tokens, phone numbers, e-mail and IP
 * addresses, everything of a link but its server. A name in free prose has no shape: do not pass records through this,
 * leave them out.
 */
export function redact(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement as string);
  return clean;
}

/** The beginning of a text, cut between words: half a key or half a number would not be recognised any more. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, text.slice(0, most).search(/\s\S*$/) + 1)}…`;
}

/** Times such as 12:30:05 have colons too; an address has a double colon or eight groups. */
function isIpV6(text: string): boolean {
  return text.includes('::') ? text.length > 2 : text.split(':').length === 8;
}

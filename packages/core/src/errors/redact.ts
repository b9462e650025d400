// Removes secrets and personal data from text for messages and logs. Strict and small: it masks what looks like one, and keeps no
// pseudonyms. What agents are shown goes through the masks of mcp-server.

const secrets =
  '(?:secret_)?access_key|access_key_id|secret_key|(?:x-)?api[-_]?key|(?:access|refresh|id)?_?token|passw(?:or)?d|pwd|secret|session_?id';
/** Last words of names whose values say who somebody is or let them in: `email`, `billing_name`, `x.phone`. */
const people =
  'name|[fl]name|(?:first|last|full|given|family|middle|user|caller|customer|contact|billing|shipping|nick)name|forename|surname|vorname|' +
  'nachname|nombre|apellidos?|prenom|name_(?:first|last|full|given|family|middle)|initials|attn|payee|cardholder|customer|client|contact|' +
  'patient|guest|buyer|person|recipient|tenant|borrower|insured|applicant|purchaser|bride|groom|spouse|e-?mail|mail|correo|' +
  '(?:tele)?(?:phone|fon)|telefono|phone_?number|tel|mobile|movil|fax|ani|caller(?:_?id)?|ip|ip_?address|street(?:_?address)?|address|addr|' +
  'adresse|direccion|strasse|zip(?:_?code)?|plz|post(?:al)?_?code|ssn|dob|birth_?(?:day|date)|dateofbirth|geburtsdatum|passport|iban|' +
  `card_?number|ccnumber|cvv|${secrets}`;
/** Names that mean as much, but only as a whole: `sort_key` names nobody. */
const alone = 'key|user|login|pass|auth|session|card|cell|handy|postal|birth|holder';

type Replacement = string | ((match: string, ...groups: string[]) => string);

const rules: readonly (readonly [RegExp, Replacement])[] = [
  [/\b(bearer|basic)\s+[\w\-.~+/=]{4,}/gi, '$1 [secret]'],
  [/("?\bauthorization"?\s*[:=]\s*"?)(?!(?:bearer|basic) \[secret\])[^\s",;&<]+/gi, '$1[secret]'],
  [new RegExp(`("?(?:${secrets})"?\\s*[:=]\\s*"?)(?!\\[secret\\])[^\\s",;&<>]+`, 'gi'), '$1[secret]'],
  // Of a URL only the server is kept: paths and queries may name a recording, a caller or a key.
  [/(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"'<>@]*@)?([^\s/?#"'<>]+)[/?#][^\s"'<>]*/gi, '$1$2/…'],
  // The last part of a domain begins with a letter; a version such as `undici@7.30` does not.
  [
    /[\p{L}\p{N}._%+'-]{1,64}(?:@|\s?[[({]at[\])}]\s?)(?:[\p{L}\p{N}-]{1,63}(?:\.|\s?[[({]dot[\])}]\s?)){1,8}\p{L}[\p{L}\p{N}-]{0,62}/giu,
    '[email]',
  ],
  [
    /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.]*\d)/g,
    (address) => (address.startsWith('127.') ? address : '[ip]'),
  ],
  [
    /(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?:[0-9a-f]{1,4}|:)(?::?[0-9a-f]{1,4}){0,6}(?![\w:])|(?<![\w:])::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4}(?![\w:])/gi,
    // Times of day are digits between colons too.
    (found) => (found.length > 4 && (found.includes('::') || found.split(':').length === 8) ? '[ip]' : found),
  ],
  // What is that long and has letters and digits is a key, a token or a hash of one.
  [/(?<![\w-])(?=[a-z_-]*\d)(?=[\d_-]*[a-z])[\w-]{32,}/gi, '[secret]'],
  // Dates, times of day and addresses of this machine look like phone numbers to a pattern, so they are recognized first and kept.
  [
    /((?<!\d)(?:\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2})?|\d{1,2}:\d{2}(?::\d{2})?|127(?:\.\d{1,3}){3}(?::\d{1,5})?)(?![\d:]))|\+?\(?\d(?:(?:(?![,;]\s)[^\p{L}\d&=?#"'<>{}[\]\n]){0,12}\d){6,}/gu,
    (_, kept) => kept ?? '[number]',
  ],
  // Our own messages name a field and what was expected of it.
  [
    new RegExp(
      `(?<![\\w.-])("?(?:(?:[\\w.-]{0,40}[_.-])?(?:${people})|${alone})(?:\\[[\\w-]{0,20}\\])*(?:_?(?:line|number|num|no|nr|input|field|value|\\d))*"?\\s?[:=](?!\\s?"?(?:expected\\b|\\[))\\s?"?)(?:(?<=")[^"]{1,200}|(?<!")[^&;,#|<>"\\n]{1,200})`,
      'gi',
    ),
    '$1[secret]',
  ],
];

/**
 * Removes secrets and personal data from a string: keys, tokens and passwords, phone numbers, email and IP addresses, and
 * everything of a URL but its server. It knows them by their form, also encoded. A name in a sentence has no form of its own, so
 * do not pass records through this: leave them out.
 *
 * @example
 * redact('no call from 555-555-0100, see https://api.example.com/a?key=b');
 * // no call from [number], see https://api.example.com/…
 */
export function redact(text: string): string {
  const plain = plainSpelling(text);
  const clean = masked(plain);
  // Text in which nothing was hidden is shown as it was written.
  return clean === plain ? masked(text) : clean;
}

const masked = (text: string): string =>
  rules.reduce(
    (clean, [pattern, put]) =>
      typeof put === 'string' ? clean.replace(pattern, put) : clean.replace(pattern, put),
    text,
  );

const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({ amp: '&', commat: '@', period: '.', plus: '+', nbsp: ' ', quot: '"' }),
);

/** The text without encodings, several layers of them, invisible characters, and digits of other scripts. */
function plainSpelling(text: string): string {
  if (!/[^\0-\x7F]|%[\da-f]{2}|&#?\w|\\[ux]/i.test(text)) return text;
  let plain = text;
  for (let layer = 0, before = ''; layer < 5 && plain !== before; layer += 1) {
    before = plain;
    plain = plain
      .replace(/(?:%[\da-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
      .replace(
        /%u([\da-f]{4})|\\u([\da-f]{4})|\\u\{([\da-f]{1,6})\}|\\x([\da-f]{2})|&#x0*([\da-f]{1,6});?/gi,
        (_, ...codes) => character(Number.parseInt(codes.slice(0, 5).join(''), 16)),
      )
      .replace(/&#0*(\d{1,7});?/g, (_, code) => character(Number(code)))
      .replace(/&([a-z]{2,6});/gi, (entity, name: string) => entities.get(name.toLowerCase()) ?? entity);
  }
  return plain
    .replace(/\p{Default_Ignorable_Code_Point}|\p{Cf}|\u20E3/gu, '')
    .normalize('NFKC')
    .replace(/[〇一二三四五六七八九]/g, (digit) => String('〇一二三四五六七八九'.indexOf(digit)))
    .replace(/(?!\d)\p{Nd}/gu, digitOf);
}

const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD');

/** The value of a decimal digit: in every script the ten of them follow each other. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/** The beginning of a string, cut between words: half a key or half a number would no longer be recognized. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, text.slice(0, most).search(/\s\S*$/) + 1)}…`;
}

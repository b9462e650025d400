import type { Folded, Passage } from './fold.ts';
import { rememberByKind } from './remember.ts';

// Values whose name says that they are personal: `billing_name=Bob Smith`, `"email": "..."`.

/** Words that make the value of a key personal when the key ends with them. */
const personal = new Set(
  (
    'email mail correo phone phonenumber tel telephone telefon telefono mobile movil fax caller callerid ani ' +
    'fname lname forename surname vorname nachname nombre apellido apellidos prenom nickname initials attn payee cardholder ' +
    'zip zipcode plz postalcode postcode ip ipaddress ssn dob birthdate birthday dateofbirth geburtsdatum passport iban ' +
    'cardnumber ccnumber cvv username password passwd pwd token accesstoken sessionid secret apikey'
  ).split(' '),
);
/** Words that are as personal, but only as a whole key: `sort_key` and `gift_card` name nobody. */
const personalAlone = new Set(
  'fn ln key user login pass auth session card cell handy postal birth holder caller_id session_id api_key access_key'.split(
    ' ',
  ),
);
/** People: only with `=`, since `Contact: ...` is also a title. */
const people = new Set(
  'kunde kundin cliente paciente customer client contact patient guest buyer person recipient tenant borrower insured applicant purchaser bride groom spouse'.split(
    ' ',
  ),
);
const address = /^(?:street|street_?address|address|addr|adresse|direccion|strasse)$/;
/** Things that have names too. */
const things =
  /(?:^|_)(?:campaign|ad|ads|adgroup|adset|group|keyword|product|item|brand|store|shop|event|page|site|file|font|class|icon|tag|utm|source|medium|channel|creative|placement|list|template|category|colou?r|size|plan|course|city|state|country|region|market|location|company|business|form|field|host|domain|path|app|os|browser|device|model|service|hotel|variant|experiment|screen|section|button|query|term|pool|route|method|module|layer|type|code|team|project|package|table|column|cookie|vehicle|car|offer|promo|coupon|theme|menu|link|image|img|video|audience|segment|network|provider)_?name$/;
/** Words after which a key still means the same. */
const ending = /_?(?:line|number|num|no|nr|input|field|value|\d)$/;
const placeholder =
  /^(?:\(?not set\)?|undefined|null|none|n\/a|true|false|yes|no|0|1|anonymous|guest|new|returning|existing|unknown|\*|-|\{.*|\[.*|«.*)$/;
const keyCharacter = /[\w.\-[\]]/;

/** Reads the key in front of a value: `gclid` for what follows `gclid=`. */
export function keyBefore(text: string, from: number): string {
  let end = from;
  while (end > 0 && /["' -]/.test(text.charAt(end - 1)) && from - end < 3) end -= 1;
  return text[end - 1] === '=' || text[end - 1] === ':' ? keyAt(text, end - 1) : '';
}

/** The key whose sign is at an index. */
function keyAt(text: string, sign: number): string {
  let end = sign;
  while (end > 0 && /["' ]/.test(text.charAt(end - 1)) && sign - end < 2) end -= 1;
  let start = end;
  while (start > 0 && end - start < 60 && keyCharacter.test(text.charAt(start - 1))) start -= 1;
  return text.slice(start, end);
}

/** Does the number belong to a click id or a cookie, which are made of all kinds of characters? */
export function isInClickId(text: string, from: number): boolean {
  let start = from;
  while (start > 0 && from - start < 120 && /[\w.~-]/.test(text.charAt(start - 1))) start -= 1;
  return text[start - 1] === '=' && /clid|braid|^_?ga(?:_|$)|^_?gcl|^_?fb[cp]$/.test(keyAt(text, start - 1));
}

/** Is this the name of an id, a time or an amount, whose digits are not a phone number? */
export function isIdKey(key: string): boolean {
  if (key === '' || kindOf('=', key).kind !== undefined) return false;
  return (
    /(?:id|ids|clid|braid|campaign|adgroup|creative|placement|target|content|timestamp|time|date|price|amount|version)$/.test(
      key,
    ) ||
    /(?:^|[_.\-[\]])(?:ts|t|v|ver|cb|rnd|random|ord|hash|_ga|ga|gid|cache|seq|build|sku|ref|order|invoice|total|value|lat|lng|lon|latitude|longitude)$/.test(
      key,
    )
  );
}

type KeyKind = 'person' | 'value' | undefined;

const kindOf = rememberByKind((sign, key) => ({ kind: readKind(key, sign) }));

function readKind(key: string, sign: string): KeyKind {
  let name = key.replace(/[[\].-]+/g, '_').replace(/^_+|_+$/g, '');
  const isKnown = (): boolean => personal.has(lastWord(name)) || personalAlone.has(name);
  for (let i = 0; i < 3 && !isKnown() && ending.test(name); i += 1) name = name.replace(ending, '');
  const last = lastWord(name);
  if (/name$/.test(name)) return things.test(name) ? undefined : 'person';
  if (/(?:^|_)name_(?:first|last|full|given|family|middle)$/.test(name)) return 'person';
  if (address.test(last) && !/(?:^|_)(?:web|site|url|mac)_/.test(name))
    return /(?:^|_)(?:ip|e?mail)_/.test(name) ? 'value' : 'person';
  if (people.has(last)) return sign === '=' ? 'person' : undefined;
  if (personal.has(last) || personalAlone.has(name)) return 'value';
  return /(?:email|phone|mobile|address|zipcode|postcode|birthday|password)$/.test(last)
    ? 'value'
    : undefined;
}

const lastWord = (name: string): string => name.slice(name.lastIndexOf('_') + 1);

/** Finds the values of personal parameters in a folded string. */
export function findParameters(folded: Folded): Passage[] {
  const { text } = folded;
  const spans: Passage[] = [];
  for (const { 0: sign, index } of text.matchAll(/[=:]/g)) {
    if (index < (spans.at(-1)?.to ?? 0)) continue;
    const key = keyAt(text, index);
    const kind = key === '' ? undefined : kindOf(sign, key).kind;
    if (kind === undefined) continue;
    const from = index + 1 + (/^ ?["']?/.exec(text.slice(index + 1, index + 3))?.[0].length ?? 0);
    const to = endOf(folded, from, kind, folded.wasEncoded(index));
    const value = text.slice(from, to).trim().replace(/[,.]$/, '');
    if (value !== '' && !value.startsWith('//') && !placeholder.test(value))
      spans.push({ kind: 'value', from, to });
  }
  return spans;
}

const longestValue = 200;

/** Where a value ends. What is encoded does not end a value that itself is not. Names and addresses may have spaces. */
function endOf(folded: Folded, from: number, kind: 'person' | 'value', isInner: boolean): number {
  const { text } = folded;
  const quote = /["']/.test(text[from - 1] ?? '') ? text.indexOf(text.charAt(from - 1), from) : -1;
  if (quote > from && quote - from <= longestValue) return quote;
  const mark = kind === 'person' ? /[&;#|<>"]/ : /[&;#|<>"\s]/;
  let to = from;
  while (to < text.length && to - from < longestValue) {
    if (mark.test(text.charAt(to)) && (isInner || !folded.wasEncoded(to))) break;
    to += 1;
  }
  const next = kind === 'person' ? text.slice(from, to).search(/\s[\w.-]{1,40}=/) : -1;
  return next >= 0 ? from + next : to;
}

import { plainText } from '../errors/plain-text.ts';

// What looks personal in a text that somebody wrote: e-mail addresses, phone numbers and IP
// addresses.

/**
 * Of longer text nothing is looked at, so nothing of it is kept: a search takes little time then,
 * whatever was sent.
 */
export const longestScrubbed = 2000;

const email =
  /[\p{L}\p{N}._%+'-]{1,64}\s?(?:@|[[({]\s?at\s?[\])}])\s?[\p{L}\p{N}-]{1,63}(?:\s?(?:\.|[[({]\s?dot\s?[\])}])\s?[\p{L}\p{N}-]{1,63}){1,8}/giu;
const mayHaveEmail = /@|[[({]\s?at\s?[\])}]/i;
/** An IPv4 address; longer runs of numbers with dots are versions. */
const ipv4 =
  /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.]*\d)/g;
const ipv6 = /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi;
/** Seven to fifteen digits with few marks between them. */
const phone = /(?<![\p{L}\d])\+?\(?\d(?:[\s().\-‐-―/*_•]{0,3}\d){6,16}(?![\p{L}\d])/gu;
/** Characters written as numbers: nobody but who hides something writes text like that. */
const encoded =
  /(?:&#x?[0-9a-f]{1,6};.*){2}|&(?:period|commat|lowbar|num|plus);|\\u\{?[0-9a-f]{2,6}|\\x[0-9a-f]{2}|%u[0-9a-f]{4}/i;
const years = /^(?:19|20)\d\d[-–/ ](?:19|20)\d\d$/;
const date =
  /^(?:(?:19|20)\d\d[-./_]\d\d?[-./_]\d\d?|\d\d?[-./_]\d\d?[-./_](?:19|20)\d\d|(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d)(?!\d)/;

/** Replaces what looks personal. `own`: a number of the account, which may stand in its labels. */
export function scrub(text: string, own = ''): string {
  const cut = text.slice(0, longestScrubbed);
  if (encoded.test(cut)) return '[personal]';
  const clean = replaced(cut, own);

  // What is written in another way is looked for too; where it stands is not known then.
  const plain = plainOf(cut);
  return clean === cut && plain !== cut.toLowerCase() && replaced(plain, own) !== plain
    ? '[personal]'
    : clean;
}

function replaced(text: string, own: string): string {
  // Most text has no place for an address, and the search for one takes long.
  let clean = mayHaveEmail.test(text) ? text.replace(email, '[email]') : text;
  clean = clean.replace(ipv4, '[ip]');
  if (clean.split(':').length > 2)
    clean = clean.replace(ipv6, (found) => (isIpv6(found) ? '[ip]' : found));
  return clean.replace(phone, (found) => {
    const digits = found.replace(/\D/g, '');
    const isOwn = own !== '' && digits.endsWith(own.slice(-10));
    return isOwn || years.test(found) || date.test(found) ? found : '[number]';
  });
}

/** Rules out times of day, which are also digits between colons. */
const isIpv6 = (value: string): boolean =>
  value.length > 4 && (value.includes('::') || value.split(':').length === 8);

/** Whether a text has no characters beyond those of English keyboards. */
export const isAscii = (text: string): boolean => /^[\0-\x7F]*$/.test(text);

/** A text as people read it, in small letters without marks. */
export function plainOf(text: string): string {
  const plain = plainText(text).toLowerCase();
  if (isAscii(plain)) return plain;
  const bare = plain.normalize('NFKD').replace(/\p{M}/gu, '');
  return bare.replace(/[ßłøđðæœþı]/g, (letter) => otherLetters[letter] ?? letter);
}

const otherLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ı: 'i',
};

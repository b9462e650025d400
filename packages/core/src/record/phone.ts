import { plainText } from '../errors/plain-text.ts';

// The one table of spellings of phone numbers: what is erased, masked, matched and uploaded is
// compared by it.

/** A phone number, whatever its spelling was. */
export interface PhoneNumber {
  /**
   * Its digits, as 0 to 9: with the country code where the spelling has one, without an extension.
   */
  readonly digits: string;
  /** The spelling has a country code: `+44 20…`, `0044 20…` or `011 44 20…`. */
  readonly isInternational: boolean;
  /** Nothing else is in the text: no word, no second number. */
  readonly isAlone: boolean;
}

/** What comes before a country code where there is no plus: `00`, and `011` in North America. */
const internationalPrefix = /^(?:00|011)(?=[1-9])/;

/**
 * `sip:`, `tel:` and the like, also after a name: `"Ann"
 * <sip:+13125550199@example.com;user=phone>`.
 */
const uri = /(?:^|[\s<"'(])(?:sips?|tel|callto|sms|fax|whatsapp)\s*:\s*(?:\/\/)?([^@;?<>:]*)/i;

/** An extension, with what separates it from the number. */
const extension = /[\s,;.([-]*(?:ext(?:ension|n)?|x|#)[\s.:=#]*\d{1,7}[\s)\]]*$/i;
/** Digits that are dialed after a pause. */
const afterPause = /\s*[,;pw]+\s*\d{1,7}[\s#]*$/i;

/** A zero that is only dialed within the country: `+44 (0)20 7946 0958`. */
const innerZero = /^([\s(]*(?:\+|00)?[\s(]*\d{1,3}[\s).-]*)\(0\)/;

/**
 * Reads a phone number in any usual spelling: digits of any script, brackets and dashes, `00` or
 * `011` for the plus, a `sip:` or `tel:` address, an extension, percent-encoding, a number of JSON.
 * Null where there is no digit.
 *
 * @example
 * readPhone('tel:001-312-555-0199;ext=5'); // { digits: '13125550199', isInternational: true,
 * isAlone: true }
 */
export function readPhone(value: unknown): PhoneNumber | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    return null;
  const text = plainText(String(value)).trim();

  // So much text is no number, and patterns would take long over it.
  const number =
    text.length > mostText ? text : withoutExtension(addressIn(text)).replace(innerZero, '$1');
  const all = number.replace(/\D/g, '');
  if (all === '') return null;
  const prefix = internationalPrefix.exec(all)?.[0] ?? '';

  // In other countries an area code may begin so: with 00 a number has at least 10 digits, with 011
  // at least 13.
  const isPrefix = prefix !== '' && all.length >= (prefix === '00' ? 10 : 13);
  return {
    digits: isPrefix ? all.slice(prefix.length) : all,
    isInternational: isPrefix || /^[\s(]*\+/.test(number),
    isAlone: /^[\d\s().+/'"·[\]-]*$/.test(number),
  };
}

/** The characters of a number with a name and an address around it. */
const mostText = 300;

/** Digits that can be a number that somebody calls from. */
const callable = /^\d{5,15}$/;

/** Is a text a phone number and nothing else? */
export function isPhoneNumber(text: string): boolean {
  const phone = readPhone(text);
  return phone?.isAlone === true && callable.test(phone.digits);
}

/**
 * The part of a phone number that says whose it is, so that numbers compare equal however they are
 * written (see `readPhone`): the digits, without the 1 in front of a North American number. A value
 * without digits, such as `Anonymous`, stays as it is; what is neither text nor a number is empty.
 *
 * @example
 * phoneKey('+1 (555) 555-0100') === phoneKey('5555550100');
 */
export function phoneKey(value: unknown): string {
  // Most are written in one of three ways, and a copy of a million calls asks for each.
  if (typeof value === 'string' && /^(?:\+?1)?[2-9]\d{9}$/.test(value)) return value.slice(-10);
  const phone = readPhone(value);
  if (phone === null) return typeof value === 'string' ? value : '';
  return /^1[2-9]\d{9}$/.test(phone.digits) ? phone.digits.slice(1) : phone.digits;
}

/** The part of an address that is the number: of `13125550199@10.0.0.1` that before the machine. */
function addressIn(text: string): string {
  const found = uri.exec(text)?.[1];
  if (found !== undefined) return found;
  const user = text.slice(0, Math.max(0, text.indexOf('@')));
  return /\d/.test(user) ? user : text;
}

function withoutExtension(number: string): string {
  for (const [ending, least] of [
    [extension, 7],
    [afterPause, 10],
  ] as const) {
    const rest = number.replace(ending, '');
    if (rest !== number && rest.replace(/\D/g, '').length >= least) return rest;
  }
  return number;
}

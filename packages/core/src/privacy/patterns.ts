// What personal data looks like inside URLs, titles and free text. When in doubt, a value is masked.

/** An email address anywhere in a string. */
export const email = /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
/** An IPv4 address; longer runs of numbers with dots are versions. */
export const ipv4 =
  /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.]*\d)/g;
/** What may be an IPv6 address; `isIpv6` decides. */
export const ipv6 =
  /(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?:[0-9a-f]{1,4}|:)(?::?[0-9a-f]{1,4}){0,6}(?![\w:])|(?<![\w:])::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4}(?![\w:])/gi;
// A number with a plus or with separators.
const spelledPhone =
  /(?<![\p{L}\p{N}])(?:\+|00)?\(?\d{1,4}\)?(?:[\s().\-/]{1,3}\d{2,5}){1,5}(?![\p{L}\p{N}])/gu;
const plusPhone = /\+\d{8,15}(?!\d)/g;
// A bare ten-digit number that the North American plan allows, unless an ad parameter says that it is an id.
const barePhone =
  /(?<![\p{L}\p{N}.])(?<!(?:clid|braid|campaign_?id|group_?id|ad_?id|creative|target_?id|account_?id|keyword_?id|utm_id)=)1?[2-9]\d{2}[2-9]\d{6}(?![\p{L}\p{N}])/giu;
const personalParameter =
  /(?<=(?:^|[?&;#/\s])(?:e?-?mail|phone|phone_?number|tel|telephone|mobile|cell|fax|caller|caller_?id|ani|(?:first|last|full|given|family|user|sur)?[_-]?name|fname|lname|street|street_?address|address\d?|addr|zip|zip_?code|postal_?code|post_?code|ip|ip_?address|ssn|dob|birth_?date|birthday|user|login|password|passwd|pwd|pass|token|access_token|auth|session|session_?id|secret|api_?key|key)=)[^&;#\s]+/giu;

/**
 * Replaces everything in a string that looks like personal data: email addresses, phone numbers, IP addresses, and the
 * values of URL parameters such as `name` or `phone`.
 *
 * @param replace gets the kind of data and the value that was found.
 * @example
 * replacePatterns('call 555-555-0100', (kind) => `[${kind}]`); // call [phone]
 */
export function replacePatterns(text: string, replace: (kind: string, value: string) => string): string {
  return text
    .replace(personalParameter, (value) => replace('value', value))
    .replace(email, (value) => replace('email', value))
    .replace(ipv4, (value) => replace('ip', value))
    .replace(ipv6, (value) => (isIpv6(value) ? replace('ip', value) : value))
    .replace(spelledPhone, (value) => (looksSpelled(value) ? replace('phone', value) : value))
    .replace(plusPhone, (value) => replace('phone', value))
    .replace(barePhone, (value) => replace('phone', value));
}

/** Does the string contain an email address? */
export function hasEmail(text: string): boolean {
  return text.search(email) >= 0;
}

/** Rules out times of day, which are also digits between colons. */
export function isIpv6(value: string): boolean {
  return value.length > 4 && (value.includes('::') || value.split(':').length === 8);
}

/** Rules out dates, versions and number lists that the wide pattern also catches. */
function looksSpelled(value: string): boolean {
  const digits = value.replace(/\D/g, '').length;
  if (digits > 15) return false;
  if (value.startsWith('+')) return digits >= 8;
  if (/^\d{3}[-. ]\d{4}$/.test(value)) return true;
  return digits >= 9 && !/^(?:19|20)\d\d[-/.]\d\d?[-/.]\d\d?(?!\d)/.test(value);
}

const mostDigits = 18;

/**
 * The key by which calls of one caller are found: `1` and the digits of the number, so that leading zeros count. The
 * North American country code is left out. Null for what has no digits, such as `anonymous`, or more than 18.
 */
export function callerKey(number: unknown): string | null {
  if (typeof number !== 'string') return null;
  const digits = /^\d+$/.test(number) ? number : number.replace(/\D/g, '');
  const local = digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
  return local === '' || local.length > mostDigits ? null : `1${local}`;
}

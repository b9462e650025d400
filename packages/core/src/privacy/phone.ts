/**
 * The part of a phone number that says whose it is, so that numbers compare equal however they are written: the digits,
 * without the 1 in front of a North American number. A value without digits, such as `Anonymous`, stays as it is.
 *
 * @example
 * phoneKey('+1 (555) 555-0100') === phoneKey('5555550100');
 */
export function phoneKey(number: string): string {
  const digits = number.replace(/\D/g, '');
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits || number;
}

/**
 * A phone number in the E.164 form, a plus and digits. A number without a country code must be one of the North American
 * plan. Null for anything else.
 *
 * @example
 * toE164('(555) 555-0100'); // +15555550100
 */
export function toE164(number: unknown): string | null {
  if (typeof number !== 'string') return null;
  const digits = number.replace(/[\s().-]/g, '');
  if (/^\+[1-9]\d{7,14}$/.test(digits)) return digits;
  return /^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits) ? `+1${digits.slice(-10)}` : null;
}

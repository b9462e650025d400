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

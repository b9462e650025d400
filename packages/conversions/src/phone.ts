import { readPhone } from '@call-attribution/core/record';

/**
 * A phone number in the E.164 form, a plus and digits, from any spelling. A number without a
 * country code must be one of the North American plan. Null for anything else.
 *
 * @example
 * toE164('(555) 555-0100'); // +15555550100
 */
export function toE164(number: unknown): string | null {
  const phone = readPhone(number);
  if (phone === null || !phone.isAlone) return null;
  const { digits, isInternational } = phone;
  if (isInternational) return /^[1-9]\d{7,14}$/.test(digits) ? `+${digits}` : null;
  return /^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits) ? `+1${digits.slice(-10)}` : null;
}

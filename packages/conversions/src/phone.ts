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

import { phoneKey } from '@call-attribution/core/record';

const number = /^\d{1,18}$/;

/**
 * The key by which the calls of one caller are found: `1` and the digits of the number, so that leading zeros count. Null
 * for what is not a number, such as `Anonymous`, or has more than 18 digits.
 */
export function callerKey(ani: unknown): string | null {
  const key = phoneKey(ani);
  return number.test(key) ? `1${key}` : null;
}

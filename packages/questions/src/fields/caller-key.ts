import { phoneKey } from '@call-attribution/core/record';

const number = /^\d{1,15}$/;
const [one, plus] = [49, 43];

/**
 * The key by which the calls of one caller are found: the digits of the number after a `1`, so that leading zeros count. Null for what
 * is not a number, such as `Anonymous`, or has more digits than any number.
 */
export function callerKey(ani: unknown): number | null {
  const national = typeof ani === 'string' ? nationalNumber(ani) : 0;
  if (national !== 0) return 1e10 + national;
  const key = phoneKey(ani);
  return number.test(key) ? Number(`1${key}`) : null;
}

/** A number of ten digits as most are written, alone or after `1` or `+1`; 0 for what is written in another way. */
function nationalNumber(text: string): number {
  const start = text.length - 10;
  if (start < 0 || start > 2) return 0;
  if (start === 1 && text.charCodeAt(0) !== one) return 0;
  if (start === 2 && (text.charCodeAt(0) !== plus || text.charCodeAt(1) !== one)) return 0;
  let number = 0;
  for (let i = start; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9 || (i === start && digit < 2)) return 0;
    number = number * 10 + digit;
  }
  return number;
}

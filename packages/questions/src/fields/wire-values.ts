import { phoneKey } from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';

// What a value of a record says, whatever form it was sent in.

/** A naive time in milliseconds; or null. The year 0 has no times. */
export function timeOf(value: unknown): number | null {
  const time =
    typeof value !== 'string' || value.startsWith('0000') ? Number.NaN : parseNaive(value);
  return Number.isNaN(time) ? null : time;
}

/** A text, with the replacement character where half of a surrogate pair was. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).toWellFormed();
}

/** A decimal number in tenths; or null, as for a finer one. */
export function tenthsOf(value: unknown): number | null {
  const isOne = typeof value === 'string' || typeof value === 'number';
  return isOne && /^-?0*\d{1,8}(?:\.\d0*)?$/.test(String(value))
    ? Math.round(Number(value) * 10) + 0
    : null;
}

/**
 * A whole number. As text, it has nine digits at most; as a number, so it has unless it `isWide`.
 */
export function integerOf(value: unknown, isWide: boolean): number | null {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && (isWide || Math.abs(value) < 1e9) ? value + 0 : null;
  const isNumber = typeof value === 'string' && /^-?0*\d{1,9}$/.test(value);
  return isNumber ? Number(value) + 0 : null;
}

/**
 * The key by which the calls of one caller are found: the digits of the number after a `1`, so that
 * leading zeros count. Null for what is not a number, such as `Anonymous`, or has more digits than
 * any number.
 */
export function callerKey(ani: unknown): number | null {
  const key = phoneKey(ani);

  // Questions ask for those of all calls, and a pattern and `Number` take several times as long.
  let number = 1;
  for (let i = 0; i < key.length; i += 1) {
    const digit = key.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return null;
    number = number * 10 + digit;
  }

  return key === '' || key.length > 15 ? null : number;
}

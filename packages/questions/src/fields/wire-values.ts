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

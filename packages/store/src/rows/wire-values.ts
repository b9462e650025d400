import { parseNaive } from '@call-attribution/core/time';

const tenthsForm = /^(\d{1,8})(?:\.(\d)0*)?\.?$/;

/** Talk value of a call that does not have one. No range includes it. */
export const noTalk = -1;

/** Time of a call whose `date_added` is not a date: before all dates, in a time bucket of its own, so that no range has it. */
export const noTime = -(2 ** 37);

/** The talk value under which the calls of all talk values are counted. */
export const anyTalk = -2;

/**
 * The position of a wire time on one line of seconds, for order and ranges only: the API names no time zone. Null when the
 * text is not `YYYY-MM-DD HH:MM:SS` or not a day of the calendar.
 */
export function secondsOf(text: string): number | null {
  const millis = text.length === 19 ? parseNaive(text) : Number.NaN;
  return Number.isNaN(millis) ? null : millis / 1000;
}

/** `"1.3"` as 13. Null when the string is not a decimal, or is finer than tenths. */
export function tenthsOf(text: string): number | null {
  const parts = tenthsForm.exec(text);
  return parts === null ? null : Number(parts[1]) * 10 + Number(parts[2] ?? 0);
}

/** The largest talk value that a store can hold. Larger bounds are cut to it. */
export const mostTenths = 2_147_483_646;

/**
 * A bound of a talk range in whole tenths, without rounding errors: `floor` is the largest number of tenths at or below the
 * bound, `exact` says whether it is the bound itself.
 */
export function tenthsBound(text: string): { floor: number; exact: boolean } {
  const negative = text.startsWith('-');
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const digits = whole.replace(/^0+(?=\d)/, '');
  const rest = /[1-9]/.test(fraction.slice(1));
  const tenths =
    digits.length > 9 ? mostTenths : Math.min(Number(digits) * 10 + Number(fraction[0] ?? 0), mostTenths);
  if (!negative) return { floor: tenths, exact: !rest };
  // Not -0 for 0.
  return rest ? { floor: -tenths - 1, exact: false } : { floor: 0 - tenths, exact: true };
}

import { FilterArgumentError } from './errors.ts';
import type { Bound, FieldType } from './filter.ts';

// Bounds as filters write them. A date is a wall-clock time without a zone, on the Gregorian
// calendar.

const date = /\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d/y;

// With at most 99 digits before the decimal point, no number is too large for a double.
const decimal = /-?\d{1,99}(?:\.\d+)?/y;

/** The number of days in a month of the Gregorian calendar. January is month 1. */
function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Where the bound that starts at an offset ends; undefined when there is none of this type. `*` is
 * not one.
 */
export function endOfBound(text: string, start: number, type: FieldType): number | undefined {
  const pattern = type === 'date' ? date : decimal;
  pattern.lastIndex = start;
  if (!pattern.test(text)) return undefined;
  const { lastIndex } = pattern;
  if (type !== 'date') return lastIndex;
  const part = (from: number, to: number): number => Number(text.slice(start + from, start + to));
  const day = part(8, 10);
  return day > 28 && day > daysInMonth(part(0, 4), part(5, 7)) ? undefined : lastIndex;
}

/** Whether the whole text is a bound of the type; `*` is not one. */
export const isBound = (text: string, type: FieldType): boolean =>
  endOfBound(text, 0, type) === text.length;

/** A bound without its place and bracket. */
type BoundText = Pick<Bound, 'text'>;

/** Whether a bound is a date and not a number. */
export const isDate = ({ text }: BoundText): boolean => text.charAt(4) === '-';

/** Negative, 0 or positive, as the values of two bounds of one field compare. */
export function compare(left: BoundText, right: BoundText): number {
  const dates = isDate(left);
  if (dates !== isDate(right)) {
    throw new FilterArgumentError(
      `The bounds ${left.text} and ${right.text} on one field mix dates and numbers.`,
    );
  }

  if (!dates) return Number(left.text) - Number(right.text);
  if (left.text === right.text) return 0;
  return left.text < right.text ? -1 : 1;
}

const leadingZeros = /^(-?)0+(?=\d+(?:\.|$))/;
const trailingZeros = /(\.\d*[1-9])0*$|\.0*$/;

/**
 * A decimal number without needless zeros: `007.50` is `7.5`. Digits are never rounded; a date
 * stays as it is.
 */
export function shortest(text: string): string {
  // Most bounds have none, and finding that out costs less than two replacements.
  if (!/^-?0|0$/.test(text) || text.includes(':')) return text;
  return text.replace(leadingZeros, '$1').replace(trailingZeros, '$1');
}

/** A number as decimal text without an exponent: 1e21 is `1000000000000000000000`. */
export function decimalText(value: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([-+]\d+)$/.exec(String(value));
  if (match === null) return String(value);
  const [, sign = '', first = '', rest = '', exponent] = match;
  const shift = Number(exponent);
  const digits = first + rest;
  return shift < 0
    ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}`
    : sign + digits.padEnd(shift + 1, '0');
}

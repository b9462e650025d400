import { type DateParts, daysInMonth, endOf, formatDate, outOfRange, type Precision } from './calendar.ts';
import { FilterArgumentError } from './errors.ts';
import type { Bound, Field, FieldType } from './filter.ts';
import type { Fact } from './problem.ts';

// Bounds as filters write them.

const date = /\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d/y;

/** The most digits before the decimal point. With at most 99 of them, no number is too large for a double. */
export const mostDigits = 99;
const decimal = /-?\d{1,99}(?:\.\d+)?/y;

/** Where the bound that starts at an offset ends; undefined when there is none of this type. `*` is not one. */
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
export const isBound = (text: string, type: FieldType): boolean => endOfBound(text, 0, type) === text.length;

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

// Bounds as people write them: `2026-10-01`, `2026/10`, `2024-01-01T00:00:00`, `+5`, `1e3`, `1,5`, `5 minutes`.

/** What a written bound means. */
export interface Meant {
  /** The bound as a filter writes it; of a year, month, day or minute its first second. */
  readonly text: string;
  /** The first second after that year, month, day or minute; null after the year 9999. Missing for an exact bound. */
  readonly over?: string | null;
}

/** A date without a time zone: a pattern for a part of a larger one. */
export const datePattern = String.raw`\d{4}(?:[-/.]\d{1,2}[-/.]\d{1,2}(?:(?:\s{1,9}|\s?[T_,]\s?)\d{1,2}:\d{1,2}(?::\d{1,2}(?:[.,]\d{1,9})?)?)?(?!\.\d)|[-/.]\d{1,2}(?![-/.]\d)|(?![-/.]\d))(?![\w:]|[\s,]{0,9}\d+:)`;

const dateParts =
  /(?<year>\d{4})(?:(?<separator>[-/.])(?<month>\d{1,2})(?:\k<separator>(?<day>\d{1,2})(?:(?:\s{1,9}|\s?[T_,]\s?)(?<hour>\d{1,2}):(?<minute>\d{1,2})(?::(?<second>\d{1,2})(?<fraction>[.,]\d+)?)?\s?(?<zone>Z|UTC|GMT|[-+]\d\d(?::?\d\d)?)?)?)?)?(?![\w:]|\s{0,9}\d+:)/diy;

/** The date at an offset of a text, as it is written there, and what is wrong with it. Undefined when there is none. */
function dateAt(text: string, start: number) {
  dateParts.lastIndex = start;
  const match = dateParts.exec(text);
  if (match === null) return undefined;
  const part: Readonly<Record<string, string | undefined>> = match.groups ?? {};
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const date: DateParts = [+year, +month, +day, +hour, +minute, +second];
  const placeOf = (name: string) => {
    const [from, to] = match.indices?.groups?.[name] ?? [start, start];
    return { start: from, end: to };
  };
  return { written: match[0], part, date, placeOf };
}

/** What is wrong with the date at an offset. Undefined when there is none, or when it is right. */
export function factAboutDate(text: string, start: number): Fact | undefined {
  const found = dateAt(text, start);
  if (found === undefined) return undefined;
  const { written, part, date, placeOf } = found;
  if (part.zone !== undefined) return { reason: 'date_with_zone', ...placeOf('zone') };
  if (Number(part.fraction?.slice(1)) > 0) return { reason: 'date_with_fraction', ...placeOf('fraction') };
  const wrong = outOfRange(date);
  if (wrong !== undefined)
    return { reason: 'no_such_date', ...wrong, year: date[0], month: date[1], ...placeOf(wrong.part) };
  return written === formatDate(date)
    ? undefined
    : { reason: 'not_a_date', start, end: start + written.length };
}

/** What a date means. Midnight may be written as 24:00:00 of the day before. Undefined when it has no sure meaning. */
export function meantDate(written: string): Meant | undefined {
  const found = dateAt(written, 0);
  if (found === undefined || found.written !== written || found.part.zone !== undefined) return undefined;
  const { part, date } = found;
  if (Number(part.fraction?.slice(1)) > 0) return undefined;
  const [year, month, day, ...time] = date;
  const isMidnight = time.join() === '24,0,0' && outOfRange([year, month, day, 0, 0, 0]) === undefined;
  const next = isMidnight ? endOf(date, 'day') : undefined;
  if (next !== undefined) return { text: formatDate(next) };
  if (outOfRange(date) !== undefined) return undefined;
  const precision = precisionOf(part);
  if (precision === 'second') return { text: formatDate(date) };
  const over = endOf(date, precision);
  return { text: formatDate(date), over: over === undefined ? null : formatDate(over) };
}

function precisionOf({ month, day, hour, second }: Readonly<Record<string, string | undefined>>): Precision {
  if (month === undefined) return 'year';
  if (day === undefined) return 'month';
  if (hour === undefined) return 'day';
  return second === undefined ? 'minute' : 'second';
}

const unit = String.raw`\s{0,9}(?:minutes?|mins?|m)\b\.?`;
const endOfNumber = String.raw`(?=$|[\s,;:|\]})"'\u0060\u2018\u2019\u201c\u201d<\u2026\u2012-\u2015&/~-]|\.\.|to)`;

/** A number: a pattern for a part of a larger one. `1,5` is one only where no other bound can follow. */
export const numberPattern = String.raw`[-+]?(?:0x[\da-f]{1,99}|\d{1,99},\d\d?(?=\s{0,9}(?:to\b|[\]})]))|(?:\d{1,999}(?:\.(?!\.)\d{0,999})?|\.\d{1,999})(?:e[-+]?\d{1,9})?)(?:${unit})?${endOfNumber}`;

const unitAtEnd = new RegExp(`${unit}$`, 'i');

/** What a number means: `+5` is 5, `.5` is 0.5, `1,5` is 1.5, `1e3` is 1000, and `5 minutes` is 5 for a field in minutes. */
export function meantNumber(written: string, { name }: Field): Meant | undefined {
  const number = name.includes('minutes') ? written.replace(unitAtEnd, '') : written;
  // Digits are kept as they are, however many there are.
  const [, sign = '', whole, fraction = ''] = /^\+?(-?)(\d*)[.,]?(\d*)$/.exec(number) ?? [];
  if (whole === undefined) return { text: decimalText(Number(number)) };
  return { text: shortest(`${sign}${whole || '0'}${fraction && '.'}${fraction}`) };
}

const leadingZeros = /^(-?)0+(?=\d+(?:\.|$))/;
const trailingZeros = /(\.\d*[1-9])0*$|\.0*$/;

/** A decimal number without needless zeros: `007.50` is `7.5`. Digits are never rounded; a date stays as it is. */
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
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}` : sign + digits.padEnd(shift + 1, '0');
}

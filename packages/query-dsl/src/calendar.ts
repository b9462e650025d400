// Dates as filters write them, `YYYY-MM-DD HH:MM:SS`: which of them exist, and what follows a day, a month or a year.
// They are wall-clock times without a zone, on the Gregorian calendar.

const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

// Whether the year has a 29 February.
const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** The number of days in a month of the Gregorian calendar. January is month 1. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** A month as people say it: `February 2023`. */
export const monthName = (year: number, month: number): string => `${monthNames[month - 1]} ${year}`;

/** Year, month, day, hour, minute and second. */
export type DateParts = readonly [number, number, number, number, number, number];

/** The part of a date that is out of range: its index in `DateParts`, and what it may be. */
export interface OutOfRange {
  readonly part: 'month' | 'day' | 'hour' | 'minute' | 'second';
  readonly index: number;
  readonly value: number;
  readonly least: number;
  readonly most: number;
}

/** The first part of a date that does not exist, or undefined when the date exists. */
export function outOfRange([year, month, day, hour, minute, second]: DateParts): OutOfRange | undefined {
  const parts = [
    { part: 'month', index: 1, value: month, least: 1, most: 12 },
    { part: 'day', index: 2, value: day, least: 1, most: daysInMonth(year, month) },
    { part: 'hour', index: 3, value: hour, least: 0, most: 23 },
    { part: 'minute', index: 4, value: minute, least: 0, most: 59 },
    { part: 'second', index: 5, value: second, least: 0, most: 59 },
  ] as const;
  return parts.find(({ value, least, most }) => value < least || value > most);
}

const pad = (value: number, length: number): string => String(value).padStart(length, '0');

/** Writes a date as `YYYY-MM-DD HH:MM:SS`. */
export const formatDate = ([year, month, day, hour, minute, second]: DateParts): string =>
  `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)} ${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}`;

/** How exact a typed date is: `2024` is a year, `2024-01-31 10:30` a minute. */
export type Precision = 'year' | 'month' | 'day' | 'minute' | 'second';

/**
 * The moment at which the year, month, day or minute that starts at a date is over. Undefined after the year 9999, which
 * filters cannot write.
 */
export function endOf(
  [year, month, day, hour, minute]: DateParts,
  precision: Precision,
): DateParts | undefined {
  let next: DateParts;
  if (precision === 'year') next = [year + 1, 1, 1, 0, 0, 0];
  else if (precision === 'month') next = [year, month + 1, 1, 0, 0, 0];
  else if (precision === 'day') next = [year, month, day + 1, 0, 0, 0];
  else next = [year, month, day, hour, minute + 1, 0];
  const carried = carry(next);
  return carried[0] > 9999 ? undefined : carried;
}

// Turns minute 60 into the next hour, hour 24 into the next day, and so on up to the year.
function carry([year, month, day, hour, minute, second]: DateParts): DateParts {
  if (minute > 59) return carry([year, month, day, hour + 1, 0, second]);
  if (hour > 23) return carry([year, month, day + 1, 0, minute, second]);
  if (month <= 12 && day > daysInMonth(year, month)) return carry([year, month + 1, 1, hour, minute, second]);
  return month > 12 ? [year + 1, 1, day, hour, minute, second] : [year, month, day, hour, minute, second];
}

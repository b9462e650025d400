// Naive times: a date and a time of day without a time zone, as the API writes them. They are counted in milliseconds
// from 1970-01-01 00:00:00 on the same clock: right for differences, order and calendar steps, never an instant.

/** Milliseconds in a second, a minute, an hour and a day. */
export const second = 1000;
/** See `second`. */
export const minute = 60_000;
/** See `second`. */
export const hour = 3_600_000;
/** See `second`. */
export const day = 86_400_000;

const typedForm = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?)?$/;

/**
 * Reads `YYYY-MM-DD HH:MM:SS`, with or without a fraction of a second. NaN for any other form and for a time that the
 * calendar does not have.
 *
 * @example
 * parseNaive('2024-03-01 00:00:00') - parseNaive('2024-02-28 00:00:00') === 2 * day; // 2024 is a leap year
 * parseNaive('2023-02-29 00:00:00'); // NaN
 */
export function parseNaive(text: unknown): number {
  if (typeof text !== 'string' || !hasMarks(text)) return Number.NaN;
  const century = twoDigits(text, 0);
  const year = century * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const date = twoDigits(text, 8);
  const hours = twoDigits(text, 11);
  const minutes = twoDigits(text, 14);
  const seconds = twoDigits(text, 17);
  if (century > 99 || year > century * 100 + 99) return Number.NaN;
  if (month < 1 || month > 12 || date < 1 || date > daysIn(year, month)) return Number.NaN;
  if (hours > 23 || minutes > 59 || seconds > 59) return Number.NaN;
  const whole = hours * 3600 + minutes * 60 + seconds;
  const time = daysUntil(year, month, date) * day + whole * second;
  return text.length === 19 ? time : time + fractionOf(text);
}

// Date.parse and regular expressions take several times as long, and this runs some times for each record.

/** Whether a text has the length of a time, and its marks in their places. */
function hasMarks(text: string): boolean {
  const { length } = text;
  return (
    (length === 19 || (length >= 21 && length <= 23 && text.charCodeAt(19) === 0x2e)) &&
    text.charCodeAt(4) === 0x2d &&
    text.charCodeAt(7) === 0x2d &&
    text.charCodeAt(10) === 0x20 &&
    text.charCodeAt(13) === 0x3a &&
    text.charCodeAt(16) === 0x3a
  );
}

/** Two digits as a number; more than any two digits when one of them is none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : 100;
}

/** The milliseconds behind the point; NaN when one of their digits is none. */
function fractionOf(text: string): number {
  let sum = 0;
  for (let at = 20; at < 23; at += 1) {
    const digit = at < text.length ? text.charCodeAt(at) - 48 : 0;
    if (digit < 0 || digit > 9) return Number.NaN;
    sum = sum * 10 + digit;
  }
  return sum;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from 1970-01-01. Years are counted from March, so that the day that only some of them have is their last. */
function daysUntil(year: number, month: number, date: number): number {
  const years = month > 2 ? year : year - 1;
  const months = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  // 719,469 days from the 1st of March of the year 0, counted from 1.
  return years * 365 + leapDays + Math.floor((153 * months + 2) / 5) + date - 719_469;
}

/** A time as people type it; see `parseTime`. */
export interface TypedTime {
  /** The naive time; the start of the day when no time of day was given. */
  readonly millis: number;
  /** Only a date was given. */
  readonly isWholeDay: boolean;
}

/**
 * Reads a time as people type it: `2026-11-20`, `2026-11-20 14:30`, `2026-11-20T14:30:05`, with or without a fraction.
 * Null for any other form, a time that does not exist, and anything with a time zone.
 */
export function parseTime(text: string): TypedTime | null {
  const parts = typedForm.exec(text.trim());
  if (!parts) return null;
  const [, date, time, seconds = '00', fraction = '0'] = parts;
  const millis = parseNaive(`${date} ${time ?? '00:00'}:${seconds}.${fraction}`);
  return Number.isNaN(millis) ? null : { millis, isWholeDay: time === undefined };
}

/** Where a period ends that is typed to end at this time: after the day, if only a date was given; just before a time of day. */
const endOfPeriod = ({ millis, isWholeDay }: TypedTime): number => (isWholeDay ? millis + day : millis);

/** Where a period begins that is typed to begin at this time, in the form of the API. Null for what is no time of whole seconds. */
export function periodStart(text: string): string | null {
  const time = parseTime(text);
  return time !== null && time.millis % second === 0 ? formatNaive(time.millis) : null;
}

/** Where it ends, in the same form: a date includes its day, and a time of day is not included. */
export function periodEnd(text: string): string | null {
  const time = parseTime(text);
  return time !== null && time.millis % second === 0 ? formatNaive(endOfPeriod(time)) : null;
}

const two = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'));

// The days of a few years, each written once: calls next to each other name a handful of days over and over.
const dates = new Map<number, string>();
const mostDates = 5000;

/** Writes a naive time as `YYYY-MM-DD HH:MM:SS`, the form of the API. A fraction of a second is left out. */
export function formatNaive(millis: number): string {
  const days = Math.floor(millis / day);
  const seconds = Math.floor((millis - days * day) / second);
  return `${dateOf(days)} ${two[Math.floor(seconds / 3600)]}:${two[Math.floor(seconds / 60) % 60]}:${two[seconds % 60]}`;
}

/** Writes a naive time as `YYYY-MM-DD HH:MM:SS.S`, the form of `talk_start` and `talk_end`. */
export function formatNaiveTenths(millis: number): string {
  return `${formatNaive(millis)}.${Math.floor((millis - Math.floor(millis / second) * second) / 100)}`;
}

function dateOf(days: number): string {
  let text = dates.get(days);
  if (text === undefined) {
    text = new Date(days * day).toISOString().slice(0, 10);
    if (dates.size >= mostDates) dates.clear();
    dates.set(days, text);
  }
  return text;
}

/** A date, `YYYY-MM-DD`, this many days later; earlier with a negative count. */
export function addDays(date: string, count: number): string {
  return formatNaive(parseNaive(`${date} 00:00:00`) + count * day).slice(0, 10);
}

const monday = Date.UTC(1970, 0, 5);
const week = 7 * day;

/** The Monday on which the week of a naive time begins. */
export function startOfWeek(millis: number): number {
  return monday + Math.floor((millis - monday) / week) * week;
}

/** A naive time this many months later, at most on the last day of that month: a month after 31 January is 28 February. */
export function addMonths(millis: number, count: number): number {
  const date = new Date(millis);
  const target = new Date(millis);
  target.setUTCDate(1);
  target.setUTCMonth(date.getUTCMonth() + count + 1, 0);
  if (date.getUTCDate() < target.getUTCDate()) target.setUTCDate(date.getUTCDate());
  return target.getTime();
}

/**
 * The period of the same length before `[from, to)`. Before whole months lie as many months, whatever their lengths; before days and a
 * part of one, such as the last 7 days up to now, the same hours of earlier days.
 */
export function periodBefore(from: number, to: number): { from: number; to: number } {
  const isMonthStart = (millis: number) => millis % day === 0 && new Date(millis).getUTCDate() === 1;
  if (isMonthStart(from) && isMonthStart(to)) {
    const index = (millis: number) => new Date(millis).getUTCFullYear() * 12 + new Date(millis).getUTCMonth();
    return { from: addMonths(from, index(from) - index(to)), to: from };
  }
  const length = from % day === 0 && to - from > day ? Math.ceil((to - from) / day) * day : to - from;
  return { from: from - length, to: to - length };
}

// Naive times: a date and a time of day without a time zone, as the API writes them. They are
// counted in milliseconds from 1970-01-01 00:00:00 on the same clock: right for differences, order
// and calendar steps, never an instant.

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
 * Reads `YYYY-MM-DD HH:MM:SS`, with or without a fraction of a second. NaN for any other form and
 * for a time that the calendar does not have.
 *
 * @example
 * parseNaive('2024-03-01 00:00:00') - parseNaive('2024-02-28 00:00:00') === 2 * day; // 2024 is a
 * leap year parseNaive('2023-02-29 00:00:00'); // NaN
 */
export function parseNaive(text: unknown): number {
  if (typeof text !== 'string' || !sentForm.test(text)) return Number.NaN;

  // Date.parse takes several times as long, and this runs some times for each record.
  const two = (at: number) => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
  const year = two(0) * 100 + two(2);
  const month = two(5);
  const date = two(8);
  const days = daysUntil(year, month, date);
  if (date > 28 && days >= daysUntil(year, month + 1, 1)) return Number.NaN;
  const time = days * day + two(11) * hour + two(14) * minute + two(17) * second;
  return text.length === 19 ? time : time + Math.round(Number(text.slice(19)) * 1000);
}

const sentForm =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?$/;

/**
 * Days from 1970-01-01. Years are counted from March, so that the day that only some of them have
 * is their last.
 */
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
 * Reads a time as people type it: `2026-11-20`, `2026-11-20 14:30`, `2026-11-20T14:30:05`, with or
 * without a fraction. Null for any other form, a time that does not exist, and anything with a time
 * zone.
 */
export function parseTime(text: string): TypedTime | null {
  const parts = typedForm.exec(text.trim());
  if (!parts) return null;
  const [, date, time, seconds = '00', fraction = '0'] = parts;
  const millis = parseNaive(`${date} ${time ?? '00:00'}:${seconds}.${fraction}`);
  return Number.isNaN(millis) ? null : { millis, isWholeDay: time === undefined };
}

/**
 * Where a period ends that is typed to end at this time: after the day, if only a date was given;
 * just before a time of day.
 */
const endOfPeriod = ({ millis, isWholeDay }: TypedTime): number =>
  isWholeDay ? millis + day : millis;

/**
 * Where a period begins that is typed to begin at this time, in the form of the API. Null for what
 * is no time of whole seconds.
 */
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

// The days of a few years, each written once: calls next to each other name a handful of days over
// and over.
const dates = new Map<number, string>();
const mostDates = 5000;

/**
 * Writes a naive time as `YYYY-MM-DD HH:MM:SS`, the form of the API. A fraction of a second is left
 * out.
 */
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

/**
 * A naive time this many months later, at most on the last day of that month: a month after 31
 * January is 28 February.
 */
export function addMonths(millis: number, count: number): number {
  const date = new Date(millis);
  const target = new Date(millis);
  target.setUTCDate(1);
  target.setUTCMonth(date.getUTCMonth() + count + 1, 0);
  if (date.getUTCDate() < target.getUTCDate()) target.setUTCDate(date.getUTCDate());
  return target.getTime();
}

import { day } from '@call-attribution/core/time';
import { isBucket, weekdays } from '../fields/calendar.ts';

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** A stretch of naive time, half-open, as an answer has it. An open end is null. */
export interface Stretch {
  /** First moment. */
  readonly from: string | null;
  /** First moment after it. */
  readonly to: string | null;
}

const millisOf = (time: string): number =>
  Date.parse(`${time.replace(' ', 'T')}${time.length > 10 ? 'Z' : ''}`);
const dateOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

/** `3 Sep` or `3 Sep 2026`. */
export function formatDate(date: string, withYear = false): string {
  const text = `${Number(date.slice(8, 10))} ${months[Number(date.slice(5, 7)) - 1] ?? ''}`;
  return withYear ? `${text} ${date.slice(0, 4)}` : text;
}

/** Some days, the last one included: `4 Oct to 31 Oct 2026`, `4 Oct 2026`. */
export function formatDays(first: string, last: string): string {
  if (first === last) return formatDate(first, true);
  const sameYear = first.slice(0, 4) === last.slice(0, 4);
  return `${formatDate(first, !sameYear)} to ${formatDate(last, true)}`;
}

/** A period in words: whole days as days, other times to the minute. */
export function formatPeriod({ from, to }: Stretch): string {
  const moment = (time: string): string => {
    const clock = time.slice(11, 16);
    return clock === '' || clock === '00:00'
      ? formatDate(time, true)
      : `${formatDate(time, true)} ${clock}`;
  };

  const isDays = [from, to].every((time) => time === null || !/[1-9]/.test(time.slice(11)));
  if (isDays && to !== null) {
    const last = dateOf(millisOf(to) - day);
    return from === null ? `up to ${formatDate(last, true)}` : formatDays(from.slice(0, 10), last);
  }

  if (from === null) return to === null ? 'all time' : `up to ${moment(to)}`;
  return to === null ? `since ${moment(from)}` : `${moment(from)} to ${moment(to)}`;
}

/** The first moment of a bucket, and the first after it. Null for a key that is no bucket. */
function boundsOf(
  name: string,
  key: string,
): { readonly start: number; readonly end: number } | null {
  if (!isBucket(name)) return null;
  const start = millisOf(name === 'month' ? `${key.slice(0, 7)}-01` : key);
  if (Number.isNaN(start)) return null;
  if (name !== 'month') return { start, end: start + (name === 'day' ? day : 7 * day) };
  const date = new Date(start);
  return { start, end: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) };
}

/** The first and the last day of a day, week or month, as an answer names it. */
export function daysOfBucket(name: string, key: string): { first: string; last: string } | null {
  const bounds = boundsOf(name, key);
  return bounds && { first: dateOf(bounds.start), last: dateOf(bounds.end - day) };
}

/** A value of a group of time under an axis: `4 Oct`, `Oct 2026`, `Mon`. Others are as they are. */
export function shortTime(name: string, key: string): string {
  const days = daysOfBucket(name, key);
  if (days === null) return key;
  return name === 'month'
    ? formatDate(days.first, true).replace(/^\d+ /, '')
    : formatDate(days.first);
}

/** The same where there is space: `Sun 4 Oct 2026`, `28 Sep to 4 Oct 2026`. */
export function longTime(name: string, key: string): string {
  const days = daysOfBucket(name, key);
  if (days === null) return name === 'hour' ? `${key}:00` : key;
  if (name === 'week') return formatDays(days.first, days.last);
  if (name === 'month') return shortTime(name, key);
  return `${weekdays[(new Date(millisOf(days.first)).getUTCDay() + 6) % 7] ?? ''} ${formatDate(days.first, true)}`;
}

/**
 * How much of a day, week or month lies in a period: `5 of 7 days`, `9 of 24 hours`, `part of the
 * day`. Null when it lies there whole, or not at all.
 */
export function partOfBucket(name: string, key: string, { from, to }: Stretch): string | null {
  const bounds = boundsOf(name, key);
  if (bounds === null) return null;
  const { start, end } = bounds;
  const first = Math.max(start, from === null ? start : millisOf(from));
  const last = Math.min(end, to === null ? end : millisOf(to));
  if (last <= first || (first === start && last === end)) return null;
  const unit = name === 'day' ? day / 24 : day;
  const part = (last - first) / unit;
  const whole = (end - start) / unit;
  if (!Number.isInteger(part)) return `part of the ${name}`;
  return `${part} of ${whole} ${name === 'day' ? 'hours' : 'days'}`;
}

/** The part that a bucket is, behind its name. */
export const withPart = (name: string, part: string | null): string =>
  part === null ? name : `${name} (${part})`;

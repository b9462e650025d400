import { addMonths, day, formatNaive, parseNaive } from '@call-attribution/core/time';
import { weekdays } from '../tables/derived.ts';
import type { AnswerValue } from './question.ts';
import type { QuestionField } from './vocabulary.ts';

// A group by time is a whole number in SQL: how many buckets after the one in which the period begins, the day of the week
// from 1 to 7, or the hour. So two periods can be laid side by side, and empty buckets filled in.

// Buckets are numbered from a Monday before all times, so that no division has to round a negative number.
const zeroDay = '0001-01-01';
const zero = parseNaive(`${zeroDay} 00:00:00`);

/** Is a group one of stretches of time that follow each other? */
export const isBucket = (name: string): boolean => name === 'day' || name === 'week' || name === 'month';

/** The number of the day, week or month that holds a naive time. */
function bucketOf(name: string, millis: number): number {
  const days = Math.floor((millis - zero) / day);
  if (name === 'day') return days;
  const date = new Date(millis);
  return name === 'week' ? Math.floor(days / 7) : date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** A group as SQL. Buckets are counted from the one that holds `start`. */
export function groupSql({ name, sql }: QuestionField, time: string, start: number): string {
  const days = `(CAST(${time} AS DATE) - DATE '${zeroDay}')`;
  switch (name) {
    case 'day':
      return `${days} - ${bucketOf(name, start)}`;
    case 'week':
      return `${days} // 7 - ${bucketOf(name, start)}`;
    case 'month':
      return `year(${time}) * 12 + month(${time}) - 1 - ${bucketOf(name, start)}`;
    case 'weekday':
      return `isodow(${time})`;
    default:
      return sql;
  }
}

/** A group as an answer shows it. */
export function groupValue({ name, type }: QuestionField, key: unknown, start: number): AnswerValue {
  if (key === null || key === undefined) return null;
  const count = Number(key);
  switch (name) {
    case 'day':
      return dateText((bucketOf(name, start) + count) * day);
    case 'week':
      return dateText((bucketOf(name, start) + count) * 7 * day);
    case 'month':
      return formatNaive(addMonths(zero, bucketOf(name, start) + count - bucketOf(name, zero))).slice(0, 7);
    case 'weekday':
      return weekdays[count - 1] ?? null;
    default:
      return type === 'boolean' ? Boolean(key) : type === 'number' ? count : String(key);
  }
}

const dateText = (sinceZero: number): string => formatNaive(zero + sinceZero).slice(0, 10);

/** First and last bucket to show, when they follow from the group itself or from the period. */
export function bucketRange(
  name: string,
  start: number | null,
  end: number | null,
): { readonly first: number | null; readonly last: number | null } {
  if (name === 'weekday') return { first: 1, last: 7 };
  if (name === 'hour') return { first: 0, last: 23 };
  return {
    first: start === null ? null : 0,
    last: start === null || end === null ? null : bucketOf(name, end - 1) - bucketOf(name, start),
  };
}

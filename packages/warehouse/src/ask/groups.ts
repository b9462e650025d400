import { formatNaive } from '@call-attribution/core/time';
import { weekdays } from '../tables/derived.ts';
import type { AnswerValue } from './question.ts';
import type { QuestionField } from './vocabulary.ts';

// A group by time is a whole number in SQL: how many buckets after the one in which the period begins, the day of the week
// from 1 to 7, or the hour. So two periods can be laid side by side, and empty buckets filled in.

/** Is a group one of stretches of time that follow each other? */
export const isBucket = (name: string): boolean => name === 'day' || name === 'week' || name === 'month';

/** A group as SQL. `start` is the expression of the moment from which buckets are counted. */
export function groupSql({ name, sql }: QuestionField, time: string, start: string): string {
  if (isBucket(name)) return `date_diff('${name}', ${start}, ${time})`;
  return name === 'weekday' ? `isodow(${time})` : sql;
}

/** The number of the bucket that holds a moment, counted from the bucket of `start`. */
export function bucketOf(unit: string, start: number, moment: number): number {
  const day = 86_400_000;
  const days = (millis: number) => Math.floor(millis / day);
  // Day 0 of the count, 1 January 1970, was a Thursday.
  const weeks = (millis: number) => Math.floor((days(millis) + 3) / 7);
  const months = (millis: number) => new Date(millis).getUTCFullYear() * 12 + new Date(millis).getUTCMonth();
  const count = unit === 'day' ? days : unit === 'week' ? weeks : months;
  return count(moment) - count(start);
}

/** A group as an answer shows it. */
export function groupValue({ name, type }: QuestionField, key: unknown, start: number): AnswerValue {
  if (key === null || key === undefined) return null;
  const count = Number(key);
  switch (name) {
    case 'day':
      return formatNaive(start + count * 86_400_000).slice(0, 10);
    case 'week': {
      const monday = start - ((new Date(start).getUTCDay() + 6) % 7) * 86_400_000;
      return formatNaive(monday + count * 7 * 86_400_000).slice(0, 10);
    }
    case 'month': {
      const first = new Date(start);
      return formatNaive(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + count)).slice(0, 7);
    }
    case 'weekday':
      return weekdays[count - 1] ?? null;
    case 'hour':
      return count;
    default:
      return type === 'boolean' ? Boolean(key) : type === 'number' ? count : String(key);
  }
}

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
    last: start === null || end === null ? null : bucketOf(name, start, end - 1),
  };
}

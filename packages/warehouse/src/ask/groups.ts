import { addMonths, day, formatNaive, parseNaive, parseTime } from '@call-attribution/core/time';
import { weekdays } from '../tables/derived.ts';
import { isWellFormed } from '../tables/wire-values.ts';
import type { AnswerValue } from './answer.ts';
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

/** The type that the keys of a group are compared as when somebody names groups. */
export function keyType({ name, type }: QuestionField): 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'VARCHAR' {
  if (isBucket(name) || name === 'weekday') return 'BIGINT';
  // A number is shown as JavaScript has it: the nearest double.
  if (type === 'number') return 'DOUBLE';
  return type === 'boolean' ? 'BOOLEAN' : 'VARCHAR';
}

/** The key of the group that an answer shows as `text`; null when it shows no group so. The inverse of `groupValue`. */
export function groupKey(
  field: QuestionField,
  text: string,
  start: number,
): string | number | boolean | null {
  const key = nearestKey(field, text, start);
  return key !== null && String(groupValue(field, key, start)) === text ? key : null;
}

/** The key that a string means if it is written right. */
function nearestKey(field: QuestionField, text: string, start: number): string | number | boolean | null {
  const { name, type, values } = field;
  if (isBucket(name)) {
    const time = parseTime(name === 'month' ? `${text}-01` : text);
    return time && bucketOf(name, time.millis) - bucketOf(name, start);
  }
  if (name === 'weekday') return weekdays.indexOf(text) + 1 || null;
  if (type === 'boolean') return text === 'true';
  if (type === 'number') return numberOf(field, text);
  if (type === 'time') return isTime(text) ? text : null;
  return (values?.includes(text) ?? true) && isWellFormed(text) ? text : null;
}

function numberOf({ name, number }: QuestionField, text: string): number | null {
  const value = Number(text);
  const isWhole = Number.isInteger(value);
  if (name === 'hour') return isWhole && value >= 0 && value < 24 ? value : null;
  return isWhole || (number === 'tenths' && /^-?\d+\.\d$/.test(text)) ? value : null;
}

/** Is it a moment as DuckDB writes it? */
const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{0,5}[1-9])?$/.test(text) && parseTime(text.slice(0, 19)) !== null;

/** How answers show the groups of a field, with an example. */
export function shownAs({ name, type, values, number }: QuestionField): string {
  if (name === 'day') return '2026-05-01';
  if (name === 'week') return '2026-05-04, its Monday';
  if (name === 'month') return '2026-05';
  if (name === 'hour') return '0 to 23';
  if (values) return values.join(', ');
  if (type === 'boolean') return 'true, false';
  if (type === 'number') return number === 'tenths' ? '2.5 or 3' : '3';
  return type === 'time' ? '2026-05-01 08:30:00' : 'a string';
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
    last: start === null || end === null ? null : bucketOf(name, end - 1) - bucketOf(name, start),
  };
}

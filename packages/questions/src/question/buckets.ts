import {
  addMonths,
  type ClosedPeriod,
  day,
  formatNaive,
  type Period,
  periodOf,
} from '@call-attribution/core/time';
import type { Value } from '../conditions/condition.ts';
import type { Batch } from '../fields/batch.ts';
import {
  dayNumber,
  hourOf,
  isBucket,
  monthStartOf,
  startOfDay,
  weekdayOf,
  weekdays,
} from '../fields/calendar.ts';
import type { ReadField } from '../fields/derived.ts';
import type { AnswerValue } from './answer.ts';
import { shownMoment } from './measures.ts';

// The key of a group by time is a whole number: of the day, week or month, the day of the week from
// 1 to 7, or the hour. So two periods can be laid side by side, and empty buckets filled in.

type Bucket = 'day' | 'week' | 'month';

/** Is a group one of days, weeks or months, or of days of the week? */
export const isTimeSpan = (name: string): boolean => isBucket(name) || name === 'weekday';

/** The number of the day, week or month that holds a naive time. */
function bucketOf(name: Bucket, millis: number): number {
  if (name === 'day') return dayNumber(millis);
  if (name === 'week') return Math.floor(dayNumber(millis) / 7);
  const date = new Date(millis);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Where a bucket begins. */
export function bucketStart(name: Bucket, key: number): number {
  if (name === 'day') return startOfDay(key);
  if (name === 'week') return startOfDay(key * 7);
  return addMonths(monthStartOf(0), key - 1970 * 12);
}

/**
 * How the times of the compared period are moved onto those of the period: buckets that are laid
 * side by side have one key.
 */
export interface Alignment {
  /**
   * Days that each time is moved, where days are groups. All buckets are then those of the moved
   * time.
   */
  readonly day: number;
  /** What is added to the number of a week or month, where days are no groups. */
  readonly week: number;
  readonly month: number;
}

/** No times are moved. */
export const unmoved: Alignment = { day: 0, week: 0, month: 0 };

/** How a compared period lies on the period of the question. */
export function alignmentOf(
  groups: readonly ReadField[],
  { from }: Period,
  compared: ClosedPeriod | null,
): Alignment {
  if (from === null || compared === null) return unmoved;
  const apart = (name: Bucket) => bucketOf(name, from) - bucketOf(name, compared.from);
  return groups.some(({ name }) => name === 'day')
    ? { ...unmoved, day: apart('day') }
    : { day: 0, week: apart('week'), month: apart('month') };
}

/** Reads the key of a group from a call. */
export function keyReader(
  { name, read, isTime }: ReadField,
  moved: Alignment,
): (call: Batch) => Value {
  if (!isTime) return read;
  const keyAt = timeKey(name, moved);
  return ({ time }) => (time === null ? null : keyAt(time));
}

/** The key of a group by time. */
export function timeKey(name: string, moved: Alignment = unmoved): (time: number) => number {
  const shift = moved.day * day;
  if (name === 'hour') return (time) => hourOf(time + shift);
  if (name === 'weekday') return (time) => weekdayOf(time + shift) + 1;
  if (!isBucket(name) || name === 'day') return (time) => dayNumber(time + shift);

  // Most calls are of the same day as the one before.
  let known = Number.NaN;
  let key = 0;
  return (time) => {
    const number = dayNumber(time + shift);
    if (number !== known) {
      known = number;
      key = bucketOf(name, time + shift) + moved[name];
    }
    return key;
  };
}

/** A group as an answer shows it. */
export function groupValue({ name, type }: ReadField, key: Value): AnswerValue {
  if (typeof key !== 'number') return key;
  if (isBucket(name))
    return formatNaive(bucketStart(name, key)).slice(0, name === 'month' ? 7 : 10);
  if (name === 'weekday') return weekdays[key - 1] ?? null;
  return type === 'time' ? shownMoment(key) : key;
}

/**
 * The part of a period that a group has; null where it has none. Of two periods the longer one has
 * buckets of time that the other one lacks.
 */
export function partIn(
  groups: readonly ReadField[],
  key: readonly Value[],
  period: Period,
  moved: Alignment,
): Period | null {
  const byDay = groups.some(({ name }) => name === 'day');
  let { from, to } = period;
  for (const [i, { name }] of groups.entries()) {
    const at = key[i];
    if (!isBucket(name) || typeof at !== 'number' || (byDay && name !== 'day')) continue;
    const own = at - moved[name];
    const start = bucketStart(name, own);
    const end = bucketStart(name, own + 1);
    from = from === null ? start : Math.max(from, start);
    to = to === null ? end : Math.min(to, end);
  }

  return from !== null && to !== null && from >= to ? null : periodOf(from, to);
}

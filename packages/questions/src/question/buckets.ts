import { addMonths, day, formatNaive, startOfWeek } from '@call-attribution/core/time';
import type { Value } from '../conditions/condition.ts';
import type { Batch } from '../fields/batch.ts';
import {
  dayNumber,
  type FieldSettings,
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
import type { ClosedPeriod, Period } from './period.ts';

// The key of a group by time is a whole number: of the day, week or month, the day of the week from 1 to 7, or the hour. So two
// periods can be laid side by side, and empty buckets filled in.

/** The number of the day, week or month that holds a naive time. */
function bucketOf(name: 'day' | 'week' | 'month', millis: number, settings: FieldSettings): number {
  if (name === 'day') return dayNumber(millis);
  if (name === 'week') return weekStartNumber(dayNumber(startOfWeek(millis, settings.weekStart)), settings);
  const date = new Date(millis);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Days that a week begins earlier than on Monday. */
const weekShift = ({ weekStart }: FieldSettings): number => (weekStart === 'sunday' ? 1 : 0);

const weekStartNumber = (start: number, settings: FieldSettings): number => (start + weekShift(settings)) / 7;

/** Where a bucket begins. */
export function bucketStart(name: 'day' | 'week' | 'month', key: number, settings: FieldSettings): number {
  if (name === 'day') return startOfDay(key);
  if (name === 'week') return startOfDay(key * 7 - weekShift(settings));
  return addMonths(monthStartOf(0), key - 1970 * 12);
}

/** How the times of the compared period are moved onto those of the period: buckets that are laid side by side have one key. */
export interface Alignment {
  /** Days that each time is moved, where days are groups. All buckets are then those of the moved time. */
  readonly days: number;
  /** What is added to the number of a week or month, where days are no groups. */
  readonly week: number;
  /** Month that a quarter or year begins with, from 0. */
  readonly month: number;
}

/** No times are moved. */
export const unmoved: Alignment = { days: 0, week: 0, month: 0 };

/** How a compared period lies on the period of the question. */
export function alignmentOf(
  groups: readonly ReadField[],
  period: Period,
  compared: ClosedPeriod,
  settings: FieldSettings,
): Alignment {
  const { from } = period;
  if (from === null) return unmoved;
  const apart = (name: 'day' | 'week' | 'month') =>
    bucketOf(name, from, settings) - bucketOf(name, compared.from, settings);
  if (groups.some(({ name }) => name === 'day')) return { days: apart('day'), week: 0, month: 0 };
  return { days: 0, week: apart('week'), month: apart('month') };
}

/** Reads the key of a group from a call. */
export function keyReader(
  field: ReadField,
  { days, week, month }: Alignment,
  settings: FieldSettings,
): (call: Batch) => Value {
  const { name, read, isTime } = field;
  if (!isTime) return read;
  const move = days * day;
  const keyAt = timeKey(name, settings);
  const moves: Readonly<Record<string, number>> = { week, month };
  const add = moves[name] ?? 0;
  return ({ time }) => (time === null ? null : keyAt(time + move) + add);
}

/** The key of a group by time. */
export function timeKey(name: string, settings: FieldSettings): (time: number) => number {
  if (isBucket(name)) {
    if (name !== 'month') return (time) => bucketOf(name, time, settings);
    const months = new Map<number, number>();
    return (time) => {
      const number = dayNumber(time);
      let key = months.get(number);
      if (key === undefined) {
        key = bucketOf(name, time, settings);
        months.set(number, key);
      }
      return key;
    };
  }
  return name === 'weekday' ? (time) => weekdayOf(time) + 1 : hourOf;
}

/** A group as an answer shows it. */
export function groupValue({ name, type }: ReadField, key: Value, settings: FieldSettings): AnswerValue {
  if (key === null || typeof key !== 'number') return key;
  if (isBucket(name)) {
    const text = formatNaive(bucketStart(name, key, settings));
    return text.slice(0, name === 'month' ? 7 : 10);
  }
  if (name === 'weekday') return weekdays[key - 1] ?? null;
  return type === 'time' ? shownMoment(key) : key;
}

/** First and last bucket of a period, as the keys of the period that it is compared with; null where the period is open. */
function bucketRange(
  name: 'day' | 'week' | 'month',
  { from, to }: Period,
  alignment: Alignment,
  settings: FieldSettings,
): { readonly first: number | null; readonly last: number | null } {
  const add = name === 'day' ? alignment.days : alignment[name];
  return {
    first: from === null ? null : bucketOf(name, from, settings) + add,
    last: to === null ? null : bucketOf(name, to - 1, settings) + add,
  };
}

/** Is a group within a period? Of two periods the longer one has buckets of time that the other one lacks. */
export function isInside(
  groups: readonly ReadField[],
  key: readonly Value[],
  period: Period,
  alignment: Alignment,
  settings: FieldSettings,
): boolean {
  const byDay = groups.some(({ name }) => name === 'day');
  return groups.every(({ name }, i) => {
    const at = key[i];
    if (!isBucket(name) || typeof at !== 'number' || (byDay && name !== 'day')) return true;
    const { first, last } = bucketRange(name, period, alignment, settings);
    return (first === null || at >= first) && (last === null || at <= last);
  });
}

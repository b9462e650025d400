import { day } from '@call-attribution/core/time';
import type { Value } from '../conditions/condition.ts';
import { dayNumber, isBucket, startOfDay, weekdayOf } from '../fields/calendar.ts';
import { type Alignment, bucketStart, unmoved } from '../question/buckets.ts';
import type { PartValue } from '../question/measures.ts';
import type { ClosedPeriod, Period } from '../question/period.ts';
import type { ReadQuestion } from '../question/plan.ts';

/** The stretch whose days count: a period up to its end or now. Of all time it is from the first call to the last. */
export function countedStretch(
  plan: ReadQuestion,
  { from, to }: Period,
  total: readonly PartValue[],
): Period {
  const ofPart = (wanted: 'first' | 'last') => total[plan.parts.findIndex(({ id }) => id === wanted)] ?? null;
  if (from === null && to === null) return { from: ofPart('first'), to: ofPart('last') };
  return { from: from ?? ofPart('first'), to: to === null ? plan.now : Math.min(to, plan.now) };
}

/** How many days of a stretch lie in a group, part days as parts. Null where that is not known. */
export function daysIn(
  { groups }: Pick<ReadQuestion, 'groups'>,
  { from, to }: Period,
  moved: Alignment = unmoved,
): (key: readonly Value[]) => number | null {
  const shift = moved.day * day;
  const weekday = groups.findIndex(({ name }) => name === 'weekday');
  return (key) => {
    if (from === null || to === null) return null;
    let [start, end] = [from + shift, to + shift];
    for (const [i, { name }] of groups.entries()) {
      if (!isBucket(name)) continue;
      const at = key[i];
      if (typeof at !== 'number') return null;
      const own = at - (name === 'day' ? 0 : moved[name]);
      start = Math.max(start, bucketStart(name, own));
      end = Math.min(end, bucketStart(name, own + 1));
    }
    if (end <= start) return 0;
    if (weekday < 0) return (end - start) / day;
    const at = key[weekday];
    // Calls without a time are of no day.
    return typeof at === 'number' ? weekdaysIn({ from: start, to: end }, at) : null;
  };
}

/** How many days of the week of that number, from 1 for Monday, lie in a stretch. */
function weekdaysIn({ from, to }: ClosedPeriod, at: number): number {
  const weeks = Math.floor((to - from) / (7 * day));
  let millis = 0;
  for (let start = from + weeks * 7 * day; start < to; ) {
    const end = Math.min(to, startOfDay(dayNumber(start) + 1));
    if (weekdayOf(start) + 1 === at) millis += end - start;
    start = end;
  }
  return weeks + millis / day;
}

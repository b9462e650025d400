import { day } from '@call-attribution/core/time';
import type { Value } from '../conditions/condition.ts';
import { dayNumber, isBucket, startOfDay } from '../fields/calendar.ts';
import { type Alignment, timeKey, unmoved } from '../question/buckets.ts';
import type { PartValue } from '../question/measures.ts';
import type { Period } from '../question/period.ts';
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
  const dated = groups.flatMap(({ name }, i) =>
    isBucket(name) || name === 'weekday' ? [{ i, keyAt: timeKey(name, moved) }] : [],
  );
  let found: Map<string, number> | null = null;
  const count = (start: number, end: number): Map<string, number> => {
    const millis = new Map<string, number>();
    for (let at = start; at < end; ) {
      const next = Math.min(end, startOfDay(dayNumber(at) + 1));
      const id = dated.map(({ keyAt }) => keyAt(at)).join(' ');
      millis.set(id, (millis.get(id) ?? 0) + next - at);
      at = next;
    }
    return millis;
  };
  return (key) => {
    if (from === null || to === null) return null;
    if (dated.length === 0) return Math.max(0, to - from) / day;
    // Calls without a time are of no day.
    const own = dated.map(({ i }) => key[i] ?? null);
    if (own.includes(null)) return null;
    found ??= count(from, to);
    return (found.get(own.join(' ')) ?? 0) / day;
  };
}

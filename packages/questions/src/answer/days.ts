import { day, hour, type Period, periodOf, second } from '@call-attribution/core/time';
import { fieldsOf, type Value } from '../conditions/condition.ts';
import { compileCondition } from '../conditions/holds.ts';
import { Batch, readLists } from '../fields/batch.ts';
import { dayNumber, isBucket, startOfDay } from '../fields/calendar.ts';
import { Numbering } from '../fields/numbering.ts';
import { allFields } from '../fields/vocabulary.ts';
import { type Alignment, bucketStart, isTimeSpan, timeKey, unmoved } from '../question/buckets.ts';
import type { PartValue } from '../question/measures.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { Counted } from './counted.ts';

/** The time of the first or the last call of the period, where the question counts it. */
const endOf = (
  wanted: 'first' | 'last',
  { parts }: ReadPlan,
  total: readonly PartValue[],
): PartValue => total[parts.findIndex(({ id }) => id === wanted)] ?? null;

/**
 * The stretch whose days count: a period up to its end or now. Of all time it is from the first
 * call to the last.
 */
export function countedStretch(
  plan: ReadPlan,
  { from, to }: Period,
  total: readonly PartValue[],
): Period {
  const first = from ?? endOf('first', plan, total);
  if (from === null && to === null) return periodOf(first, endOf('last', plan, total));
  return periodOf(first, to === null ? plan.now : Math.min(to, plan.now));
}

/**
 * How many days of a stretch lie in a group, part days as parts; those that the conditions leave
 * out, such as weekends, are none. Null where that is not known.
 */
export function daysIn(
  plan: Pick<ReadPlan, 'groups' | 'conditions'>,
  { from, to }: Period,
  moved: Alignment = unmoved,
): (key: readonly Value[]) => number | null {
  const { groups } = plan;
  const isPossible = possible(plan, true);
  const dated = groups
    .map(({ name }, i) => ({ i, name }))
    .filter(({ name }) => isTimeSpan(name))
    .map(({ i, name }) => ({ i, keyAt: timeKey(name, moved) }));
  let found: Map<string, number> | null = null;

  const count = (start: number, end: number): Map<string, number> => {
    const millis = new Map<string, number>();
    for (let at = start; at < end; ) {
      const next = Math.min(end, startOfDay(dayNumber(at) + 1));
      const id = dated.map(({ keyAt }) => keyAt(at)).join(' ');
      const own = isPossible === null || isOfHours(at, next, isPossible) ? next - at : 0;
      millis.set(id, (millis.get(id) ?? 0) + own);
      at = next;
    }

    return millis;
  };

  return (key) => {
    if (from === null || to === null) return null;
    if (dated.length === 0 && isPossible === null) return Math.max(0, to - from) / day;

    // Calls without a time are of no day.
    const own = dated.map(({ i }) => key[i] ?? null);
    if (own.includes(null)) return null;
    found ??= count(from, to);
    return (found.get(own.join(' ')) ?? 0) / day;
  };
}

/** Is there an hour between two times of which a condition can be true? */
function isOfHours(start: number, end: number, isPossible: (time: number) => boolean): boolean {
  for (let at = start; at < end; at += hour)
    if (isPossible(at) || isPossible(Math.min(end, at + hour) - second)) return true;
  return false;
}

/**
 * Most groups that an answer makes up for empty buckets of time, and most days that they are looked
 * for in.
 */
const mostFilled = 100_000;

/**
 * Each value of the other groups gets all buckets of time from the first to the last: of the period
 * where it is given, of the calls where it is open. Weekdays and hours are always all there. Only
 * buckets that exist together are made up (a day has one weekday), and none that the condition of
 * the question keeps empty.
 */
export function fillEmptyBuckets(plan: ReadPlan, counted: Counted) {
  const { groups } = counted;
  const places = plan.groups.map(({ isTime }, i) => ({ isTime, i }));
  const times = places.filter(({ isTime }) => isTime).map(({ i }) => i);
  if (times.length === 0) return { groups, isTooMany: false };
  const others = places.filter(({ isTime }) => !isTime).map(({ i }) => i);
  const bases = new Map<string, readonly Value[]>(others.length === 0 ? [['[]', []]] : []);
  for (const { key } of groups) bases.set(JSON.stringify(others.map((i) => key[i])), key);
  const names = times.map((i) => plan.groups[i]?.name ?? '');
  const points = pointsOf(plan, counted, names);
  if (points === null || points.length * bases.size > mostFilled)
    return { groups, isTooMany: true };
  const known = new Set(groups.map(({ key }) => JSON.stringify(key)));
  const filled = [...groups];
  for (const base of bases.values())
    for (const point of points) {
      const key = [...base];
      for (const [at, i] of times.entries()) key[i] = point[at] ?? null;
      if (!known.has(JSON.stringify(key))) filled.push({ key, now: null, past: null });
    }

  return { groups: filled, isTooMany: false };
}

/**
 * The keys of the groups by time that can occur together, one after the other. Null when there are
 * too many days.
 */
function pointsOf(plan: ReadPlan, counted: Counted, names: readonly string[]): number[][] | null {
  const hasDates = names.some(isBucket);
  const range = hasDates ? dayRange(plan, counted, names) : { first: 0, last: 6 };
  if (range === null) return [];
  if (range.last - range.first > mostFilled) return null;
  const keys = names.map((name) => timeKey(name));
  const isPossible = possible(plan, hasDates) ?? (() => true);
  const points = new Map<string, number[]>();
  const allowed = new Set<string>();
  const first = startOfDay(range.first);
  const end = startOfDay(range.last + 1);

  // What a condition says of times changes with an hour, or within one that stays possible. Of a
  // week or month all days count.
  const step = names.includes('hour') || plan.conditions.length > 0 ? hour : day;
  const around = hasDates ? 31 * day : 0;
  for (let at = first - around; at < end + around; at += step) {
    const point = keys.map((keyAt) => keyAt(at));
    const id = point.join(' ');
    if (at >= first && at < end) points.set(id, point);
    if (isPossible(at) || isPossible(at + step - 1000)) allowed.add(id);
  }

  return [...points].filter(([id]) => allowed.has(id)).map(([, point]) => point);
}

/**
 * The first and the last day that buckets are made up for: an open end is that of the calls, in the
 * finest groups.
 */
function dayRange(
  plan: ReadPlan,
  { total }: Counted,
  dates: readonly string[],
): { readonly first: number; readonly last: number } | null {
  const { period } = plan;
  const name = (['day', 'week', 'month'] as const).find((each) => dates.includes(each)) ?? 'day';
  const first = period.from ?? endOf('first', plan, total.now);
  const last = period.to ?? endOf('last', plan, total.now);
  if (first === null || last === null) return null;
  const keyAt = timeKey(name);
  const start = period.from ?? bucketStart(name, keyAt(first));
  const end = period.to ?? bucketStart(name, keyAt(last) + 1);
  return start < end ? { first: dayNumber(start), last: dayNumber(end - 1) } : null;
}

/**
 * Can a call at a time meet the conditions? Without dates among the groups only its weekday and its
 * hour are known. Null where they say nothing of the time.
 */
function possible(
  { conditions }: Pick<ReadPlan, 'conditions'>,
  hasDates: boolean,
): ((time: number) => boolean) | null {
  const lists = readLists({ length: 1, columns: {} }, '', new Numbering());
  const known = ['weekday', 'hour', ...(hasDates ? ['date_added', 'day', 'week', 'month'] : [])];
  const isOfTime = conditions.some((condition) =>
    [...fieldsOf(condition)].some((name) => known.includes(allFields.get(name)?.name ?? '')),
  );
  if (!isOfTime) return null;
  const judges = conditions.map((condition) =>
    compileCondition(condition, allFields, (name) => {
      const field = allFields.get(name);
      return field !== undefined && known.includes(field.name) ? field.read : () => undefined;
    }),
  );
  return (time) => {
    const call = new Batch({ ...lists, sentTimes: Float64Array.of(time) }, null);
    return judges.every((judge) => judge(call) !== false);
  };
}

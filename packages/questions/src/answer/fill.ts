import { day, hour } from '@call-attribution/core/time';
import type { Test, Value } from '../conditions/condition.ts';
import { compileCondition } from '../conditions/holds.ts';
import { Batch } from '../fields/batch.ts';
import { dayNumber, type FieldSettings, startOfDay, weekdayOf } from '../fields/calendar.ts';
import { weekdays } from '../fields/derived.ts';
import { bucketStart, isBucket, timeKey } from '../question/buckets.ts';
import type { ReadQuestion } from '../question/plan.ts';
import type { Counted, CountedGroup } from './counted.ts';

/** Most groups that an answer makes up for empty buckets of time. */
const mostFilled = 100_000;

/** Groups with the empty buckets of time among them. */
export interface Filled {
  readonly groups: readonly CountedGroup[];
  /** There would have been too many. */
  readonly isTooMany: boolean;
}

/**
 * Each value of the other groups gets all buckets of time from the first to the last: of the period where it is given, of
 * the calls where it is open. Weekdays and hours are always all there. Only buckets that exist together are made up (a day has one
 * weekday), and none that the condition of the question keeps empty.
 */
export function fillEmptyBuckets(plan: ReadQuestion, counted: Counted): Filled {
  const { groups } = counted;
  const times = plan.groups.flatMap((group, i) => (group.isTime ? [i] : []));
  if (times.length === 0) return { groups, isTooMany: false };
  const others = plan.groups.flatMap((group, i) => (group.isTime ? [] : [i]));
  const combinations = new Map<string, CountedGroup>();
  for (const group of groups) combinations.set(JSON.stringify(others.map((i) => group.key[i])), group);
  const most = others.length === 0 ? 1 : combinations.size;
  const axis = timeAxis(plan, counted, Math.floor(mostFilled / Math.max(1, most)));
  if (axis === null) return { groups, isTooMany: true };
  const allowed = axis.filter(possible(plan));
  const known = new Set(groups.map(({ key }) => JSON.stringify(key)));
  const filled = [...groups];
  const bases: readonly (readonly Value[])[] =
    others.length === 0 ? [plan.groups.map(() => null)] : [...combinations.values()].map(({ key }) => key);
  for (const base of bases) {
    for (const point of allowed) {
      const key = [...base];
      times.forEach((i, at) => {
        key[i] = point[at] ?? null;
      });
      if (!known.has(JSON.stringify(key))) filled.push({ key, now: null, past: null });
    }
  }
  return { groups: filled, isTooMany: false };
}

type Point = readonly (number | null)[];

/** The keys of the groups by time that can occur together, one after the other. Null when there are more than `most`. */
function timeAxis(plan: ReadQuestion, counted: Counted, most: number): Point[] | null {
  const names = plan.groups.filter(({ isTime }) => isTime).map(({ name }) => name);
  const hours = names.includes('hour') ? Array.from({ length: 24 }, (_, hour) => hour) : [null];
  const dates = names.filter((name) => name !== 'hour');
  const keyed = dates.map((name) => [name, timeKey(name, plan.settings)] as const);
  const days = new Map<string, ReadonlyMap<string, number>>();
  if (dates.some(isBucket)) {
    const range = dayRange(plan, counted, dates);
    if (range === null) return [];
    const step = stepOf(dates);
    if (((range.last - range.first) / step) * hours.length > most * 1.2 + 31) return null;
    for (let at = range.first; at <= range.last; at += 1) {
      const keys = new Map(keyed.map(([name, keyAt]) => [name, keyAt(startOfDay(at))]));
      days.set([...keys.values()].join(' '), keys);
    }
  } else if (dates.length > 0) for (let i = 1; i <= 7; i += 1) days.set(String(i), new Map([['weekday', i]]));
  else days.set('', new Map());
  if (days.size * hours.length > most) return null;
  return [...days.values()].flatMap((keys) =>
    hours.map((hour) => names.map((name) => (name === 'hour' ? hour : (keys.get(name) ?? null)))),
  );
}

/** About how many days share their keys. */
function stepOf(dates: readonly string[]): number {
  if (dates.includes('day') || dates.includes('weekday')) return 1;
  return dates.includes('week') ? 7 : 28;
}

/** The first and the last day that buckets are made up for. */
function dayRange(
  { period, groups, settings }: ReadQuestion,
  { total, groups: counted }: Counted,
  dates: readonly string[],
): { readonly first: number; readonly last: number } | null {
  // The keys of compared calls lie on those of the period, and an open end is that of the calls in the finest groups.
  const name = ['day', 'week', 'month'].find((each) => dates.includes(each));
  const at = groups.findIndex((group) => group.name === name);
  if (name === undefined || !isBucket(name)) return null;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  if (period.from === null || period.to === null) {
    for (const { key } of counted) {
      const own = key[at];
      if (typeof own !== 'number') continue;
      low = Math.min(low, own);
      high = Math.max(high, own);
    }
    if (low > high || total.now[0] === 0) return null;
  }
  const first = period.from === null ? dayNumber(bucketStart(name, low, settings)) : dayNumber(period.from);
  const last =
    period.to === null ? dayNumber(bucketStart(name, high + 1, settings)) - 1 : dayNumber(period.to - 1);
  return first <= last ? { first, last } : null;
}

/** A time of calls in some buckets, as far as the buckets say it: a day, or an hour of it. */
interface Span {
  readonly start: number | null;
  /** First moment after it. */
  readonly end: number | null;
  readonly weekday: number | null;
  readonly hour: number | null;
}

/** The days of some buckets. */
function spansOf(names: readonly string[], point: Point, settings: FieldSettings): Span[] {
  let [start, end] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const [i, name] of names.entries()) {
    const key = point[i];
    if (!isBucket(name) || key === null || key === undefined) continue;
    start = Math.max(start, bucketStart(name, key, settings));
    end = Math.min(end, bucketStart(name, key + 1, settings));
  }
  const hourAt = point[names.indexOf('hour')] ?? null;
  const weekday = point[names.indexOf('weekday')] ?? null;
  if (!Number.isFinite(start)) return [{ start: null, end: null, weekday, hour: hourAt }];
  const spans: Span[] = [];
  for (let at = start; at < end; at += day) {
    const own = weekdayOf(at) + 1;
    if (weekday !== null && own !== weekday) continue;
    const from = at + (hourAt ?? 0) * hour;
    spans.push({ start: from, end: hourAt === null ? at + day : from + hour, weekday: own, hour: hourAt });
  }
  return spans;
}

const timeFields = ['date_added', 'day', 'week', 'month'];

/** Can a call in these buckets meet the condition? */
function possible({ groups, conditions, fields, settings }: ReadQuestion): (point: Point) => boolean {
  const names = groups.filter(({ isTime }) => isTime).map(({ name }) => name);
  const call = new Batch();
  const readerOf = (field: string, test: Test) => {
    const term = fields.get(field);
    if (term?.name === 'weekday')
      return ({ weekday }: Span): Value | undefined => (weekday === null ? undefined : weekdays[weekday - 1]);
    if (term?.name === 'hour') return (span: Span): Value | undefined => span.hour ?? undefined;
    if (term === undefined || !timeFields.includes(term.name)) return () => undefined;
    const holds = compileCondition<Value>(test, fields, () => (value) => value);
    const valueAt = (time: number): Value => {
      call.times = Float64Array.of(time);
      return term.read(call);
    };
    // Times only grow within a span: a test that holds at both ends, or compares with what is before or after it, has one result.
    return ({ start, end }: Span): Value | undefined => {
      if (start === null || end === null || end <= start) return undefined;
      const [first, last] = [valueAt(start), valueAt(end - 1)];
      if (first === last || test.kind === 'null') return first;
      if (test.kind !== 'compare' || test.value.type !== 'time' || holds(first) !== holds(last))
        return undefined;
      const { millis } = test.value;
      const isOutside = millis + day <= start || millis >= end;
      return isOutside || !test.operator.includes('=') || /[<>]=/.test(test.operator) ? first : undefined;
    };
  };
  const judges = conditions
    .filter(({ asSent }) => !asSent)
    .map(({ condition }) => compileCondition(condition, fields, readerOf));
  return (point) =>
    spansOf(names, point, settings).some((span) => judges.every((judge) => judge(span) !== false));
}

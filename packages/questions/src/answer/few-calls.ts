import { day, formatNaive, hour, type Period } from '@call-attribution/core/time';
import { dayNumber, startOfDay, weekdayOf } from '../fields/calendar.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { Counted } from './counted.ts';
import { type DataEnds, knownDays } from './data-ends.ts';
import { daysIn } from './days.ts';

/** A day on which hardly anybody called: a line was down, or a page. */
export interface FewCalls {
  readonly date: string;
  readonly calls: number;
  /** How many calls this day of the week usually has. */
  readonly usual: number;
}

/** Weekdays that are compared: so many of one kind, with so many calls. */
const least = { days: 4, calls: 20, part: 0.1 };

/**
 * The whole days with less than a tenth of the calls that their day of the week usually has. It
 * takes all calls that were read of the periods, whatever the conditions leave of them; days that
 * these leave out are not named.
 */
export function daysOfFewCalls(plan: ReadPlan, counted: Counted, ends: DataEnds): FewCalls[] {
  const calls = new Map<number, number>();
  for (const [at, count] of counted.hours) {
    const number = dayNumber(at * hour);
    calls.set(number, (calls.get(number) ?? 0) + count);
  }

  const periods = plan.compared === null ? [plan.period] : [plan.period, plan.compared];
  const days = wholeDays(plan, counted, { periods, called: [...calls.keys()] }, ends);
  const known = new Set([...days, ...daysBeside(plan, [...calls.keys()])]);
  const usual = new Map<number, number>();
  for (let weekday = 0; weekday < 7; weekday += 1) {
    const own = [...known].filter((number) => weekdayOf(startOfDay(number)) === weekday);
    const sorted = own.map((number) => calls.get(number) ?? 0).sort((a, b) => a - b);
    if (own.length >= least.days) usual.set(weekday, sorted[Math.floor(own.length / 2)] ?? 0);
  }

  return days.flatMap((number) => {
    const start = startOfDay(number);
    const median = usual.get(weekdayOf(start)) ?? 0;
    const own = calls.get(number) ?? 0;
    if (median < least.calls || own >= median * least.part) return [];
    const isAllowed = daysIn(
      { ...plan, groups: [] },
      { from: start, to: start + day, undated: 'without' },
    );
    if (isAllowed([]) === 0) return [];
    return [{ date: formatNaive(start).slice(0, 10), calls: own, usual: median }];
  });
}

/** The days beside the periods, from the day after the first one that has a call. */
function daysBeside({ beside }: ReadPlan, called: readonly number[]): number[] {
  const first = called.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY);
  return beside.flatMap(({ from, to }) => {
    const days: number[] = [];
    if (from === null || to === null) return days;
    const start = Math.max(dayNumber(from), first + 1);
    for (let number = start; startOfDay(number + 1) <= to; number += 1) days.push(number);
    return days;
  });
}

/** The whole days of the periods of which calls are known, that are over. */
function wholeDays(
  { now }: ReadPlan,
  { until }: Counted,
  { periods, called }: { readonly periods: readonly Period[]; readonly called: readonly number[] },
  ends: DataEnds,
): number[] {
  const known = knownDays(ends);
  const end = Math.min(now, until ?? now, known.to ?? now);
  const dates = new Set<number>();
  const first = called.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY);
  const last = called.reduce((most, number) => Math.max(most, number), Number.NEGATIVE_INFINITY);
  for (const each of periods) {
    const from = Math.max(each.from ?? startOfDay(first), known.from ?? Number.NEGATIVE_INFINITY);
    const to = Math.min(each.to ?? startOfDay(last + 1), end);
    if (!Number.isFinite(from) || !Number.isFinite(to)) continue;
    for (let at = Math.ceil(from / day) * day; at + day <= to; at += day) dates.add(dayNumber(at));
  }

  return [...dates].sort((a, b) => a - b);
}

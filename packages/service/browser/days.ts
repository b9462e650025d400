import { addDays } from '@call-attribution/core/time';
import type { Bound, Filter } from '@call-attribution/query-dsl';

/** Most days the chart shows at once. */
export const mostDays = 60;

/** The days to show for a filter whose calls are between two days: the last ones, when there are too many. */
export function daysOf(filter: Filter, firstDay: string, lastDay: string): string[] {
  let from = firstDay;
  let to = lastDay;
  for (const clause of filter.clauses) {
    if (clause.kind !== 'range' || clause.field !== 'date_added') continue;
    const lower = clause.lower?.text.slice(0, 10);
    const upper = clause.upper && lastDayOf(clause.upper);
    if (lower && lower > from) from = lower;
    if (upper && upper < to) to = upper;
  }
  const days: string[] = [];
  for (let day = to; day >= from && days.length < mostDays; day = addDays(day, -1)) days.unshift(day);
  return days;
}

// A bound that excludes the first second of a day excludes the whole day.
function lastDayOf({ text, inclusive }: Bound): string {
  const day = text.slice(0, 10);
  return !inclusive && text.endsWith('00:00:00') ? addDays(day, -1) : day;
}

/** The filter for one day of another filter. */
export function withDay(q: string, day: string): string {
  const part = `date_added:[${day} 00:00:00 TO ${addDays(day, 1)} 00:00:00}`;
  return q.trim() === '' ? part : `${q.trim()},${part}`;
}

/** Whether a day is a Saturday or a Sunday. */
export function isWeekend(day: string): boolean {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return weekday === 0 || weekday === 6;
}

import { day, hour, type Period } from '@call-attribution/core/time';
import type { ReadPlan } from '../question/plan.ts';
import type { Counted } from './counted.ts';

/** Where the calls that are known begin and end, as far as that lies within what is asked. */
export interface DataEnds {
  /**
   * The first call, where a period begins well before it, or has no beginning. Of copies that were
   * filled from a time on, that time.
   */
  readonly first: number | null;
  /** The last call, where a period goes on well after it. */
  readonly last: number | null;
}

/** How far around the ends it is looked how long calls usually stay away. */
const looked = 8 * 7 * day;
/** Of a short period so much may not be missing, however long calls stay away at times. */
export const largePart = 0.1;
/** A business is closed for a long weekend: where less than two weeks are known, so much is usual. */
const usualRest = { known: 14 * day, rest: 4 * day };

/**
 * The ends of the data within the period, or the one that it is compared with. Calls are always
 * some time after the begin of a period, and before its end: an end is one when no call came for
 * longer than in the eight weeks beside it, and than a day. The begin is also one when more than a
 * day and a tenth of a period lie before it.
 */
export function dataEnds({ period, compared, now }: ReadPlan, counted: Counted): DataEnds {
  const hours = [...counted.hours.keys()].sort((a, b) => a - b);
  const called = counted.first ?? (period.from === null ? startOf(hours[0]) : null);

  // Where a copy begins long before the first call, the call is what says something.
  const { since } = counted;
  const isOfCopy = since !== null && called !== null && called - since <= restAfter(called, hours);
  const first = isOfCopy ? since : called;
  const last = counted.last;
  const end = Math.min(period.to ?? now, now);
  const isLate =
    first !== null &&
    [period, compared].some((each) => {
      const missing = each === null || each.from === null ? 0 : first - each.from;
      const length = (each?.to ?? now) - (each?.from ?? now);
      if (isOfCopy) return missing > 0;
      return missing > restAfter(first, hours) || (missing > day && missing > length * largePart);
    });
  const isOver = last !== null && end - last > restBefore(last, hours);
  return {
    first: period.from === null || isLate ? first : null,
    last: isOver ? last : null,
  };
}

const startOf = (at: number | undefined): number | null => (at === undefined ? null : at * hour);

/** How long calls stay away at most in the eight weeks after a time. */
const restAfter = (time: number, hours: readonly number[]): number =>
  longestRest(hours.filter((at) => at * hour >= time - hour && at * hour < time + looked));

const restBefore = (time: number, hours: readonly number[]): number =>
  longestRest(hours.filter((at) => at * hour <= time && at * hour > time - looked));

/** The longest time between hours with calls, at least a day. */
function longestRest(hours: readonly number[]): number {
  const span = ((hours.at(-1) ?? 0) - (hours[0] ?? 0)) * hour;
  let longest = span < usualRest.known ? usualRest.rest : day;
  for (const [i, at] of hours.entries())
    if (i > 0) longest = Math.max(longest, (at - (hours[i - 1] ?? at)) * hour);
  return longest;
}

/** The days in which calls are known, as a period; null where an end is that of the period. */
export const knownDays = ({ first, last }: DataEnds): Pick<Period, 'from' | 'to'> => ({
  from: first === null ? null : Math.floor(first / day) * day,
  to: last === null ? null : (Math.floor(last / day) + 1) * day,
});

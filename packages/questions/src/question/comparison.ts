import {
  addMonths,
  type ClosedPeriod,
  day,
  formatNaive,
  minute,
  naiveAt,
  type Period,
  periodBefore,
  periodOf,
  second,
  startOfWeek,
} from '@call-attribution/core/time';
import { option, refuse } from '../errors.ts';
import { monthStartOf } from '../fields/calendar.ts';
import type { Note } from './answer.ts';
import { machineZone, nowOf, type PeriodClock, type ReadPeriod, readWords } from './period.ts';
import type { Question } from './question.ts';

// Which two periods a question compares. Of one that is not over, or not known to its end, the same
// part of both is taken: a half of November is no fall after the whole of October.

/** Two periods that are compared. */
interface Sides {
  readonly period: ClosedPeriod;
  readonly compared: ClosedPeriod;
}

/**
 * The periods that a question compares, each up to the same part where calls of the first are only
 * known up to a time within it, and what is to be said of that. `asOf`: the instant up to which
 * calls are known. `byWeek`: weeks are groups. `byDay`: what was spent is known by day, so the part has
 * whole days.
 */
export function readComparison(
  compare: NonNullable<Question['compare']>,
  said: ReadPeriod,
  clock: PeriodClock,
  {
    asOf,
    byWeek,
    byDay,
  }: { readonly asOf: number; readonly byWeek: boolean; readonly byDay: boolean },
) {
  const sides = readSides(compare, said.comparable, clock, byWeek);
  const zone = clock.timeZone ?? machineZone();
  const nowHere = naiveAt(clock.now, zone);
  const end = Math.min(nowHere, naiveAt(Math.min(asOf, clock.now), zone));
  const known = Math.ceil(end / second) * second;
  const isCut = byDay && known > sides.period.from && known <= sides.period.to;
  const until = isCut ? Math.floor(known / day) * day : known;
  if (isCut && until <= sides.period.from)
    throw refuse`No day of the period is over, and what was spent is known by day: leave out ${option('compare')}, or ask for ${option('period')} "yesterday".`;
  const parts = sameParts(sides, until);
  const { period, compared } = parts ?? sides;
  let why: Reason | null = null;
  if (said.to !== null && sides.period.to < said.to) why = 'today';
  if (parts !== null && until < known) why = 'days';
  else if (parts !== null)
    why = Math.min(nowHere, sides.period.to) - end > usualDelay ? 'copy' : 'unfinished';
  return {
    period,
    compared,
    note: why && partNote(why, period, compared),
    areMonths: monthsIn(sides.period) !== null && monthsIn(sides.compared) !== null,
  };
}

/** A copy is brought up to date now and then: only one that is older is worth a word. */
const usualDelay = 60 * minute;

function readSides(
  compare: NonNullable<Question['compare']>,
  { from, to }: Period,
  at: PeriodClock,
  byWeek: boolean,
): Sides {
  if (from === null || to === null)
    throw refuse`To compare, a question needs a period with both ends: ${option('period')}, or both ${option('from')} and ${option('to')}.`;
  const period = periodOf(from, to);
  if (compare === 'previous') return { period, compared: periodBefore(from, to) };
  if (compare === 'year') return { period, compared: yearBefore(period, byWeek) };
  const given = readWords('compare', compare, nowOf(at));
  if (given.from === null || given.to === null)
    throw refuse`A period to compare with needs both ends.`;
  if (given.from === from && given.to === to)
    throw refuse`A period cannot be compared with itself: name another one.`;
  return { period, compared: periodOf(given.from, given.to) };
}

/**
 * The same dates a year earlier; of whole weeks those 52 weeks earlier, where a year would cut
 * them. Whole months stay months.
 */
function yearBefore({ from, to }: ClosedPeriod, byWeek: boolean): ClosedPeriod {
  const ends = [from, to];
  const isWeeks = byWeek && ends.every((end) => startOfWeek(end) === end);
  const isMonths = ends.every((end) => new Date(end).getUTCDate() === 1);
  const year = 52 * 7 * day;
  if (isWeeks && !isMonths) return periodOf(from - year, to - year);
  return periodOf(addMonths(from, -12), addMonths(to, -12));
}

/** How many whole months a period has; null for one that begins or ends within a month. */
function monthsIn({ from, to }: ClosedPeriod): number | null {
  if (monthStartOf(from) !== from || monthStartOf(to) !== to) return null;
  const index = (millis: number): number =>
    new Date(millis).getUTCFullYear() * 12 + new Date(millis).getUTCMonth();
  return index(to) - index(from);
}

/**
 * Two periods up to the same part of each: the same time of the same day by the clock, or the end
 * of a month that is shorter. Null where the time is not within the first one, and for periods of
 * different kinds, such as a week and a month.
 */
function sameParts({ period, compared }: Sides, end: number): Sides | null {
  if (end <= period.from || end >= period.to) return null;

  const until = (other: number): Sides => ({
    period: periodOf(period.from, end),
    compared: periodOf(compared.from, Math.min(compared.to, other)),
  });

  const months = monthsIn(period);
  if (months !== null && months === monthsIn(compared)) {
    const month = monthStartOf(end);
    const own = addMonths(compared.from, monthsIn(periodOf(period.from, month)) ?? 0);
    return until(Math.min(own + (end - month), addMonths(own, 1)));
  }

  const isAsLong = period.to - period.from === compared.to - compared.from;
  return isAsLong ? until(compared.from + (end - period.from)) : null;
}

/** Why parts of periods are compared, and not what was asked for. */
type Reason = 'unfinished' | 'copy' | 'today' | 'days';

/** Which parts of periods are compared. */
function partNote(why: Reason, period: ClosedPeriod, compared: ClosedPeriod): Note {
  const reasons: Readonly<Record<Reason, string>> = {
    unfinished: 'The period is not over',
    copy: `Calls are known up to ${shownMinute(period.to)}`,
    today: 'Today is left out, since it is not over',
    days: 'Only whole days are compared, since what was spent is known by day',
  };
  const message = `${reasons[why]}: ${shownPeriod(period)} is compared with ${shownPeriod(compared)}.`;
  return { code: 'part_compared', message };
}

const isMidnight = (millis: number): boolean => millis % day === 0;
const shownMinute = (millis: number): string => formatNaive(millis).replace(/:00$/, '');

/** A period in words: a bare date is a whole day. */
function shownPeriod({ from, to }: ClosedPeriod): string {
  const start = isMidnight(from) ? formatNaive(from).slice(0, 10) : shownMinute(from);
  const end = isMidnight(to) ? formatNaive(to - day).slice(0, 10) : shownMinute(to);
  return start === end ? `all of ${start}` : `${start} to ${end}`;
}

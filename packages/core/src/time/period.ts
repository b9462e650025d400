import { addMonths, day, formatNaive, parseNaive } from './naive.ts';

/**
 * A stretch of the account's clock, half-open, in naive milliseconds; and whether the calls without
 * a usable time belong to it.
 */
export interface Period {
  /** The first moment; null for no beginning. */
  readonly from: number | null;
  /** The first moment after it; null for no end. */
  readonly to: number | null;
  /** Calls without a time: they belong to it too, they do not, or they are all that does. */
  readonly undated: 'with' | 'without' | 'only';
}

/** Every call. */
export const everything: Period = { from: null, to: null, undated: 'with' };

/** Every call that has a time. */
export const dated: Period = { from: null, to: null, undated: 'without' };

/** The calls without a time. */
export const undated: Period = { from: null, to: null, undated: 'only' };

/** A period whose ends are both known. */
export interface ClosedPeriod extends Period {
  /** The first moment. */
  readonly from: number;
  /** The first moment after it. */
  readonly to: number;
}

/** The calls of a stretch of time; a call without a time lies in none. */
export function periodOf(from: number, to: number): ClosedPeriod;
export function periodOf(from: number | null, to: number | null): Period;
export function periodOf(from: number | null, to: number | null): Period {
  return { from, to, undated: 'without' };
}

// Inside, a period is a stretch of time, which may be empty, and a flag.

/** @returns the first moment, and the first one after it; equal or swapped where there is none */
function edgesOf({ from, to, undated }: Period): { first: number; end: number } {
  if (undated === 'only') return { first: 0, end: 0 };
  return { first: from ?? Number.NEGATIVE_INFINITY, end: to ?? Number.POSITIVE_INFINITY };
}

const hasUndated = ({ undated }: Period): boolean => undated !== 'without';

/** The period of these edges; null for no call at all. */
function made(first: number, end: number, withUndated: boolean): Period | null {
  if (first >= end) return withUndated ? undated : null;
  return {
    from: Number.isFinite(first) ? first : null,
    to: Number.isFinite(end) ? end : null,
    undated: withUndated ? 'with' : 'without',
  };
}

/** Does a call of this time belong to it? `time`: naive milliseconds, null for a call without one. */
export function isIn(period: Period, time: number | null): boolean {
  if (time === null) return hasUndated(period);
  const { first, end } = edgesOf(period);
  return time >= first && time < end;
}

/** What belongs to both; null when nothing can. */
export function intersect(one: Period, other: Period): Period | null {
  const a = edgesOf(one);
  const b = edgesOf(other);
  return made(
    Math.max(a.first, b.first),
    Math.min(a.end, b.end),
    hasUndated(one) && hasUndated(other),
  );
}

/** What belongs to the first and not to the second, in order: two parts at most. */
export function subtract(whole: Period, part: Period): Period[] {
  const a = edgesOf(whole);
  const b = edgesOf(part);
  const withUndated = hasUndated(whole) && !hasUndated(part);
  const before = b.first < b.end ? made(a.first, Math.min(a.end, b.first), false) : null;
  const after =
    b.first < b.end ? made(Math.max(a.first, b.end), a.end, false) : made(a.first, a.end, false);

  const parts = [before, after].filter((each) => each !== null);
  if (!withUndated) return parts;
  const [first, ...rest] = parts;
  return first === undefined ? [undated] : [{ ...first, undated: 'with' }, ...rest];
}

/** The same calls as fewest periods, in order: no two of them overlap or touch. */
export function merge(periods: readonly Period[]): Period[] {
  const sorted = periods
    .map(edgesOf)
    .filter(({ first, end }) => first < end)
    .sort((a, b) => (a.first < b.first ? -1 : 1));
  const joined: { first: number; end: number }[] = [];
  for (const next of sorted) {
    const last = joined.at(-1);
    if (last === undefined || next.first > last.end) joined.push({ ...next });
    else last.end = Math.max(last.end, next.end);
  }

  const merged = joined.map(({ first, end }) => made(first, end, false) as Period);
  if (!periods.some(hasUndated)) return merged;
  const [first, ...rest] = merged;
  return first === undefined ? [undated] : [{ ...first, undated: 'with' }, ...rest];
}

/** The time from the first moment of some periods to their last, without gaps. */
export function hull(periods: readonly Period[]): Period {
  const all = merge(periods.filter(({ undated }) => undated !== 'only'));
  return periodOf(all[0]?.from ?? null, all.at(-1)?.to ?? null);
}

/** Does everything of a period belong to one of these? */
export function covers(periods: readonly Period[], period: Period): boolean {
  let open = [period];
  for (const part of periods) open = open.flatMap((each) => subtract(each, part));
  return open.every(
    (each) => made(edgesOf(each).first, edgesOf(each).end, hasUndated(each)) === null,
  );
}

/** The period so much later, in milliseconds. */
export const shift = ({ from, to, undated }: Period, by: number): Period => ({
  from: from === null ? null : from + by,
  to: to === null ? null : to + by,
  undated,
});

/** The ends of a period as text: null where it is open. */
export interface PeriodText {
  /** Its first moment. */
  readonly from: string | null;
  /** The first moment after it. */
  readonly to: string | null;
}

/** The ends of a period as text, for what is saved or shown. */
export const textOf = ({ from, to }: Pick<Period, 'from' | 'to'>): PeriodText => ({
  from: from === null ? null : formatNaive(from),
  to: to === null ? null : formatNaive(to),
});

/** The period between two moments as text, each of them written `YYYY-MM-DD HH:MM:SS`. */
export const periodOfText = ({ from, to }: PeriodText): Period =>
  periodOf(from === null ? null : parseNaive(from), to === null ? null : parseNaive(to));

/**
 * The period with room on both sides for the clock of another zone: no two zones are further apart
 * than 27 hours.
 */
export const padded = ({ from, to, undated }: Period): Period => ({
  from: from === null ? null : from - furthestZones,
  to: to === null ? null : to + furthestZones,
  undated,
});
const furthestZones = 27 * 3_600_000;

/**
 * The period of the same length before `[from, to)`. Before whole months lie as many months,
 * whatever their lengths; before days and a part of one, such as the last 7 days up to now, the
 * same hours of earlier days.
 */
export function periodBefore(from: number, to: number): ClosedPeriod {
  const isMonthStart = (millis: number) =>
    millis % day === 0 && new Date(millis).getUTCDate() === 1;
  if (isMonthStart(from) && isMonthStart(to)) {
    const index = (millis: number) =>
      new Date(millis).getUTCFullYear() * 12 + new Date(millis).getUTCMonth();
    return periodOf(addMonths(from, index(from) - index(to)), from);
  }

  const length =
    from % day === 0 && to - from > day ? Math.ceil((to - from) / day) * day : to - from;
  return periodOf(from - length, to - length);
}

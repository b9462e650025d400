import {
  addMonths,
  day,
  hour,
  instantOf,
  naiveAt,
  parseTime,
  second,
  startOfWeek,
} from '@call-attribution/core/time';
import { dayNumber, type FieldSettings, monthStartOf, startOfDay } from '../fields/calendar.ts';

/** A stretch of naive time, half-open. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** How words are read: the day that weeks begin with, and the zone whose clock `now` is of, if that is known. */
export interface PeriodSettings extends FieldSettings {
  /** An IANA name. Some zones have left out whole days. */
  readonly timeZone?: string | undefined;
}

/** Forms of a period, for messages. */
export const periodForms =
  "'yesterday', 'last month', 'this week', 'last 30 days', '2026-Q3', '2026-10', '2026-10-01 to 2026-10-15', 'since 2026-10-01'";

const units = ['day', 'week', 'month', 'quarter', 'year'];

/** Periods that are said with the same words each time, for a text that is almost one of them. */
export const periodWords = [
  ...['today', 'yesterday', 'tomorrow', 'all time'],
  ...['this', 'last', 'next'].flatMap((which) => units.map((unit) => `${which} ${unit}`)),
  ...units.slice(1).map((unit) => `${unit} to date`),
];

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const longMonths = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

type Unit = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

/**
 * Reads a period as people say it, at the naive time `now`. `last month` is the whole month before this one; `last 30 days` are today
 * and the 29 days before; `last 3 months` are the three whole months before this one; `october` is the latest one that has begun.
 * `all time` has no ends. Null for what is none.
 */
export function sayPeriod(
  text: string,
  now: number,
  settings: PeriodSettings = {},
): { readonly from: number | null; readonly to: number | null } | null {
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ');
  if (words === 'all time') return { from: null, to: null };
  const said = spanOf(words, now, settings);
  const ends = [said?.from, said?.to].filter((end) => typeof end === 'number');
  return ends.every((end) => end >= firstMoment && end < afterLast) ? said : null;
}

/** Records have years of four digits. */
const [firstMoment, afterLast] = [Date.parse('0001-01-01T00:00:00Z'), Date.UTC(10_000, 0)];

function spanOf(
  words: string,
  now: number,
  settings: PeriodSettings,
): { readonly from: number | null; readonly to: number | null } | null {
  const open = /^(since|from|after|until|till|up to|before) (.+)$/.exec(words);
  const range = /^(?:from |between )?(.+?)(?: ?\.\. ?| to | until | through | and | - | – )(.+)$/.exec(words);
  if (range?.[1] !== undefined && range[2] !== undefined) {
    const start = stretchOf(range[1], now, settings);
    const end = stretchOf(range[2], now, settings);
    if (start && end) return { from: start.from, to: end.to };
  }
  if (open?.[1] !== undefined && open[2] !== undefined) {
    const stretch = stretchOf(open[2], now, settings);
    if (stretch === null) return null;
    if (open[1] === 'since' || open[1] === 'from') return { from: stretch.from, to: null };
    if (open[1] === 'after') return { from: stretch.to, to: null };
    return { from: null, to: open[1] === 'before' ? stretch.from : stretch.to };
  }
  return stretchOf(words, now, settings);
}

function stretchOf(words: string, now: number, settings: PeriodSettings): Stretch | null {
  return (
    relative(words, now, settings) ?? latestMonth(words, now) ?? calendar(words, settings) ?? moment(words)
  );
}

/** How many units on from now a word leads; all others lead to the one before. */
const stepsOf: Readonly<Record<string, number>> = { this: 0, current: 0, next: 1 };

/** A stretch that depends on what time it is. */
function relative(words: string, now: number, settings: PeriodSettings): Stretch | null {
  if (words === 'today') return unitAt('day', now, 0, settings);
  if (words === 'yesterday') return dayBefore(now, settings);
  if (words === 'tomorrow') return unitAt('day', now, 1, settings);
  if (words === 'now') {
    const at = Math.floor(now / second) * second;
    return { from: at, to: at };
  }
  const [, which, unit] =
    /^(this|current|last|previous|past|next) (day|week|month|quarter|year)$/.exec(words) ?? [];
  if (isUnit(unit)) {
    if (unit === 'day' && /^(?:last|previous|past)$/.test(which ?? '')) return dayBefore(now, settings);
    return unitAt(unit, now, stepsOf[which ?? ''] ?? -1, settings);
  }
  const [, toDate] = /^(week|month|quarter|year) to date$/.exec(words) ?? [];
  if (isUnit(toDate))
    return { from: unitAt(toDate, now, 0, settings).from, to: unitAt('day', now, 0, settings).to };
  const [, count, units] =
    /^(?:the )?(?:last|past|previous) (\d{1,5}) (hour|day|week|month|quarter|year)s?$/.exec(words) ?? [];
  const many = Number(count);
  if (!isUnit(units) || !(many > 0)) return null;
  if (units === 'hour') {
    const end = Math.floor(now / second) * second;
    return { from: end - many * hour, to: end };
  }
  if (units === 'day') {
    const { to } = unitAt('day', now, 0, settings);
    return { from: to - many * day, to };
  }
  const { from: to } = unitAt(units, now, 0, settings);
  return { from: unitAt(units, now, -many, settings).from, to };
}

/** A month without its year is the latest that has begun. */
function latestMonth(words: string, now: number): Stretch | null {
  const month = monthNamed(words);
  if (month < 0) return null;
  const from = addMonths(monthStartOf(now), -((new Date(now).getUTCMonth() - month + 12) % 12));
  return { from, to: addMonths(from, 1) };
}

/** The place of a month in its year by its name, -1 for what is none. */
const monthNamed = (word: string): number => Math.max(longMonths.indexOf(word), months.indexOf(word));

/** The last day that there was before today: Samoa went from December 29 to 31 in 2011. */
function dayBefore(now: number, settings: PeriodSettings): Stretch {
  const { timeZone } = settings;
  const { from: today } = unitAt('day', now, 0, settings);
  const before =
    timeZone === undefined ? today - 1 : naiveAt(instantOf(today, timeZone).epochMs - 1, timeZone);
  return unitAt('day', before, 0, settings);
}

const isUnit = (word: string | undefined): word is Unit =>
  word !== undefined && ['hour', 'day', 'week', 'month', 'quarter', 'year'].includes(word);

const monthsOf = { month: 1, quarter: 3, year: 12 } as const;

/** The unit that holds a time, so many units later. */
function unitAt(unit: Unit, now: number, step: number, settings: FieldSettings): Stretch {
  const today = dayNumber(now);
  switch (unit) {
    case 'hour':
      return { from: now, to: now + hour };
    case 'day':
      return { from: startOfDay(today + step), to: startOfDay(today + step + 1) };
    case 'week': {
      const start = startOfWeek(now, settings.weekStart) + 7 * step * day;
      return { from: start, to: start + 7 * day };
    }
    default: {
      const length = monthsOf[unit];
      const month = monthStartOf(now);
      const first = addMonths(month, -(new Date(month).getUTCMonth() % length) + step * length);
      return { from: first, to: addMonths(first, length) };
    }
  }
}

/** A stretch of the calendar by its name: `2026`, `2026-Q3`, `2026-10`, `october 2026`, `2026-W35`. */
function calendar(words: string, settings: FieldSettings): Stretch | null {
  const [, year] = /^(\d{4})$/.exec(words) ?? [];
  if (year !== undefined) return monthsFrom(`${year}-01`, 12);
  const quarter = /^(\d{4})[- ]?q([1-4])$/.exec(words) ?? swap(/^q([1-4])[- ]?(\d{4})$/.exec(words));
  if (quarter?.[1] !== undefined)
    return monthsFrom(`${quarter[1]}-${String(Number(quarter[2]) * 3 - 2).padStart(2, '0')}`, 3);
  if (/^\d{4}-\d\d$/.test(words)) return monthsFrom(words, 1);
  const named = swap(/^([a-z]+)\.?,? (\d{4})$/.exec(words)) ?? /^(\d{4}) ([a-z]+)$/.exec(words);
  const month = monthNamed(named?.[2] ?? '');
  if (named?.[1] !== undefined && month >= 0)
    return monthsFrom(`${named[1]}-${String(month + 1).padStart(2, '0')}`, 1);
  const week = /^(\d{4})-?w(\d\d)$/.exec(words);
  return week?.[1] === undefined ? null : isoWeek(Number(week[1]), Number(week[2]), settings);
}

const swap = (found: RegExpExecArray | null): readonly (string | undefined)[] | null =>
  found && [found[0], found[2], found[1]];

function monthsFrom(month: string, count: number): Stretch | null {
  const time = parseTime(`${month}-01`);
  return time && { from: time.millis, to: addMonths(time.millis, count) };
}

/** Week 1 of ISO 8601 is the one that holds the 4th of January. */
function isoWeek(year: number, week: number, settings: FieldSettings): Stretch | null {
  const fourth = parseTime(`${String(year).padStart(4, '0')}-01-04`);
  if (fourth === null || week < 1) return null;
  const monday = startOfWeek(fourth.millis) + 7 * (week - 1) * day;
  // The Thursday of a week says which year it belongs to.
  if (new Date(monday + 3 * day).getUTCFullYear() !== year) return null;
  const start = settings.weekStart === 'sunday' ? monday - day : monday;
  return { from: start, to: start + 7 * day };
}

/** A day, or a moment: as an end it is not included. */
function moment(words: string): Stretch | null {
  const time = parseTime(words.toUpperCase());
  return time && { from: time.millis, to: time.isWholeDay ? time.millis + day : time.millis };
}

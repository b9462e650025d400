import {
  addMonths,
  type ClosedPeriod,
  day,
  everything,
  formatNaive,
  hour,
  isTimeZone,
  naiveAt,
  type Period,
  parseTime,
  periodOf,
  second,
  startOfWeek,
  zoneProblem,
} from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl';
import { type OptionSentence, option, QuestionError, refuse, sentence } from '../errors.ts';
import { monthStartOf, weekdayOf } from '../fields/calendar.ts';
import { nearestTime } from '../nearest-time.ts';
import type { CallSelection } from './question.ts';

// The one home of periods: every surface reads its words here, so that they mean the same
// everywhere.

/** A period that was read. */
export interface ReadPeriod extends Period {
  /** Whether it is another one at another time, as `yesterday` is. */
  readonly moves: boolean;
  /**
   * What of it is compared with another period: of `28d` the whole days, without today; of `month to
   * date` the month, of which `sameParts` then takes the part.
   */
  readonly comparable: Period;
}

/** A period as it was typed. */
export type SaidPeriod = Pick<CallSelection, 'period' | 'from' | 'to'>;

/** The clock that words such as `yesterday` are counted from. */
export interface PeriodClock {
  /** The instant, in milliseconds. */
  readonly now: number;
  /**
   * The zone whose days are meant, as an IANA name. Default: `machineZone()`, which an answer then
   * has to say.
   */
  readonly timeZone?: string | null | undefined;
}

/**
 * The zone of this machine, whose days words mean when nobody has said which zone the calls are in.
 */
export const machineZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The clock as forms of periods read it. */
interface Now {
  /** The naive time of now, in the zone whose days are meant. */
  readonly naive: number;
  /** Hours are real time, also where clocks are set forward or back. */
  readonly hoursAgo: (count: number) => number;
}

/** One way to say a period: everything that decides is in the groups of the form. */
interface PeriodWords {
  readonly example: string;
  readonly meaning: string;
  /** What words in lower case look like. */
  readonly form: RegExp;
  /** Null for what is no period all the same. */
  readonly read: (found: readonly string[], now: Now) => Period | null;
}

const months =
  'january february march april may june july august september october november december';

/** The place of a month in its year by its name, -1 for another word. */
const monthNamed = (word = ''): number =>
  word.length < 3
    ? -1
    : months.split(' ').findIndex((month) => month === word || month.slice(0, 3) === word);

/** The whole day, week, month, quarter or year that holds a time, and so many units later. */
function unitAt(unit: string, { naive }: Now, step: number, count = 1): ClosedPeriod {
  if (unit === 'day' || unit === 'week') {
    const length = unit === 'day' ? day : 7 * day;
    const start = unit === 'day' ? Math.floor(naive / day) * day : startOfWeek(naive);
    return periodOf(start + step * length, start + (step + count) * length);
  }

  const length = { month: 1, quarter: 3 }[unit] ?? 12;
  const month = monthStartOf(naive);
  const first = addMonths(month, -(new Date(month).getUTCMonth() % length) + step * length);
  return periodOf(first, addMonths(first, count * length));
}

function monthsFrom(year = '', month: number, count: number): Period | null {
  const time = parseTime(`${year}-${String(month).padStart(2, '0')}-01`);
  return time && periodOf(time.millis, addMonths(time.millis, count));
}

const weekdayNames = 'monday tuesday wednesday thursday friday saturday sunday';

/** The place of a day in its week by its name, -1 for another word. */
const weekdayNamed = (word = ''): number =>
  word.length < 3
    ? -1
    : weekdayNames.split(' ').findIndex((name) => name === word || name.slice(0, 3) === word);

/** A week of a year as ISO 8601 counts them: the first one has the fourth of January. */
function isoWeek(year = '', week: number): Period | null {
  const fourth = parseTime(`${year}-01-04`);
  if (fourth === null || week < 1) return null;
  const start = startOfWeek(fourth.millis) + (week - 1) * 7 * day;
  const isOfYear = new Date(start + 3 * day).getUTCFullYear() === Number(year);
  return isOfYear ? periodOf(start, start + 7 * day) : null;
}

const toDate = /^(week|month|quarter|year) to date$/;

const wholeSecond = (millis: number): number => Math.floor(millis / second) * second;

/** Everything that has a beginning and an end of its own, and is no list of two ends. */
const stretches: readonly PeriodWords[] = [
  {
    example: 'yesterday',
    form: /^(today|yesterday)$/,
    meaning: 'the whole day in the zone of the account; today is the day of now',
    read: ([word], now) => unitAt('day', now, word === 'today' ? 0 : -1),
  },
  {
    example: 'last 28 days',
    form: /^(?:last|past) ([1-9]\d{0,3}) (day|week|month|quarter|year)s?$/,
    meaning: 'the 28 whole days before today; weeks, months, quarters and years are whole too',
    read: ([count, unit = ''], now) => unitAt(unit, now, -Number(count), Number(count)),
  },
  {
    example: 'last 12 hours',
    form: /^(?:last|past) ([1-9]\d{0,4}) hours?$/,
    meaning: 'the 12 hours up to now',
    read([count], now) {
      const to = wholeSecond(now.naive);
      return periodOf(Math.min(now.hoursAgo(Number(count)), to - second), to);
    },
  },
  {
    example: 'last month',
    form: /^last (day|week|month|quarter|year)$/,
    meaning: 'the whole month before this one; also week, quarter, year',
    read: ([unit = ''], now) => unitAt(unit, now, -1),
  },
  {
    example: 'this week',
    form: /^this (day|week|month|quarter|year)$/,
    meaning: 'the whole week, whether it is over or not; also month, quarter, year',
    read: ([unit = ''], now) => unitAt(unit, now, 0),
  },
  {
    example: 'month to date',
    form: toDate,
    meaning: 'from the first day of the month to today; also week, quarter, year',
    read: ([unit = ''], now) => periodOf(unitAt(unit, now, 0).from, unitAt('day', now, 0).to),
  },
  {
    example: '2026-10',
    meaning: 'a month; 2026 is a year',
    form: /^(\d{4})(?:-(\d\d))?$/,
    read: ([year, month]) => monthsFrom(year, Number(month ?? 1), month === undefined ? 12 : 1),
  },
  {
    example: '2026-Q3',
    meaning: 'a quarter',
    form: /^(\d{4})[- ]?q([1-4])$|^q([1-4])[- ]?(\d{4})$/,
    read: ([year, quarter, first, last]) =>
      monthsFrom(year ?? last, Number(quarter ?? first) * 3 - 2, 3),
  },
  {
    example: '2026-W47',
    meaning: 'a week by its number, Monday to Sunday: the first of a year has the 4th of January',
    form: /^(\d{4})[- ]?w(\d\d?)$/,
    read: ([year, week]) => isoWeek(year, Number(week)),
  },
  {
    example: 'last weekend',
    form: /^(this|last) weekend$/,
    meaning: 'Saturday and Sunday of the week before this one; also this weekend',
    read([which], now) {
      const { from } = unitAt('week', now, which === 'last' ? -1 : 0);
      return periodOf(from + 5 * day, from + 7 * day);
    },
  },
  {
    example: 'monday',
    form: /^(last )?([a-z]+)$/,
    meaning: 'the latest Monday that has begun; last monday is one before today',
    read([isBefore, name], now) {
      const weekday = weekdayNamed(name);
      if (weekday < 0) return null;
      const ago = (weekdayOf(now.naive) - weekday + 7) % 7;
      return unitAt('day', now, isBefore !== undefined && ago === 0 ? -7 : -ago);
    },
  },
  {
    example: 'october',
    form: /^([a-z]+)(?: (\d{4}))?$/,
    meaning: 'the latest October that has begun; october 2026 is the one of that year',
    read([name, year], now) {
      const month = monthNamed(name);
      if (month < 0 || year !== undefined) return month < 0 ? null : monthsFrom(year, month + 1, 1);
      const ago = (new Date(now.naive).getUTCMonth() - month + 12) % 12;
      return unitAt('month', now, -ago);
    },
  },
  {
    example: '2026-10-15',
    form: /^(.+)$/,
    meaning: "a day; '2026-10-15 14:30:00' is a moment, which can be an end",
    read([words = '']) {
      const time = parseTime(words.toUpperCase());
      return time && periodOf(time.millis, time.isWholeDay ? time.millis + day : time.millis);
    },
  },
];

function readAs(ways: readonly PeriodWords[], words: string, now: Now): Period | null {
  for (const { form, read } of ways) {
    const found = form.exec(words);
    const period = found && read(found.slice(1), now);
    if (period !== null) return period;
  }
  return null;
}

const allWords: readonly PeriodWords[] = [
  ...stretches,
  {
    example: '2026-10-01 to 2026-10-15',
    form: /^(.+?)(?: ?\.\. ?| to | - )(.+)$/,
    meaning: 'from the first to the last day, both included; each end may be any of the above',
    read([first = '', last = ''], now) {
      const start = readAs(stretches, first, now);
      const end = readAs(stretches, last, now);
      return start && end && periodOf(start.from, end.to);
    },
  },
  {
    example: 'since 2026-10-01',
    meaning: 'from then on; also since monday, since october',
    form: /^since (.+)$/,
    read([first = ''], now) {
      const start = readAs(stretches, first, now);
      return start && periodOf(start.from, null);
    },
  },
  {
    example: 'until 2026-10-31',
    meaning: 'everything up to the end of that day',
    form: /^until (.+)$/,
    read([last = ''], now) {
      const end = readAs(stretches, last, now);
      return end && periodOf(null, end.to);
    },
  },
  {
    example: 'all time',
    meaning: 'all calls',
    form: /^all time$/,
    read: () => everything,
  },
];

/** All ways to say a period, each as an example with what it means, for help texts. */
export const periodWords: readonly { readonly example: string; readonly meaning: string }[] =
  allWords;

const wordsOf = (text: unknown): string =>
  typeof text === 'string' ? text.trim().toLowerCase().replace(/\s+/g, ' ') : '';

/**
 * Reads words at a time; null for what is no period. Records have years of four digits, and calls
 * have times of whole seconds.
 */
function wordsAt(text: unknown, now: Now): Period | null {
  const found = readAs(allWords, wordsOf(text), now);
  const isPossible = (end: number | null): boolean =>
    end === null ||
    (end >= Date.parse('0001-01-01') && end < Date.UTC(10_000, 0) && end % second === 0);
  return found !== null && isPossible(found.from) && isPossible(found.to) ? found : null;
}

/** The clock of a period; `look` is called when something is counted from it. */
export function nowOf({ now, timeZone }: PeriodClock, look = () => {}): Now {
  const zone = timeZone ?? machineZone();
  return {
    get naive() {
      look();
      return naiveAt(now, zone);
    },
    // Where clocks were set in between, the earlier of two readings loses no call.
    hoursAgo: (count) =>
      wholeSecond(Math.min(naiveAt(now - count * hour, zone), naiveAt(now, zone) - count * hour)),
  };
}

/**
 * Reads a period, or its two ends: a stretch of time as an end includes all of it, as a bare date
 * includes its day. `from: '28d'` begins at the midnight 28 days ago, and ends now. Throws a
 * `QuestionError` with the fix for what is no period.
 */
export function readPeriod({ period, from, to }: SaidPeriod, at: PeriodClock): ReadPeriod {
  let moves = false;
  const now = nowOf(at, () => {
    moves = true;
  });
  const one = option('from');
  const other = option('to');
  if (period !== undefined) {
    if (from !== undefined || to !== undefined)
      throw refuse`${option('period')} has both ends: leave out ${one} and ${other}.`;
    const said = readWords('period', period, now);
    const [, unit] = toDate.exec(wordsOf(period)) ?? [];
    return { ...said, moves, comparable: unit === undefined ? said : unitAt(unit, now, 0) };
  }

  const [, days] = /^\s*(\d{1,5})d\s*$/i.exec(from ?? '') ?? [];
  const last = to === undefined ? null : readEnd('to', to, now);
  let start: number | null = null;
  if (days !== undefined) start = unitAt('day', now, -Number(days)).from;
  else if (from !== undefined) start = readEnd('from', from, now).from;
  let end = last?.to ?? null;
  let comparable: Period | null = null;
  if (days !== undefined && last === null) {
    end = wholeSecond(now.naive) + second;
    comparable = unitAt('day', now, -Number(days), Math.max(1, Number(days)));
  }

  if (start === null && end === null) return { ...everything, moves, comparable: everything };
  if (start === null || end === null || start < end) {
    const said = periodOf(start, end);
    return { ...said, moves, comparable: comparable ?? said };
  }

  throw last !== null && last.from < start
    ? refuse`${one} (${String(from)}) is not before ${other} (${String(to)}). Did you mean ${one} ${String(to)} and ${other} ${String(from)}?`
    : refuse`${one} (${String(from)}) is not before ${other} (${String(to)}). With a date, ${other} includes that day; with a time of day, the period ends just before it.`;
}

const shown = (text: unknown): string =>
  JSON.stringify(typeof text === 'string' ? text.slice(0, 60) : text);

/** Reads a period as people say it. */
export function readWords(name: 'period' | 'compare', words: string, now: Now): Period {
  const said = wordsAt(words, now);
  if (said === null) {
    const others = name === 'compare' ? "'previous', 'year', or a period" : 'one';
    const forms =
      "'yesterday', 'last month', 'last 28 days', 'this week', '2026-Q3', '2026-10-01 to 2026-10-15'";
    throw unreadable(name, words, 'a period', sentence`Write ${others} such as ${forms}.`);
  }

  if (said.from === null || said.to === null || said.from < said.to) return said;
  throw said.from === said.to && parseTime(words.trim()) !== null
    ? refuse`${option(name)} is ${shown(words)}, which is a moment. Write both ends, such as '${formatNaive(said.from)} to ${formatNaive(said.from + hour)}'.`
    : refuse`${option(name)} is ${shown(words)}, which ends before it begins. Write the earlier time first.`;
}

function readEnd(name: 'from' | 'to', text: string, now: Now): ClosedPeriod {
  const { from = null, to = null } = wordsAt(text, now) ?? {};
  if (from !== null && to !== null) return periodOf(from, to);
  const forms = "Write one such as 2026-11-20, '2026-11-20 14:30:00' or yesterday";
  const fix =
    name === 'from'
      ? sentence`${forms}, or 28d for 28 days ago; ${option('period')} takes 'last 12 hours'.`
      : sentence`${forms}.`;
  throw unreadable(name, text, 'a time that exists', fix);
}

function unreadable(
  name: string,
  text: unknown,
  what: string,
  otherwise: OptionSentence,
): QuestionError {
  const typed = typeof text === 'string' ? text.trim() : '';
  const zone = /\d(?:Z|[+-]\d\d:?\d\d)$/i.test(typed) ? ' Times here have no time zone.' : '';
  const units = ['day', 'week', 'month', 'quarter', 'year'];
  const usual = units.flatMap((unit) => [`this ${unit}`, `last ${unit}`]);
  const words = nearest(typed.toLowerCase(), [
    'today',
    ...allWords.map(({ example }) => example),
    ...usual,
  ]);
  const near = nearestTime(typed) ?? (words && `'${words}'`);
  return new QuestionError('invalid_question', [
    ...sentence`${option(name)} is ${shown(text)}, which is not ${what}.${zone} `,
    ...(near ? [`Did you mean ${near}?`] : otherwise),
  ]);
}

/**
 * How much of a period is over at a naive time, such as `4 of 7 days`. Null when it has not begun,
 * is over, or has no end.
 */
export function partOver({ from, to }: Period, now: number): string | null {
  if (from === null || to === null || now < from || now >= to - second) return null;
  const [unit, length] = to - from > day ? (['days', day] as const) : (['hours', hour] as const);
  return `${Math.floor((now - from) / length)} of ${Math.ceil((to - from) / length)} ${unit}`;
}

/**
 * What has to be said about a period: whose days are meant where nobody said it, and how much is
 * over of one that is not.
 */
export function periodNotes(
  period: ReadPeriod,
  { now, timeZone = null }: PeriodClock,
): { readonly code: 'local_clock' | 'unfinished'; readonly message: string }[] {
  // Without a zone it is not known which moment given dates are.
  if (timeZone === null && !period.moves) return [];
  const zone = machineZone();
  const over = partOver(period, naiveAt(now, timeZone ?? zone));
  const days = `The period is counted in days of this machine (${zone}): the time zone of the account is not set.`;
  return [
    ...(timeZone === null ? [{ code: 'local_clock', message: days } as const] : []),
    ...(over
      ? [{ code: 'unfinished', message: `The period is not over: ${over} are.` } as const]
      : []),
  ];
}

/** The zones of a question: the one of the records, and the one to report in. */
export interface Zones {
  /** The zone of the records. */
  readonly timeZone: string | null;
  /** The zone of the answer. */
  readonly inZone: string | null;
}

/** Checks the zones of a question. */
export function readZones({ timeZone, inZone }: Pick<CallSelection, 'timeZone' | 'inZone'>): Zones {
  for (const [name, zone] of Object.entries({ timeZone, inZone }))
    if (zone !== undefined) checkZone(name, zone);
  if (inZone !== undefined && timeZone === undefined)
    throw refuse`Reporting in ${inZone} needs ${option('timeZone')}, the zone that the times of the records are in: the API does not say it. Ask whoever manages the account.`;
  return { timeZone: timeZone ?? null, inZone: inZone ?? null };
}

/** Refuses what is no time zone; `name` says where it was written. */
export function checkZone(name: string, zone: string): void {
  if (typeof zone === 'string' && isTimeZone(zone)) return;
  // Letters such as EST are near to many names.
  const isName = String(zone).length > 3;
  const meant = isName ? nearest(String(zone), Intl.supportedValuesOf('timeZone')) : undefined;
  const { fix } = zoneProblem(String(zone));
  const next = meant ? `Did you mean ${meant}?` : `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`;
  throw refuse`${option(name)} is ${JSON.stringify(zone)}, which is not a time zone. ${next}`;
}

/** A naive time as an answer shows it. */
export const shownTime = (millis: number | null): string | null =>
  millis === null ? null : formatNaive(millis);

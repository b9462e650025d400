import {
  addMonths,
  checkTimeZone,
  day,
  formatNaive,
  hour,
  naiveAt,
  parseTime,
  second,
  startOfPeriodBefore,
  startOfWeek,
} from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl';
import { QuestionError } from '../errors.ts';
import type { FieldSettings } from '../fields/calendar.ts';
import { nearestTime } from '../nearest-time.ts';
import { periodForms, periodWords, sayPeriod } from './period-words.ts';
import type { CallSelection, Question } from './question.ts';

/** A period of naive time, half-open. An open end is null. */
export interface Period {
  /** First moment, in naive milliseconds; null for the first call. */
  readonly from: number | null;
  /** First moment after it; null for after the last call. */
  readonly to: number | null;
}

/** A period whose ends are known. */
export interface ClosedPeriod {
  /** First moment, in naive milliseconds. */
  readonly from: number;
  /** First moment after it. */
  readonly to: number;
}

/** A period as it was typed. */
export type SaidPeriod = Pick<CallSelection, 'period' | 'from' | 'to'>;

/** Reads the words of a stretch of time, as `sayPeriod` does; null for what is none. */
type Say = (words: string) => Period | null;

/**
 * The period of a selection. `now` is an instant, in milliseconds. What depends on it, such as `today`, is taken in the zone of the
 * answer; when nobody has said which zone that is, in the one of this machine.
 */
export const readSaid = (selection: CallSelection, now: number): Period =>
  readPeriod(selection, wordsOf(selection, now));

function wordsOf({ inZone, timeZone, weekStart }: CallSelection, now: number): Say {
  return (words) => {
    const zone = inZone ?? timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
    return sayPeriod(words, naiveAt(now, zone), { weekStart, timeZone: zone });
  };
}

/** Reads a period, or its two ends: a stretch of time as an end includes all of it, as a bare date includes its day. */
export function readPeriod({ period, from, to }: SaidPeriod, say: (words: string) => Period | null): Period {
  if (period === undefined) return readEnds({ from, to }, say);
  if (from === undefined && to === undefined) return readWords('period', period, say);
  throw new QuestionError('invalid_question', '`period` has both ends: leave out `from` and `to`.');
}

/** Reads a period as people say it. */
function readWords(name: 'period' | 'compare', words: string, say: Say): Period {
  const said = say(words);
  if (said === null || isFraction(said.from) || isFraction(said.to)) {
    const others = name === 'compare' ? "'previous', 'year', or a period" : 'one';
    throw unreadable(name, words, 'a period', `Write ${others} such as ${periodForms}.`);
  }
  if (said.from === null || said.to === null || said.from < said.to) return said;
  if (said.from === said.to && (parseTime(words.trim()) !== null || /^\s*now\s*$/i.test(words))) {
    const moment = formatNaive(said.from);
    throw new QuestionError(
      'invalid_question',
      `${name} is ${shown(words)}, which is a moment. Write both ends, such as '${moment} to ${formatNaive(said.from + hour)}'.`,
    );
  }
  throw new QuestionError(
    'invalid_question',
    `${name} is ${shown(words)}, which ends before it begins. Write the earlier time first.`,
  );
}

/** Reads `from` and `to`. */
function readEnds({ from, to }: Pick<SaidPeriod, 'from' | 'to'>, say: Say, prefix = ''): Period {
  const start = from === undefined ? null : readEnd(`${prefix}from`, from, say).from;
  const last = to === undefined ? null : readEnd(`${prefix}to`, to, say);
  if (start === null || last === null || start < last.to) return { from: start, to: last?.to ?? null };
  throw new QuestionError(
    'invalid_question',
    `${prefix}from (${from}) is not before \`${prefix}to\` (${to}). ${
      last.from < start
        ? `Did you mean \`${prefix}from\` ${to} and \`${prefix}to\` ${from}?`
        : `A date as \`${prefix}to\` includes its day, a time of day ends the period just before it.`
    }`,
  );
}

function readEnd(name: string, text: string, say: Say): ClosedPeriod {
  const said = typeof text === 'string' ? say(text) : null;
  const { from = null, to = null } = said ?? {};
  if (from !== null && to !== null && !isFraction(from) && !isFraction(to)) return { from, to };
  throw unreadable(
    name,
    text,
    'a time that exists',
    "Write one such as 2026-11-20, '2026-11-20 14:30:00' or yesterday.",
  );
}

/** Calls have times of whole seconds: an end within one is another than was meant. */
const isFraction = (millis: number | null): boolean => millis !== null && millis % second !== 0;

const shown = (text: unknown): string => JSON.stringify(typeof text === 'string' ? text.slice(0, 60) : text);

function unreadable(name: string, text: unknown, what: string, otherwise: string): QuestionError {
  const typed = typeof text === 'string' ? text.trim() : '';
  const zone = /\d(?:Z|[+-]\d\d:?\d\d)$/i.test(typed) ? ' Times here have no time zone.' : '';
  const near = nearestTime(typed) ?? nearestWords(typed);
  const fix = near === null ? otherwise : `Did you mean ${near}?`;
  return new QuestionError(
    'invalid_question',
    `${name} is ${shown(text)}, which is not ${what}.${zone} ${fix}`,
  );
}

/** The words that were probably meant. */
function nearestWords(text: string): string | null {
  const meant = nearest(text.toLowerCase(), periodWords);
  return meant === undefined ? null : `'${meant}'`;
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
  if (inZone !== undefined && timeZone === undefined) {
    throw new QuestionError(
      'invalid_question',
      `Reporting in ${inZone} needs \`timeZone\`, the zone that the times of the records are in: the API does not say it. Ask whoever manages the account.`,
    );
  }
  return { timeZone: timeZone ?? null, inZone: inZone ?? null };
}

/** Refuses what is no time zone; `name` says where it was written. */
export function checkZone(name: string, zone: string): void {
  try {
    checkTimeZone(zone);
  } catch {
    const meant = typeof zone === 'string' ? nearest(zone, Intl.supportedValuesOf('timeZone')) : undefined;
    throw new QuestionError(
      'invalid_question',
      `${name} is ${JSON.stringify(zone)}, which is not a time zone. ${
        meant ? `Did you mean ${meant}?` : 'Write an IANA name such as America/New_York or UTC.'
      }`,
    );
  }
}

/** The period that a question compares with. `now` is an instant, as for the period itself; `byWeek`: weeks are groups. */
export function comparedPeriod(
  compare: NonNullable<Question['compare']>,
  { from, to }: Period,
  selection: CallSelection,
  { now, byWeek }: { readonly now: number; readonly byWeek: boolean },
): ClosedPeriod {
  if (from === null || to === null) {
    throw new QuestionError(
      'invalid_question',
      'To compare, a question needs a period with both ends: `period`, or both `from` and `to`.',
    );
  }
  if (compare === 'previous') return { from: startOfPeriodBefore(from, to), to: from };
  if (compare === 'year') return byWeek ? weeksBefore({ from, to }, selection) : yearBefore({ from, to });
  const words = wordsOf(selection, now);
  const given =
    typeof compare === 'object' ? readEnds(compare, words, 'compare.') : readWords('compare', compare, words);
  if (given.from !== null && given.to !== null) return { from: given.from, to: given.to };
  throw new QuestionError('invalid_question', 'A period to compare with needs both ends.');
}

const yearBefore = ({ from, to }: ClosedPeriod): ClosedPeriod => ({
  from: addMonths(from, -12),
  to: addMonths(to, -12),
});

/** Whole weeks, 52 weeks earlier: a year earlier they would be parts of others. Whole months stay months. */
function weeksBefore({ from, to }: ClosedPeriod, settings: FieldSettings): ClosedPeriod {
  const ends = [from, to];
  const isWhole = ends.every((millis) => startOfWeek(millis, settings.weekStart) === millis);
  const isMonths = ends.every((millis) => new Date(millis).getUTCDate() === 1);
  const year = 52 * 7 * day;
  return isWhole && !isMonths ? { from: from - year, to: to - year } : yearBefore({ from, to });
}

/** Is the period not over yet, and the one that it is compared with is? Unknown without a zone, and then not said. */
export function comparesUnlike(
  { period, zones }: { readonly period: Period; readonly zones: Zones },
  compared: ClosedPeriod,
  now: number,
): boolean {
  const zone = zones.inZone ?? zones.timeZone;
  if (zone === null || period.to === null) return false;
  const today = naiveAt(now, zone);
  return today > (period.from ?? today) && today < period.to && compared.to <= today;
}

/** A naive time as an answer shows it. */
export const shownTime = (millis: number | null): string | null =>
  millis === null ? null : formatNaive(millis);

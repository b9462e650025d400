import {
  addMonths,
  checkTimeZone,
  endOfPeriod,
  formatNaive,
  naiveAt,
  parseTime,
  startOfPeriodBefore,
  type TypedTime,
} from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl';
import { QuestionError } from '../errors.ts';
import { periodForms, sayPeriod } from './period-words.ts';
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

/**
 * The period of a selection. `now` is an instant, in milliseconds. What depends on it, such as `today`, is taken in the zone of the
 * answer; when nobody has said which zone that is, in the one of this machine.
 */
export function readSaid(selection: CallSelection, now: number): Period {
  const { period, from, to } = selection;
  if (period === undefined) return readPeriod({ from, to });
  if (from !== undefined || to !== undefined)
    throw new QuestionError('invalid_period', 'A question has `period`, or `from` and `to`, but not both.');
  return readWords('period', period, selection, now);
}

/** Reads a period as people say it. */
function readWords(
  name: 'period' | 'compare',
  words: string,
  { inZone, timeZone, weekStart }: CallSelection,
  now: number,
): Period {
  const zone = inZone ?? timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const said = sayPeriod(words, naiveAt(now, zone), { weekStart, timeZone: zone });
  const is = `${name} is ${JSON.stringify(words.slice(0, 60))}`;
  if (said === null) {
    const others = name === 'compare' ? "Write 'previous', 'year', or a period" : 'Write one';
    throw new QuestionError('invalid_period', `${is}, which is no period. ${others} such as ${periodForms}.`);
  }
  if (said.from === null || said.to === null || said.from < said.to) return said;
  throw new QuestionError(
    'invalid_period',
    `${is}, which ends before it begins. Write the earlier time first.`,
  );
}

/** Reads `from` and `to`. */
function readPeriod({ from, to }: Pick<CallSelection, 'from' | 'to'>, name = ''): Period {
  const start = readTime(from, `${name}from`);
  const end = readTime(to, `${name}to`);
  const period = { from: start?.millis ?? null, to: end === null ? null : endOfPeriod(end) };
  if (period.from !== null && period.to !== null && period.from >= period.to) {
    throw new QuestionError(
      'invalid_period',
      `${name}from (${from}) is not before ${name}to (${to}). A date as \`to\` includes its day, a time of day ends the period just before it.`,
    );
  }
  return period;
}

function readTime(text: string | undefined, name: string): TypedTime | null {
  if (text === undefined) return null;
  const time = typeof text === 'string' ? parseTime(text) : null;
  if (time) return time;
  throw new QuestionError(
    'invalid_period',
    `${name} is ${JSON.stringify(text)}: expected a time that exists, such as 2026-11-20 or 2026-11-20 14:30:00.`,
  );
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

function checkZone(name: string, zone: string): void {
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

/** The period that a question compares with. `now` is an instant, as for the period itself. */
export function comparedPeriod(
  compare: NonNullable<Question['compare']>,
  { from, to }: Period,
  selection: CallSelection,
  now: number,
): ClosedPeriod {
  if (from === null || to === null) {
    throw new QuestionError(
      'invalid_question',
      'To compare, a question needs a period with both ends: `period`, or both `from` and `to`.',
    );
  }
  if (compare === 'previous') return { from: startOfPeriodBefore(from, to), to: from };
  if (compare === 'year') return { from: addMonths(from, -12), to: addMonths(to, -12) };
  const given =
    typeof compare === 'object'
      ? readPeriod(compare, 'compare.')
      : readWords('compare', compare, selection, now);
  if (given.from !== null && given.to !== null) return { from: given.from, to: given.to };
  throw new QuestionError('invalid_question', 'A period to compare with needs both ends.');
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

import {
  addMonths,
  day,
  endOfPeriod,
  formatNaive,
  hour,
  instantOf,
  minute,
  naiveAt,
  parseTime,
  type TypedTime,
} from '@call-attribution/core/time';
import { UsageError } from '../errors.ts';

/** What a relative time is counted from. Without a time zone only absolute times can be read. */
export interface Present {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string | null;
}

/** How times are written, for messages. */
const forms = '2026-11-20, "2026-11-20 14:30:00", now, today, yesterday, 90m, 12h, 7d, 2w or 3mo';

const relativeForm = /^(?:now|today|yesterday|(\d{1,5})(m|h|d|w|mo))$/;

/** Whether a time moves with the clock. */
export function isRelative(text: string): boolean {
  return relativeForm.test(text.trim().toLowerCase());
}

/** Whether this is a time that `readStart` and `readEnd` understand. */
export function isTime(text: string): boolean {
  return parseTime(text) !== null || isRelative(text);
}

/** Reads the start of a period as typed and returns it in the form the API compares with. */
export function readStart(text: string, option: string, present: Present): string {
  return formatNaive(readTime(text, option, present).millis);
}

/** Reads the end of a period as `readStart` does. A day is included, a time of day is not. */
export function readEnd(text: string, option: string, present: Present): string {
  return formatNaive(endOfPeriod(readTime(text, option, present)));
}

function readTime(text: string, option: string, present: Present): TypedTime {
  const absolute = parseTime(text);
  if (absolute) return absolute;
  const word = text.trim().toLowerCase();
  const match = relativeForm.exec(word);
  if (!match) {
    throw new UsageError(`${option} must be a time, not ${JSON.stringify(text)}`, {
      hints: [
        /^\d+$/.test(word)
          ? `${word} what? write ${word}d for days, ${word}h for hours; -n ${word} is a number of rows`
          : `write it as ${forms}`,
      ],
    });
  }
  return {
    millis: relative(match, present.now, needZone(present, `${option} ${text}`)),
    isWholeDay: word === 'today' || word === 'yesterday',
  };
}

function relative([word, digits, unit]: RegExpExecArray, instant: number, zone: string): number {
  const now = naiveAt(instant, zone);
  const midnight = now - (now % day);
  if (word === 'now') return now;
  if (word === 'today') return midnight;
  if (word === 'yesterday') return midnight - day;
  const count = Number(digits);
  switch (unit) {
    // Minutes and hours are real time: across a clock change the wall clock moves by more or less.
    case 'm':
      return naiveAt(instant - count * minute, zone);
    case 'h':
      return naiveAt(instant - count * hour, zone);
    // Days, weeks and months are calendar steps: the same time of day, moved out of a gap.
    case 'd':
      return existing(now - count * day, zone);
    case 'w':
      return existing(now - count * 7 * day, zone);
    default:
      return existing(addMonths(now, -count), zone);
  }
}

/** The time itself, or the one just as far after a gap, where the clocks were set forward past it. */
function existing(naive: number, zone: string): number {
  return naiveAt(instantOf(naive, zone).epochMs, zone);
}

/** Reads `--on`: a whole day or month, as the two ends of a half-open range. */
export function readDayOrMonth(text: string, present: Present): { from: string; to: string } {
  const word = text.trim().toLowerCase();
  if (/^\d{4}-\d{2}$/.test(word)) {
    const first = parseTime(`${word}-01`);
    if (!first) throw new UsageError(`--on ${text}: there is no such month`);
    return { from: formatNaive(first.millis), to: formatNaive(addMonths(first.millis, 1)) };
  }
  const isDay = word === 'today' || word === 'yesterday' || parseTime(word)?.isWholeDay === true;
  if (!isDay) {
    throw new UsageError(`--on must be a day or a month that exists, not ${JSON.stringify(text)}`, {
      hints: ['write it as 2026-11-20, 2026-11, today or yesterday'],
    });
  }
  return { from: readStart(word, '--on', present), to: readEnd(word, '--on', present) };
}

function needZone(present: Present, what: string): string {
  if (present.timeZone !== null) return present.timeZone;
  throw new UsageError(`${what} needs a time zone: the API does not say which time zone its times are in`, {
    hints: ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'],
  });
}

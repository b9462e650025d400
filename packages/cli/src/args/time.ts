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

const spanForm = /^(\d{1,5})(m|h|d|w|mo)$/;
const dayWord = /^(?:today|yesterday)$/;

/** Whether a time moves with the clock. */
export function isRelative(text: string): boolean {
  const word = text.trim().toLowerCase();
  return spanForm.test(word) || dayWord.test(word);
}

/** Reads the start of a period as typed and returns it in the form the API compares with. */
export function readStart(text: string, option: string): string {
  return formatNaive(readTime(text, option).millis);
}

/** Reads the end of a period as `readStart` does. A day is included, a time of day is not. */
export function readEnd(text: string, option: string): string {
  return formatNaive(endOfPeriod(readTime(text, option)));
}

function readTime(text: string, option: string): TypedTime {
  const time = parseTime(text);
  if (time) return time;
  throw new UsageError(`${option} must be a date or a time, not ${JSON.stringify(text)}`, {
    hints: [wayOut(text.trim().toLowerCase())],
  });
}

function wayOut(word: string): string {
  if (spanForm.test(word)) return `--last ${word} is a period that ends now`;
  if (dayWord.test(word)) return `--on ${word} is a whole day`;
  if (/^\d{4}-\d\d-\d\dt.*(?:z|[+-]\d\d:?\d\d)$/.test(word))
    return 'leave the time zone out: times are those of the account, written as "2026-11-20 14:30:00"';
  return 'write it as 2026-11-20 or "2026-11-20 14:30:00"; --last 7d is a period that ends now';
}

/** Reads `--last`: where a period that ends now begins. */
export function readLast(text: string, present: Present): string {
  const word = text.trim().toLowerCase();
  const [, digits, unit] = spanForm.exec(word) ?? [];
  if (unit !== undefined) {
    const zone = needZone(present, `--last ${text}`);
    return formatNaive(lowestFrom(before(Number(digits), unit, present.now, zone), present.now, zone));
  }
  throw new UsageError(`--last must be a duration, not ${JSON.stringify(text)}`, {
    hints: [
      /^\d+$/.test(word)
        ? `${word} what? write ${word}d for days, ${word}h for hours; -n ${word} is a number of rows`
        : 'write it as 90m, 12h, 7d, 2w or 3mo; --from takes dates and times',
    ],
  });
}

/** The moment so long before another one. */
function before(count: number, unit: string, instant: number, zone: string): number {
  const now = naiveAt(instant, zone);
  switch (unit) {
    // Minutes and hours are real time: across a clock change the wall clock moves by more or less.
    case 'm':
      return instant - count * minute;
    case 'h':
      return instant - count * hour;
    // Days, weeks and months are calendar steps: the same time of day, moved out of a gap.
    case 'd':
      return existing(now - count * day, zone);
    case 'w':
      return existing(now - count * 7 * day, zone);
    default:
      return existing(addMonths(now, -count), zone);
  }
}

/** The moment of a time, or of the one just as far after a gap, where the clocks were set forward past it. */
const existing = (naive: number, zone: string): number => instantOf(naive, zone).epochMs;

/**
 * The lowest time that clocks show from one moment up to another: where they were set back in between, times come twice, and those of the
 * second pass may lie before the first moment's.
 */
function lowestFrom(start: number, end: number, zone: string): number {
  let lowest = naiveAt(start, zone);
  // Clocks are set at whole quarters of an hour, and never by more than a day.
  const quarter = 15 * minute;
  const last = Math.min(end, start + day);
  for (let at = Math.ceil(start / quarter) * quarter; at <= last; at += quarter)
    lowest = Math.min(lowest, naiveAt(at, zone));
  return lowest;
}

/** Reads `--on`: a whole day or month, as the two ends of a half-open range. */
export function readDayOrMonth(text: string, present: Present): { from: string; to: string } {
  const word = text.trim().toLowerCase();
  if (/^\d{4}-\d{2}$/.test(word)) {
    const first = parseTime(`${word}-01`);
    if (!first) throw new UsageError(`--on ${text}: there is no such month`);
    return { from: formatNaive(first.millis), to: formatNaive(addMonths(first.millis, 1)) };
  }
  if (dayWord.test(word)) {
    const zone = needZone(present, `--on ${text}`);
    const startOfDay = (instant: number): number => {
      const naive = naiveAt(instant, zone);
      return naive - (naive % day);
    };
    const today = startOfDay(present.now);
    // The day before is the last one that there was: Samoa went from December 29 to 31 in 2011.
    const start = word === 'today' ? today : startOfDay(existing(today, zone) - 1);
    return { from: formatNaive(start), to: formatNaive(start + day) };
  }
  if (parseTime(word)?.isWholeDay !== true) {
    throw new UsageError(`--on must be a day or a month that exists, not ${JSON.stringify(text)}`, {
      hints: ['write it as 2026-11-20, 2026-11, today or yesterday'],
    });
  }
  return { from: readStart(word, '--on'), to: readEnd(word, '--on') };
}

function needZone(present: Present, what: string): string {
  if (present.timeZone !== null) return present.timeZone;
  throw new UsageError(`${what} needs a time zone: the API does not say which time zone its times are in`, {
    hints: ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'],
  });
}

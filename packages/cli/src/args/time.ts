import { addMonths, day, formatNaive, hour, instantOf, minute, naiveAt } from '@call-attribution/core/time';
import { readPeriod, type SaidPeriod, sayPeriod } from '@call-attribution/questions';
import { UsageError } from '../errors.ts';

/** What a relative time is counted from. Without a time zone only absolute times can be read. */
export interface Present {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string | null;
}

const spanForm = /^(\d{1,5})(m|h|d|w|mo)$/;

/** Whether a text is the length of a period that ends now, such as `7d`. */
const isSpan = (text: string): boolean => spanForm.test(text.trim().toLowerCase());

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

/** Reads `--period`, or `--from` and `--to`, as the two ends of a range; an open end is null. */
export function readRange(typed: SaidPeriod, present: Present): NaiveRange {
  const { from, to } = readPeriod(typed, (words) => {
    refuseSpan(words);
    const zone = movesWithClock(words) ? needZone(present, JSON.stringify(words)) : 'UTC';
    return said(words, present.now, zone);
  });
  return { from: from === null ? null : formatNaive(from), to: to === null ? null : formatNaive(to) };
}

/** A half-open range of naive times; an open end is null. */
export interface NaiveRange {
  readonly from: string | null;
  readonly to: string | null;
}

const said = (text: string, now: number, timeZone: string) =>
  sayPeriod(text, naiveAt(now, timeZone), { timeZone });

/** Whether a period in words means another time each day, such as `yesterday`. */
export function movesWithClock(text: string): boolean {
  const [one, other] = [0, 400 * day].map((now) => said(text, now, 'UTC'));
  return one?.from !== other?.from || one?.to !== other?.to;
}

function refuseSpan(text: string): void {
  if (!isSpan(text)) return;
  throw new UsageError(`${JSON.stringify(text)} is a length of time, not a time`, {
    hints: [`--last ${text.trim().toLowerCase()} is a period that ends now`],
  });
}

/** The time zone whose clock words such as `yesterday` go by. */
export function needZone(present: Pick<Present, 'timeZone'>, what: string): string {
  if (present.timeZone !== null) return present.timeZone;
  throw new UsageError(`${what} needs a time zone: the API does not say which time zone its times are in`, {
    hints: ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'],
  });
}

import { ConfigurationError } from '../errors/classes.ts';
import { day, hour, second } from './naive.ts';

// Before 1700 no zone changed its offset, and formats count days by the Julian calendar.
const earliest = Date.UTC(1700, 0, 1);

// Making a format costs more than using it a thousand times.
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();
const mostOffsets = 50_000;

/** Letters that are the zone of one place and no other. */
const plainLetters: ReadonlySet<string> = new Set(
  'UTC GMT UCT HST CET EET MET WET PRC ROC ROK'.split(' '),
);

/** What people in North America mean by letters that Node.js reads otherwise, or in its own way. */
const meant: ReadonlyMap<string, string> = new Map([
  ['EST', 'America/New_York, or America/Panama, which has no summer time'],
  ['CST', 'America/Chicago, or America/Costa_Rica, which has no summer time'],
  ['MST', 'America/Denver, or America/Phoenix, which has no summer time'],
  ['PST', 'America/Los_Angeles'],
]);

/**
 * Is this the IANA name of a time zone, such as `America/New_York` or `UTC`? Offsets such as
 * `+02:00` are refused: they know no daylight saving time, and not every Node.js accepts them. So
 * are letters such as `EST`, which Node.js takes for a zone without summer time, and `IST`, which
 * is the time of several places.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || isAmbiguous(name)) return false;
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

const isAmbiguous = (name: string): boolean =>
  /^[A-Za-z]{3}$/.test(name) && !plainLetters.has(name.toUpperCase());

/** What is wrong with what is no time zone, and what to write. */
export function zoneProblem(name: string): { readonly problem: string; readonly fix: string } {
  const shown = JSON.stringify(name.slice(0, 50));
  if (!isAmbiguous(name))
    return {
      problem: `there is no time zone ${shown}`,
      fix: 'use an IANA name, such as America/New_York, Europe/Berlin or UTC',
    };

  const names = meant.get(name.toUpperCase()) ?? 'such as America/New_York, Europe/Berlin or UTC';
  return {
    problem: `${shown} is an abbreviation, which does not say when clocks change`,
    fix: `use an IANA name: ${names}`,
  };
}

/** Throws a `ConfigurationError` unless the value is the IANA name of a time zone. */
export function checkTimeZone(zone: unknown): asserts zone is string {
  if (typeof zone === 'string' && isTimeZone(zone)) return;
  throw new ConfigurationError(
    'invalid_option',
    'timeZone must be an IANA name such as America/New_York or UTC.',
    {
      hint: 'The API does not say which time zone its times are in. Ask whoever manages the account.',
    },
  );
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const digits = '2-digit';
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: digits,
      day: digits,
      hour: digits,
      minute: digits,
      second: digits,
    });
    formats.set(zone, format);
  }

  return format;
}

/**
 * How far the clocks of a zone are ahead of UTC at an instant, in milliseconds: positive east of
 * Greenwich.
 */
export function offsetAt(epochMs: number, zone: string): number {
  // Most hours have one offset. Within the others the second counts: some zones have set their
  // clocks at 00:01.
  const begin = Math.floor(Math.max(epochMs, earliest) / hour) * hour;
  const offset = knownOffset(begin, zone);
  return offset === knownOffset(begin + hour, zone)
    ? offset
    : exactOffset(Math.floor(epochMs / second) * second, zone);
}

function knownOffset(epochMs: number, zone: string): number {
  const key = `${zone} ${epochMs}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const offset = exactOffset(epochMs, zone);
  if (offsets.size > mostOffsets) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

function exactOffset(epochMs: number, zone: string): number {
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(epochMs)) part[type] = Number(value);
  const {
    year = 0,
    month = 1,
    day: date = 1,
    hour: hours = 0,
    minute = 0,
    second: seconds = 0,
  } = part;
  return Date.UTC(year, month - 1, date, hours, minute, seconds) - epochMs;
}

/** Writes an offset from UTC as `+05:45`. */
export function formatOffset(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const two = (part: number) => String(part).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/**
 * The naive time that the clocks of a zone show at an instant.
 *
 * @example
 * formatNaive(naiveAt(Date.UTC(2026, 10, 20, 12), 'America/New_York')); // 2026-11-20 07:00:00
 */
export function naiveAt(epochMs: number, zone: string): number {
  return epochMs + offsetAt(epochMs, zone);
}

/**
 * The instants at which the clocks of a zone show a naive time, in order: none in a gap, two in a
 * repeated hour, else one.
 */
export function instantsOf(naive: number, zone: string): number[] {
  const before = offsetAt(naive - day, zone);
  const after = offsetAt(naive + day, zone);
  const candidates = before === after ? [before] : [before, after];
  const instants = candidates.map((offset) => naive - offset);
  return instants
    .filter((instant, i) => offsetAt(instant, zone) === candidates[i])
    .sort((a, b) => a - b);
}

/** A naive time placed on the time line. */
export interface Instant {
  /** Milliseconds since 1970; `new Date(epochMs)` is the instant. */
  readonly epochMs: number;
  /**
   * `exact`: there is one such instant. `repeated`: the clocks were set back and showed this time twice; the first one
   * is given. `skipped`: the clocks were set forward past it; it is moved by the length of the gap.
   */
  readonly certainty: 'exact' | 'repeated' | 'skipped';
  /** The second instant of a repeated time. */
  readonly otherEpochMs?: number;
}

/**
 * The instant of a naive time in a zone. A time in a gap is moved forward by the length of the gap,
 * as `Temporal` does: 02:30 in New York becomes 03:30, and 02:15 on Lord Howe Island, where the gap
 * is half an hour, becomes 02:45.
 *
 * @example
 * const { epochMs } = instantOf(parseNaive('2026-03-08 02:30:00'), 'America/New_York');
 * formatNaive(naiveAt(epochMs, 'America/New_York')); // 2026-03-08 03:30:00
 */
export function instantOf(naive: number, zone: string): Instant {
  const [first, second] = instantsOf(naive, zone);
  // With the offset from before a gap, the time moves to just as far after it.
  if (first === undefined)
    return { epochMs: naive - offsetAt(naive - day, zone), certainty: 'skipped' };
  if (second === undefined) return { epochMs: first, certainty: 'exact' };
  return { epochMs: first, certainty: 'repeated', otherEpochMs: second };
}

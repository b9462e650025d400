import { UsageError } from '../errors.ts';
import { asUtc, fromUtc, instantsOf, parseWall, printWall, type WallTime, wallTimeAt } from './zone.ts';

/** What a relative time is counted from. Without a zone only absolute times can be read. */
export interface Clock {
  readonly now: Date;
  readonly timeZone: string | null;
}

const forms = '2026-11-20, "2026-11-20 14:30:00", now, today, yesterday, 90m, 12h, 7d, 2w or 3mo';
const dayLength = 86_400_000;

/** Reads a time as typed and answers the wall-clock text the API compares with. */
export function readMoment(text: string, option: string, clock: Clock): string {
  const absolute = parseWall(text.trim());
  if (absolute) return printWall(absolute);
  const word = text.trim().toLowerCase();
  const match = /^(\d{1,5})(m|h|d|w|mo)$/.exec(word);
  if (!match && word !== 'now' && word !== 'today' && word !== 'yesterday') {
    throw new UsageError(`${option} does not understand ${JSON.stringify(text)}`, {
      hints: [`write it as ${forms}`],
    });
  }
  const zone = needZone(clock, `${option} ${text}`);
  const now = wallTimeAt(clock.now.getTime(), zone);
  if (word === 'now') return printWall(now);
  const midnight = { ...now, hour: 0, minute: 0, second: 0 };
  if (word === 'today') return printWall(midnight);
  if (word === 'yesterday') return printWall(fromUtc(asUtc(midnight) - dayLength));
  const count = Number(match?.[1]);
  switch (match?.[2]) {
    // Minutes and hours are real time: across a clock change the wall moves by more or less.
    case 'm':
      return printWall(wallTimeAt(clock.now.getTime() - count * 60_000, zone));
    case 'h':
      return printWall(wallTimeAt(clock.now.getTime() - count * 3_600_000, zone));
    // Days, weeks and months are calendar steps: the same time of day, moved out of a gap.
    case 'd':
      return printWall(existing(fromUtc(asUtc(now) - count * dayLength), zone));
    case 'w':
      return printWall(existing(fromUtc(asUtc(now) - count * 7 * dayLength), zone));
    default:
      return printWall(existing(monthsBefore(now, count), zone));
  }
}

/** Reads `--on`: a whole day or month, as the two ends of a half-open range. */
export function readSpan(text: string, clock: Clock): { from: string; to: string } {
  const month = /^(\d{4})-(\d{2})$/.exec(text.trim());
  if (month) {
    const first = parseWall(`${text.trim()}-01`);
    if (!first) throw new UsageError(`--on ${text}: there is no such month`);
    return { from: printWall(first), to: printWall(monthsBefore(first, -1)) };
  }
  const word = text.trim().toLowerCase();
  const known = word === 'today' || word === 'yesterday' || /^\d{4}-\d{2}-\d{2}$/.test(word);
  const from = known ? parseWall(readMoment(word, '--on', clock)) : null;
  if (!from) {
    throw new UsageError(`--on does not understand ${JSON.stringify(text)}`, {
      hints: ['write it as 2026-11-20, 2026-11, today or yesterday'],
    });
  }
  return { from: printWall(from), to: printWall(fromUtc(asUtc(from) + dayLength)) };
}

function needZone(clock: Clock, what: string): string {
  if (clock.timeZone !== null) return clock.timeZone;
  throw new UsageError(`${what} needs a time zone: the API does not say which zone its times are in`, {
    hints: ['add --time-zone America/New_York (the zone of the account), or set CALLS_TIME_ZONE'],
  });
}

// 31 March minus one month is 28 or 29 February, never 3 March.
function monthsBefore(wall: WallTime, count: number): WallTime {
  const index = wall.year * 12 + (wall.month - 1) - count;
  const year = Math.floor(index / 12);
  const month = (index % 12) + 1;
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return { ...wall, year, month, day: Math.min(wall.day, lastDay) };
}

function existing(wall: WallTime, zone: string): WallTime {
  if (instantsOf(wall, zone).length > 0) return wall;
  // In the gap of spring the clock jumps ahead; so does this time, to its end.
  const shifted = asUtc(wall) + 3_600_000;
  return fromUtc(shifted);
}

import { ConfigurationError } from '../errors/calls-error.ts';

const hour = 3_600_000;
// Before it no zone changed its offset, and formats count days by the Julian calendar.
const earliest = Date.UTC(1700, 0, 1);
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();

/** Refuses anything that is no IANA time zone: the API names none, so that nobody else can know it. */
export function checkTimeZone(zone: unknown): asserts zone is string {
  if (typeof zone === 'string' && isTimeZone(zone)) return;
  throw new ConfigurationError(
    'invalid_argument',
    'timeZone must be an IANA name such as America/New_York or UTC.',
    {
      hint: 'The API does not say in which zone its times are; ask whoever runs the account.',
    },
  );
}

function isTimeZone(zone: string): boolean {
  try {
    return zone !== '' && formatOf(zone) !== undefined;
  } catch {
    return false;
  }
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const two = '2-digit';
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    });
    formats.set(zone, format);
  }
  return format;
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export function offsetAt(zone: string, epochMs: number): number {
  // Most hours have one offset. Within the others the second counts: some zones have set their clocks at 00:01.
  const begin = Math.floor(Math.max(epochMs, earliest) / hour) * hour;
  const offset = knownOffset(zone, begin);
  return offset === knownOffset(zone, begin + hour)
    ? offset
    : exactOffset(zone, Math.floor(epochMs / 1000) * 1000);
}

function knownOffset(zone: string, epochMs: number): number {
  const key = `${zone} ${epochMs}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const offset = exactOffset(zone, epochMs);
  if (offsets.size > 50_000) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

function exactOffset(zone: string, epochMs: number): number {
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(epochMs)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour: h = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, h, minute, second) - epochMs;
}

/** Every instant at which the clocks of a zone show a local time, given as if it were UTC: none, one or two. */
export function instantsOf(zone: string, localMs: number): number[] {
  const before = offsetAt(zone, localMs - 24 * hour);
  const after = offsetAt(zone, localMs + 24 * hour);
  const candidates = before === after ? [before] : [before, after];
  const instants = candidates.map((offset) => localMs - offset);
  return instants.filter((instant, i) => offsetAt(zone, instant) === candidates[i]).sort((a, b) => a - b);
}

/** Wall-clock time as the API writes it: a date and a time of day without a zone. */
export interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Whether the name is a time zone this machine knows. Offsets such as `+02:00` have no daylight saving and are refused. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatter(name);
    return true;
  } catch {
    return false;
  }
}

/** What a clock on the wall of that zone shows at this moment. */
export function wallTimeAt(instant: number, zone: string): WallTime {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatter(zone).formatToParts(instant)) {
    if (type !== 'literal') parts[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hour, minute, second };
}

/** Offset of the zone from UTC at this moment, in milliseconds; positive east of Greenwich. */
export function offsetAt(instant: number, zone: string): number {
  return asUtc(wallTimeAt(instant, zone)) - Math.floor(instant / 1000) * 1000;
}

/** The moments at which a wall clock of the zone shows this time: none in spring's gap, two in autumn's repeated hour. */
export function instantsOf(wall: WallTime, zone: string): readonly number[] {
  const near = asUtc(wall);
  const day = 86_400_000;
  const offsets = new Set([offsetAt(near - day, zone), offsetAt(near + day, zone)]);
  return [...offsets]
    .map((offset) => near - offset)
    .filter((instant) => asUtc(wallTimeAt(instant, zone)) === near)
    .sort((a, b) => a - b);
}

/** The same fields read as UTC, in milliseconds: a sortable number, not a moment. */
export function asUtc(wall: WallTime): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
}

/** The inverse of `asUtc`. */
export function fromUtc(time: number): WallTime {
  const date = new Date(time);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/** Reads `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS` (a fraction is dropped); null when it is no real time. */
export function parseWall(text: string): WallTime | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?$/.exec(text);
  if (!match) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => (part === undefined ? 0 : Number(part)));
  const wall = { year, month, day, hour, minute, second };
  // The calendar itself refuses 30 February and 25 o'clock: they come back as another date.
  return printWall(fromUtc(asUtc(wall))) === printWall(wall) ? wall : null;
}

/** Prints `YYYY-MM-DD HH:MM:SS`, the form of the API. */
export function printWall(wall: WallTime): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${String(wall.year).padStart(4, '0')}-${two(wall.month)}-${two(wall.day)}`;
  return `${date} ${two(wall.hour)}:${two(wall.minute)}:${two(wall.second)}`;
}

// Making a formatter costs more than using it a thousand times.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(zone: string): Intl.DateTimeFormat {
  let made = formatters.get(zone);
  if (!made) {
    made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formatters.set(zone, made);
  }
  return made;
}

import { checkTimeZone, instantsOf, offsetAt } from './time-zone.ts';

/** A date-time of a record, placed on the time line with the help of a time zone. */
export interface Moment {
  /** As sent. */
  readonly text: string;
  /** Milliseconds since 1970; `new Date(epochMs)` is the instant. */
  readonly epochMs: number;
  /** Local time with its offset, such as `2024-03-10T01:30:00-05:00`. */
  readonly iso: string;
  /**
   * `exact`: there is one such instant. `repeated`: the clocks were set back and showed this time twice; the first one
   * is given. `skipped`: the clocks were set forward over it; the instant is that of the time as far after the gap.
   */
  readonly certainty: 'exact' | 'repeated' | 'skipped';
  /** The second instant of a repeated time. */
  readonly otherEpochMs?: number;
}

const shape = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d))?$/;

/** Reads `YYYY-MM-DD HH:MM:SS`, with or without a tenth, in a zone. Null for what is no such text or no such day. */
export function readMoment(text: string, zone: string): Moment | null {
  checkTimeZone(zone);
  const localMs = localTime(text);
  if (localMs === null) return null;
  const [first, second] = instantsOf(zone, localMs);
  const certainty = first === undefined ? 'skipped' : second === undefined ? 'exact' : 'repeated';
  // In a gap the offset from before it moves the time to just as far after it.
  const epochMs = first ?? localMs - offsetAt(zone, localMs - 86_400_000);
  const moment = { text, epochMs, iso: isoOf(epochMs, offsetAt(zone, epochMs)), certainty } as const;
  return second === undefined ? moment : { ...moment, otherEpochMs: second };
}

function localTime(text: string): number | null {
  const match = shape.exec(text);
  if (!match) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, tenth = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const date = new Date(0);
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, tenth * 100);
  return date.toISOString().startsWith(text.slice(0, 19).replace(' ', 'T')) ? date.getTime() : null;
}

function isoOf(epochMs: number, offsetMs: number): string {
  const local = new Date(epochMs + offsetMs).toISOString();
  const time = local.endsWith('.000Z') ? local.slice(0, 19) : local.slice(0, 21);
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const two = (part: number) => String(part).padStart(2, '0');
  return `${time}${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

import { day, formatNaive, parseTime, second, type TypedTime } from '@call-attribution/core/time';
import { argumentError } from './tool-error.ts';

function read(name: string, text: string): TypedTime {
  const time = parseTime(text);
  // The API counts in seconds: a fraction would be cut off and take in more calls than the agent meant.
  if (time !== null && time.millis % second === 0) return time;
  const zone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text.trim()) ? ' Times carry no time zone here.' : '';
  throw argumentError(
    `"${name}" is not a date of the calendar in the form YYYY-MM-DD or YYYY-MM-DD HH:MM:SS.${zone}`,
    `Write ${name} like 2026-11-01 or 2026-11-01 08:30:00.`,
  );
}

/** The first moment of a range that starts here, as the API writes times. */
export function startOf(name: string, text: string): string {
  return formatNaive(read(name, text).millis);
}

/** The first moment after an end: a day counts as a whole, so its end is the next day's start. */
export function endOf(name: string, text: string): string {
  const { millis, isWholeDay } = read(name, text);
  return formatNaive(isWholeDay ? millis + day : millis);
}

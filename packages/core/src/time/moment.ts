import { parseNaive } from './naive.ts';
import { checkTimeZone, formatOffset, type Instant, instantOf, offsetAt } from './zone.ts';

/** A date-time of a record, placed on the time line with the help of a time zone. */
export interface Moment extends Instant {
  /** The date-time as the API sent it. */
  readonly text: string;
  /** Local time with its offset, such as `2024-03-10T01:30:00-05:00`. */
  readonly iso: string;
}

const longest = 'YYYY-MM-DD HH:MM:SS.S'.length;

/**
 * Reads `YYYY-MM-DD HH:MM:SS`, with or without a tenth of a second, in a time zone. Null when the
 * text has another form or names a time that does not exist.
 *
 * @example
 * readMoment('2024-11-03 01:30:00', 'America/New_York')?.certainty; // repeated
 */
export function readMoment(text: string, zone: string): Moment | null {
  checkTimeZone(zone);
  const naive = text.length > longest ? Number.NaN : parseNaive(text);
  if (Number.isNaN(naive)) return null;
  const instant = instantOf(naive, zone);
  return { text, iso: isoOf(instant.epochMs, offsetAt(instant.epochMs, zone)), ...instant };
}

function isoOf(epochMs: number, offsetMs: number): string {
  const local = new Date(epochMs + offsetMs).toISOString();
  return `${local.slice(0, local.endsWith('.000Z') ? 19 : 21)}${formatOffset(offsetMs)}`;
}

import type { Call } from '@call-attribution/core';
import {
  formatNaive,
  formatOffset,
  instantsOf,
  naiveAt,
  offsetAt,
  parseTime,
} from '@call-attribution/core/time';
import type { Reason, SheetOptions } from './format.ts';

/** The moment a wall-clock text of the API means, or why it cannot be known. */
function momentOf(text: unknown, options: SheetOptions): { at: number } | { reason: Reason } {
  if (options.timeZone === null) return { reason: 'zone_missing' };
  const time = typeof text === 'string' ? parseTime(text) : null;
  if (!time) return { reason: 'time_unreadable' };
  const [first, second] = instantsOf(Math.floor(time.millis / 1000) * 1000, options.timeZone);
  if (first === undefined) return { reason: 'time_not_in_zone' };
  if (second === undefined) return { at: first };
  if (options.repeatedHour === 'first') return { at: first };
  return options.repeatedHour === 'second' ? { at: second } : { reason: 'time_twice_in_zone' };
}

/**
 * When a call began and when its conversion is booked. The conversion is the end of the talk, because tools want it
 * after the call; a call without talk converts one second after its start.
 */
export function callTimes(
  call: Call,
  options: SheetOptions,
): { start: number; end: number } | { reason: Reason } {
  const start = momentOf(call.date_added, options);
  if ('reason' in start) return start;
  const end = momentOf(call.talk_end, options);
  return { start: start.at, end: 'at' in end && end.at > start.at ? end.at : start.at + 1000 };
}

/** When the visit with the click began, as far as the record tells; the call itself when it does not. */
export function clickTime(call: Call, start: number, options: SheetOptions): number {
  const shown = momentOf(call.displayed_timestamp, options);
  return 'at' in shown ? Math.min(shown.at, start) : start;
}

/** `2026-11-20 14:03:00-0500`: local time and offset, right on both sides of a clock change. */
export function withOffset(at: number, zone: string): string {
  return `${localTime(at, zone)}${formatOffset(offsetAt(at, zone)).replace(':', '')}`;
}

/** `2026-11-20 14:03:00` on the clocks of the zone. */
export function localTime(at: number, zone: string): string {
  return formatNaive(naiveAt(at, zone));
}

/** `11/20/2026 7:03:00 PM` in UTC, the form of Microsoft's sheets. */
export function americanUtc(at: number): string {
  const text = formatNaive(at);
  const hour = Number(text.slice(11, 13));
  return `${month(text)}/${date(text)}/${text.slice(0, 4)} ${hour % 12 || 12}${text.slice(13)} ${hour < 12 ? 'AM' : 'PM'}`;
}

const month = (text: string): number => Number(text.slice(5, 7));
const date = (text: string): number => Number(text.slice(8, 10));

/** `2026-11-20T19:03:00Z`. */
export function isoUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** `11/20/2026` on the clocks of the zone. */
export function americanDate(at: number, zone: string): string {
  const text = localTime(at, zone);
  return `${text.slice(5, 7)}/${text.slice(8, 10)}/${text.slice(0, 4)}`;
}

import type { Call } from '@call-attribution/core';
import type { Reason, SheetOptions } from './format.ts';
import { fromUtc, instantsOf, offsetAt, parseWall, printWall, wallTimeAt } from './zone.ts';

/** The moment a wall-clock text of the API means, or why it cannot be known. */
function momentOf(text: unknown, options: SheetOptions): { at: number } | { reason: Reason } {
  if (options.timeZone === null) return { reason: 'zone_missing' };
  const wall = typeof text === 'string' ? parseWall(text) : null;
  if (!wall) return { reason: 'time_unreadable' };
  const instants = instantsOf(wall, options.timeZone);
  const [first, second] = instants;
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

/** `2026-11-20 14:03:00-0500`: wall clock and offset, right on both sides of a clock change. */
export function withOffset(at: number, zone: string): string {
  const minutes = Math.round(offsetAt(at, zone) / 60_000);
  const sign = minutes < 0 ? '-' : '+';
  const two = (value: number): string => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${printWall(wallTimeAt(at, zone))}${sign}${two(Math.floor(size / 60))}${two(size % 60)}`;
}

/** `11/20/2026 7:03:00 PM` in UTC, the form of Microsoft's sheets. */
export function americanUtc(at: number): string {
  const { year, month, day, hour, minute, second } = fromUtc(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${month}/${day}/${year} ${hour % 12 || 12}:${two(minute)}:${two(second)} ${hour < 12 ? 'AM' : 'PM'}`;
}

/** `2026-11-20T19:03:00Z`. */
export function isoUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** `11/20/2026` on the wall of the zone. */
export function americanDate(at: number, zone: string): string {
  const { year, month, day } = wallTimeAt(at, zone);
  return `${String(month).padStart(2, '0')}/${String(day).padStart(2, '0')}/${year}`;
}

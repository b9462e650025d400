import { formatNaive, formatOffset, naiveAt, offsetAt } from '@call-attribution/core/time';

/** `2026-11-20 14:03:00` on the clocks of the time zone. */
export function localTime(at: number, zone: string | null): string {
  return formatNaive(naiveAt(at, zone ?? 'UTC'));
}

/** `2026-11-20 14:03:00-0500`: local time and offset, right on both sides of a clock change. */
export function withOffset(at: number, zone: string | null): string {
  return `${localTime(at, zone)}${formatOffset(offsetAt(at, zone ?? 'UTC')).replace(':', '')}`;
}

/** `11/20/2026` on the clocks of the time zone. */
export function americanDate(at: number, zone: string | null): string {
  const text = localTime(at, zone);
  return `${text.slice(5, 7)}/${text.slice(8, 10)}/${text.slice(0, 4)}`;
}

/** `11/20/2026 7:03:00 PM` in UTC. */
export function americanUtc(at: number): string {
  const text = formatNaive(at);
  const hour = Number(text.slice(11, 13));
  const date = `${Number(text.slice(5, 7))}/${Number(text.slice(8, 10))}/${text.slice(0, 4)}`;
  return `${date} ${hour % 12 || 12}${text.slice(13)} ${hour < 12 ? 'AM' : 'PM'}`;
}

/** `2026-11-20T19:03:00Z`. */
export function isoUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

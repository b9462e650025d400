import type { Client } from '@call-attribution/core';
import {
  day,
  formatNaive,
  minute,
  naiveAt,
  offsetAt,
  parseNaive,
} from '@call-attribution/core/time';
import { duration } from '../terminal/numbers.ts';
import { apiSource } from './source.ts';

/** The time zones in which the newest calls of an account are of now. */
export interface FoundZone {
  /** The most usual of them first. */
  readonly zones: readonly [string, ...string[]];
  /** Why, as a sentence. */
  readonly reason: string;
}

/** Fewer calls of a day do not say that the newest one is of this minute. */
const enough = 20;
const quarter = 15 * minute;

/** Of zones whose clocks show the same, people mean these first. */
const usual = [
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Phoenix',
  'America/Los_Angeles',
  'America/Anchorage',
  'Pacific/Honolulu',
  'Europe/London',
  'Europe/Berlin',
];

/**
 * Finds the time zone of an account by its newest calls and the clock of the server: where a day
 * has many calls, the newest is of now, and a zone is ahead or behind by whole quarters of an hour.
 * Null where that says nothing.
 */
export async function foundZone(client: Client, signal: AbortSignal): Promise<FoundZone | null> {
  const { calls, isUnordered } = await apiSource(client, signal).latest({ clauses: [] }, enough);
  const times = calls.map(({ date_added }) => parseNaive(String(date_added)));
  const newest = Math.max(...times);
  const oldest = Math.min(...times);
  if (isUnordered || calls.length < enough || !(newest - oldest < day)) return null;

  const { meta } = await client.listCalls({ rows: 1, signal });
  const now = Date.parse(meta.headers.date ?? '');
  const ahead = newest - now;
  const offset = Math.round(ahead / quarter) * quarter;
  if (!(Math.abs(ahead - offset) <= 5 * minute)) return null;

  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const all = [own, ...usual, 'UTC', ...Intl.supportedValuesOf('timeZone')];
  const fitting = [...new Set(all.filter((zone) => offsetAt(now, zone) === offset))];
  const [first] = fitting;
  if (first === undefined) return null;
  const side = ahead < 0 ? 'behind' : 'ahead of';
  const distance = Math.abs(ahead) < minute ? 'of now in' : `${duration(Math.abs(ahead))} ${side}`;
  const zones: FoundZone['zones'] = [first, ...fitting.slice(1, 3)];
  return { zones, reason: `the newest call is ${distance} UTC, as in ${zones.join(', ')}` };
}

/**
 * What is wrong with a time zone by the newest call: in it, that call has yet to come. Null where
 * that is not so.
 */
export function futureIn(newest: string, zone: string, now: number): string | null {
  const ahead = parseNaive(newest) - naiveAt(now, zone);
  return ahead > 5 * minute
    ? `the newest call, of ${newest.slice(0, 19)}, is in the future: in ${zone} it is ${formatNaive(naiveAt(now, zone))}`
    : null;
}

import {
  addDays,
  addMonths,
  endOfPeriod,
  formatNaive,
  parseNaive,
  parseTime,
  second,
  type TypedTime,
} from '@call-attribution/core/time';
import { ToolError } from '../text/failures.ts';

/** `from` and `to` as they were typed. */
export interface PeriodArguments {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A half-open period of naive times; null where it is open. */
export interface Period {
  readonly from: string | null;
  readonly to: string | null;
}

/** Reads a period. `today` is the date of today, `YYYY-MM-DD`. Throws an error that names the nearest right time. */
export function readPeriod({ from, to }: PeriodArguments, today: string): Period {
  const start = from === undefined ? null : startOf('from', from, today);
  const end = to === undefined ? null : endOf('to', to, today);
  if (start !== null && end !== null && start >= end) {
    const areDays = from !== undefined && to !== undefined && start.slice(0, 10) > to.slice(0, 10);
    const swapped = areDays && /^\d/.test(to) ? `Use from="${to}" and to="${from}".` : undefined;
    throw new ToolError({ code: 'empty_range', start, end, swapped });
  }
  return { from: start, to: end };
}

/** The first moment of a start, as the API writes times. */
export function startOf(argument: string, text: string, today: string): string {
  const month = monthOf(text);
  return formatNaive(month ?? readTime(argument, text, today).millis);
}

/** The first moment after an end. */
export function endOf(argument: string, text: string, today: string): string {
  const month = monthOf(text);
  if (month !== null) return formatNaive(addMonths(month, 1));
  return formatNaive(endOfPeriod(readTime(argument, text, today)));
}

/** A month as people write it, `2026-10`. */
function monthOf(text: string): number | null {
  const start = /^\s*\d{4}-\d\d\s*$/.test(text) ? parseNaive(`${text.trim()}-01 00:00:00`) : Number.NaN;
  return Number.isNaN(start) ? null : start;
}

function readTime(argument: string, text: string, today: string): TypedTime {
  const relative = relativeDay(text.trim().toLowerCase(), today);
  const time = parseTime(relative ?? text);
  // The API counts in seconds: it would cut off a fraction and match more calls than the agent meant.
  if (time !== null && time.millis % second === 0) return time;
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text.trim());
  throw new ToolError({ code: 'invalid_time', argument, text, hasZone, nearest: nearestTime(text.trim()) });
}

/** `today`, `yesterday` and `-28d` as dates. */
function relativeDay(text: string, today: string): string | null {
  if (text === 'today' || text === 'now') return today;
  if (text === 'yesterday') return addDays(today, -1);
  const [, count, unit] = /^[-−]?(\d{1,4})\s*(d|w|m|y)[a-z]*$/.exec(text) ?? [];
  if (count === undefined) return null;
  const start = parseNaive(`${today} 00:00:00`);
  if (unit === 'd' || unit === 'w') return addDays(today, -Number(count) * (unit === 'w' ? 7 : 1));
  return formatNaive(addMonths(start, -Number(count) * (unit === 'y' ? 12 : 1))).slice(0, 10);
}

/** The time that was probably meant: the last day of a month that is shorter, or the same without zone and fraction. */
function nearestTime(text: string): string | undefined {
  const [, year, month, date, rest = ''] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(.*)$/.exec(text) ?? [];
  if (year === undefined || Number(month) < 1 || Number(month) > 12 || Number(date) < 1) return undefined;
  const two = (part: string | number | undefined): string => String(part).padStart(2, '0');
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const dated = `${year}-${two(month)}-${two(Math.min(Number(date), last))}`;
  if (Number(date) > 31) return undefined;
  const clock = /^[ T](\d\d:\d\d(?::\d\d)?)/.exec(rest)?.[1];
  const whole = clock === undefined ? dated : `${dated} ${clock}`;
  return parseTime(whole) === null ? dated : whole;
}

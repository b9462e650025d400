import { addMonths, day, formatNaive, parseNaive, parseTime, second } from '@call-attribution/core/time';
import { sayPeriod } from '@call-attribution/questions';
import { ToolError } from '../text/failures.ts';

/** The times of a question as they were typed. */
export interface PeriodArguments {
  readonly period?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A half-open period of naive times; null where it is open. */
export interface Period {
  readonly from: string | null;
  readonly to: string | null;
}

/** Reads a period. `now` is a naive time. Throws an error that names the nearest right time. */
export function readPeriod({ period, from, to }: PeriodArguments, now: number): Period {
  if (period !== undefined) {
    if (from !== undefined || to !== undefined) throw new ToolError({ code: 'two_periods' });
    return readSaid('period', period, now);
  }
  const start = from === undefined ? null : startOf('from', from, now);
  const end = to === undefined ? null : endOf('to', to, now);
  if (start !== null && end !== null && start >= end) {
    const areDays = from !== undefined && to !== undefined && start.slice(0, 10) > to.slice(0, 10);
    const swapped = areDays && /^\d/.test(to) ? `Use from="${to}" and to="${from}".` : undefined;
    throw new ToolError({ code: 'empty_range', start, end, swapped });
  }
  return { from: start, to: end };
}

/** A period in words: `last month`, `2026-Q3`, `2026-09-01..2026-09-30`. */
export function readSaid(argument: string, text: string, now: number): Period {
  const said = sayPeriod(relative(text, now), now);
  if (said === null || isFraction(said.from) || isFraction(said.to)) throw invalid(argument, text);
  const { from, to } = said;
  if (from !== null && to !== null && from >= to)
    throw new ToolError({
      code: 'empty_range',
      start: formatNaive(from),
      end: formatNaive(to),
      swapped: 'Write the earlier time first.',
    });
  return { from: from === null ? null : formatNaive(from), to: to === null ? null : formatNaive(to) };
}

/** The first moment of a start, as the API writes times. */
const startOf = (argument: string, text: string, now: number): string => readEnd(argument, text, now).from;

/** The first moment after an end. */
const endOf = (argument: string, text: string, now: number): string => readEnd(argument, text, now).to;

function readEnd(argument: string, text: string, now: number): { from: string; to: string } {
  const said = sayPeriod(relative(text, now), now);
  // The API counts in seconds: it would cut off a fraction and match more calls than the agent meant.
  if (said?.from == null || said.to === null || isFraction(said.from)) throw invalid(argument, text);
  return { from: formatNaive(said.from), to: formatNaive(said.to) };
}

const isFraction = (millis: number | null): boolean => millis !== null && millis % second !== 0;

/** `-28d` is the day 28 days ago; `now` is today. */
function relative(text: string, now: number): string {
  const words = text.trim().toLowerCase();
  if (words === 'now') return 'today';
  const [, count, unit = ''] = /^[-−](\d{1,4})\s*(d|w|m|y)[a-z]*$/.exec(words) ?? [];
  if (count === undefined) return text;
  const months = unit === 'm' ? Number(count) : unit === 'y' ? 12 * Number(count) : 0;
  const days = unit === 'd' ? Number(count) : unit === 'w' ? 7 * Number(count) : 0;
  return formatNaive(addMonths(now, -months) - days * day).slice(0, 10);
}

const invalid = (argument: string, text: string): ToolError => {
  const hasZone = /\d(?:Z|[+-]\d\d:?\d\d)$/i.test(text.trim());
  return new ToolError({ code: 'invalid_time', argument, text, hasZone, nearest: nearestTime(text.trim()) });
};

/** The time that was probably meant: the last day of a month that is shorter, or the same without zone and fraction. */
function nearestTime(text: string): string | undefined {
  const [, year, month, date, rest = ''] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(.*)$/.exec(text) ?? [];
  if (year === undefined || Number(month) < 1 || Number(month) > 12 || Number(date) < 1) return undefined;
  const two = (part: string | number | undefined): string => String(part).padStart(2, '0');
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const dated = `${year}-${two(month)}-${two(Math.min(Number(date), last))}`;
  if (Number(date) > 31 || Number.isNaN(parseNaive(`${dated} 00:00:00`))) return undefined;
  const clock = /^[ T](\d\d:\d\d(?::\d\d)?)/.exec(rest)?.[1];
  const whole = clock === undefined ? dated : `${dated} ${clock}`;
  return parseTime(whole) === null ? dated : whole;
}

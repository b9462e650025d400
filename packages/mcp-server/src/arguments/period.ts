import { addMonths, day, formatNaive } from '@call-attribution/core/time';
import { checkZone, readPeriod as readSaid, type SaidPeriod, sayPeriod } from '@call-attribution/questions';
import { questionFailure } from '../text/question-failure.ts';

/** A half-open period of naive times; null where it is open. */
export interface Period {
  readonly from: string | null;
  readonly to: string | null;
}

/** Reads a period as agents write it, in the zone of the answer. */
export function readPeriod(
  { period, from, to }: SaidPeriod,
  inZone: string | undefined,
  { now: nowIn, timeZone }: { now(zone?: string): number; readonly timeZone?: string },
): Period {
  try {
    if (inZone !== undefined) checkZone('time_zone', inZone);
    const now = nowIn(inZone);
    const settings = { timeZone: inZone ?? timeZone };
    const said = readSaid({ period, from, to }, (words) => sayPeriod(relative(words, now), now, settings));
    const [start, end] = [said.from, said.to].map((time) => (time === null ? null : formatNaive(time)));
    return { from: start ?? null, to: end ?? null };
  } catch (error) {
    throw questionFailure(error);
  }
}

const monthsOf: Readonly<Record<string, number>> = { m: 1, y: 12 };
const daysOf: Readonly<Record<string, number>> = { d: 1, w: 7 };

/** `-28d` is the day 28 days ago; `now` is today. */
function relative(text: string, now: number): string {
  const words = text.trim().toLowerCase();
  if (words === 'now') return 'today';
  const [, count, unit = ''] = /^[-−](\d{1,4})\s*(d|w|m|y)[a-z]*$/.exec(words) ?? [];
  if (count === undefined) return text;
  const months = Number(count) * (monthsOf[unit] ?? 0);
  const days = Number(count) * (daysOf[unit] ?? 0);
  return formatNaive(addMonths(now, -months) - days * day).slice(0, 10);
}

import { parseTime } from '@call-attribution/core/time';

/**
 * The time that was probably meant: the last day of a month that is shorter, or the same without
 * zone and fraction.
 */
export function nearestTime(text: string): string | null {
  const [, year, month, date, rest = ''] =
    /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(.*)$/.exec(text) ?? [];
  if (year === undefined || Number(month) < 1 || Number(month) > 12 || Number(date) < 1)
    return null;
  const two = (part: string | number | undefined): string => String(part).padStart(2, '0');
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const dated = `${year}-${two(month)}-${two(Math.min(Number(date), last))}`;
  if (parseTime(dated) === null) return null;
  const clock = /^[ T](\d\d:\d\d(?::\d\d)?)/.exec(rest)?.[1];
  const whole = clock === undefined ? dated : `${dated} ${clock}`;
  return parseTime(whole) === null ? dated : whole;
}

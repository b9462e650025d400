import { argumentError } from './tool-error.ts';

const form = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.0+)?)?)?$/;

const pad = (value: number): string => String(value).padStart(2, '0');

function read(name: string, text: string): { date: Date; wholeDay: boolean } {
  const match = form.exec(text.trim());
  const [year, month, day, hour = 0, minute = 0, second = 0] = (match ?? [])
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0, hour, minute, second));
  const real =
    match !== null &&
    date.getUTCMonth() + 1 === month &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  if (!real) {
    const zone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text.trim()) ? ' Times carry no time zone here.' : '';
    throw argumentError(
      `"${name}" is not a date of the calendar in the form YYYY-MM-DD or YYYY-MM-DD HH:MM:SS.${zone}`,
      `Write ${name} like 2026-11-01 or 2026-11-01 08:30:00.`,
    );
  }
  return { date, wholeDay: match[4] === undefined };
}

function write(date: Date): string {
  const day = `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
  return `${day} ${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`;
}

/** The first moment a start stands for, as the API writes times. */
export function startOf(name: string, text: string): string {
  return write(read(name, text).date);
}

/** The first moment after an end: a day counts as a whole, so its end is the next day's start. */
export function endOf(name: string, text: string): string {
  const { date, wholeDay } = read(name, text);
  return write(wholeDay ? new Date(date.getTime() + 86_400_000) : date);
}

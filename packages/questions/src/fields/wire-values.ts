import type { FieldType } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';

// What a value of a record says, whatever form it was sent in: the text that a typed column holds.

const tenths = /^(-?)0*(\d{1,8})(?:\.(\d)0*)?$/;
const paddedInteger = /^(-?)0*(\d{1,9})$/;

/** What the typed column of a field holds for a value, as a string that a database casts to the type of the column. */
export function columnText(type: FieldType, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (type === 'string' && typeof value === 'string') return wellFormed(value);
  switch (type) {
    case 'datetime':
    case 'datetime-tenths':
      return typeof value === 'string' && isStoredTime(value) ? value : null;
    case 'decimal-string':
      return decimalText(value);
    case 'integer-string':
    case 'integer':
      return integerText(value, type === 'integer');
    default:
      return wellFormed(typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
}

function decimalText(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const [, sign, whole, tenth = '0'] = tenths.exec(String(value)) ?? [];
  if (whole === undefined) return null;
  const text = `${Number(whole)}.${tenth}`;
  return sign && text !== '0.0' ? `-${text}` : text;
}

function integerText(value: unknown, isWide: boolean): string | null {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && (isWide || Math.abs(value) < 1e9) ? String(value) : null;
  }
  const [, sign, digits] = typeof value === 'string' ? (paddedInteger.exec(value) ?? []) : [];
  return digits === undefined ? null : String(Number(`${sign}${digits}`));
}

// Where days begin, so that each is looked up in the calendar once: by the date as one number, NaN for one that does not exist.
const days = new Map<number, number>();
const mostDays = 5000;
// Calls come in the order of their times, mostly.
let lastDate = -1;
let lastStart = Number.NaN;

function startOfDate(text: string): number {
  const date = digits(text, 0, 4) * 10_000 + digits(text, 5, 2) * 100 + digits(text, 8, 2);
  if (date === lastDate) return lastStart;
  let start = days.get(date);
  if (start === undefined) {
    start = date < 10_000 ? Number.NaN : parseNaive(`${text.slice(0, 10)} 00:00:00`);
    if (days.size >= mostDays) days.clear();
    days.set(date, start);
  }
  lastDate = date;
  lastStart = start;
  return start;
}

/** Some digits as a number; NaN when one is something else. */
function digits(text: string, at: number, count: number): number {
  let number = 0;
  for (let i = at; i < at + count; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

const [dash, space, colon] = [45, 32, 58];

/** A stored time in naive milliseconds; NaN for what is none. DuckDB writes the year 0 in another way, so it has no times. */
export function storedTime(text: string): number {
  const isForm =
    text.charCodeAt(4) === dash &&
    text.charCodeAt(7) === dash &&
    text.charCodeAt(10) === space &&
    text.charCodeAt(13) === colon &&
    text.charCodeAt(16) === colon;
  if (!isForm) return Number.NaN;
  const hours = digits(text, 11, 2);
  const minutes = digits(text, 14, 2);
  const seconds = digits(text, 17, 2);
  if (!(hours < 24 && minutes < 60 && seconds < 60)) return Number.NaN;
  const millis = startOfDate(text) + ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (text.length === 19) return millis;
  const fraction = /^\.(\d{1,3})$/.exec(text.slice(19))?.[1];
  return fraction === undefined ? Number.NaN : millis + Number(fraction.padEnd(3, '0'));
}

/** Is it a time that exists, from the year 1 on? */
export const isStoredTime = (text: string): boolean => !Number.isNaN(storedTime(text));

/** Has the string no half of a surrogate pair? UTF-8, and so the database, cannot hold one. */
export const isWellFormed = (text: string): boolean => text.isWellFormed();

/** The string with the replacement character where half of a surrogate pair was. */
const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

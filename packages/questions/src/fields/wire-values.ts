import type { FieldType } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';

// What a value of a record says, whatever form it was sent in: the text that a typed column holds.

const tenths = /^(-?)0*(\d{1,8})(?:\.(\d)0*)?$/;
const paddedInteger = /^(-?)0*(\d{1,9})$/;

/** What the typed column of a field holds for a value, as a string that a database casts to the type of the column. */
export function columnText(type: FieldType, value: unknown): string | null {
  if (value === null || value === undefined) return null;
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

// Days that exist, so that each is looked up in the calendar once.
const days = new Map<string, boolean>();
const mostDays = 5000;

/** Is it a time that exists, from the year 1 on? DuckDB writes the year 0 in another way. */
export function isStoredTime(text: string): boolean {
  const date = text.slice(0, 10);
  let exists = days.get(date);
  if (exists === undefined) {
    exists = date > '0001' && !Number.isNaN(parseNaive(`${date} 00:00:00`));
    if (days.size >= mostDays) days.clear();
    days.set(date, exists);
  }
  if (!exists || text.charCodeAt(10) !== 32) return false;
  return (
    below(text, 11, 24) &&
    text.charCodeAt(13) === 58 &&
    below(text, 14, 60) &&
    text.charCodeAt(16) === 58 &&
    below(text, 17, 60) &&
    hasFraction(text)
  );
}

function below(text: string, at: number, limit: number): boolean {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 && tens * 10 + ones < limit;
}

const hasFraction = (text: string): boolean => text.length === 19 || /^\.\d{1,3}$/.test(text.slice(19));

const loneSurrogate = /\p{Surrogate}/u;

/** Has the string no half of a surrogate pair? UTF-8, and so the database, cannot hold one. */
export const isWellFormed = (text: string): boolean => !loneSurrogate.test(text);

/** The string with the replacement character where half of a surrogate pair was. */
const wellFormed = (text: string): string => (isWellFormed(text) ? text : Buffer.from(text).toString());

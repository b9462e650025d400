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

/** A stored time in naive milliseconds; NaN for what is none. The year 0 has no times. */
export const storedTime = (text: string): number => (text.startsWith('0000') ? Number.NaN : parseNaive(text));

/** Is it a time that exists, from the year 1 on? */
const isStoredTime = (text: string): boolean => !Number.isNaN(storedTime(text));

/** The string with the replacement character where half of a surrogate pair was. */
const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

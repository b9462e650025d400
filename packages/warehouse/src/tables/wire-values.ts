import type { FieldType } from '@call-attribution/core';
import { isStoredTime, isWellFormed } from '@call-attribution/questions';

// A wire value has two sides here: what its typed column holds, and whether the column gives the value back as it was.
// Where it does not ("1.50", "007", 31 February), the column holds what can be measured, and `wire` holds the value.

const canonicalDecimal = /^-?(?:0|[1-9]\d{0,7})\.\d$/;
const canonicalInteger = /^(?:0|-?[1-9]\d{0,8})$/;

/** Would the typed column of a field give this value back exactly? */
export function isCanonical(type: FieldType, value: unknown): boolean {
  if (value === null) return true;
  switch (type) {
    case 'datetime':
      return typeof value === 'string' && value.length === 19 && isStoredTime(value);
    case 'datetime-tenths':
      return typeof value === 'string' && value.length === 21 && value[19] === '.' && isStoredTime(value);
    case 'decimal-string':
      return typeof value === 'string' && canonicalDecimal.test(value) && value !== '-0.0';
    case 'integer-string':
      return typeof value === 'string' && canonicalInteger.test(value);
    case 'integer':
      return Number.isSafeInteger(value) && !Object.is(value, -0);
    default:
      return typeof value === 'string' && isWellFormed(value);
  }
}

/** The wire value behind the text of a column. */
export function wireValue(type: FieldType, text: string | null): string | number | null {
  if (text === null) return null;
  if (type === 'integer') return Number(text);
  return type === 'datetime-tenths' && text.length === 19 ? `${text}.0` : text;
}

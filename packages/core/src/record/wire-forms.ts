// The forms of values that are sent as strings. Loops over characters instead of regular expressions: these run for
// every record, and the loops take about a third of the time.

function digits(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return to > from;
}

/** A whole number as a string: `7`, `-7`. */
export function isIntegerString(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return digits(value, value.charCodeAt(0) === 45 ? 1 : 0, value.length);
}

/** A decimal number as a string: `7`, `7.5`, `-0.1`. Without exponent and plus sign. */
export function isDecimalString(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const start = value.charCodeAt(0) === 45 ? 1 : 0;
  const point = value.indexOf('.');
  if (point < 0) return digits(value, start, value.length);
  return digits(value, start, point) && digits(value, point + 1, value.length);
}

/** `YYYY-MM-DD HH:MM:SS` by its shape; `readCall` checks that the day exists. */
export function isDateTime(value: unknown): boolean {
  return typeof value === 'string' && value.length === 19 && hasDateTimeShape(value);
}

/** `YYYY-MM-DD HH:MM:SS.S` by its shape. */
export function isDateTimeTenths(value: unknown): boolean {
  if (typeof value !== 'string' || value.length !== 21) return false;
  return value.charCodeAt(19) === 46 && digits(value, 20, 21) && hasDateTimeShape(value);
}

function hasDateTimeShape(t: string): boolean {
  return (
    t.charCodeAt(4) === 45 &&
    t.charCodeAt(7) === 45 &&
    t.charCodeAt(10) === 32 &&
    t.charCodeAt(13) === 58 &&
    t.charCodeAt(16) === 58 &&
    digits(t, 0, 4) &&
    digits(t, 5, 7) &&
    digits(t, 8, 10) &&
    digits(t, 11, 13) &&
    digits(t, 14, 16) &&
    digits(t, 17, 19)
  );
}

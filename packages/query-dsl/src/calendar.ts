/** Days of a month (1 to 12) in the Gregorian calendar. */
export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return 30 + ((month + (month >> 3)) & 1);
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

const two = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
};

/** Where the `YYYY-MM-DD HH:MM:SS` that starts at `at` ends, or -1 when there is no such date. */
export function dateEnd(text: string, at: number): number {
  const year = two(text, at) * 100 + two(text, at + 2);
  const month = two(text, at + 5);
  const day = two(text, at + 8);
  return year >= 0 &&
    text.charCodeAt(at + 4) === 45 &&
    month >= 1 &&
    month <= 12 &&
    text.charCodeAt(at + 7) === 45 &&
    day >= 1 &&
    day <= daysInMonth(year, month) &&
    text.charCodeAt(at + 10) === 32 &&
    two(text, at + 11) < 24 &&
    text.charCodeAt(at + 13) === 58 &&
    two(text, at + 14) < 60 &&
    text.charCodeAt(at + 16) === 58 &&
    two(text, at + 17) < 60
    ? at + 19
    : -1;
}

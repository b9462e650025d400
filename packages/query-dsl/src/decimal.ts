const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Where the decimal number that starts at `at` ends, or -1 when there is none. */
export function decimalEnd(text: string, at: number): number {
  let pos = text.charCodeAt(at) === 45 ? at + 1 : at;
  if (!isDigit(text.charCodeAt(pos))) return -1;
  while (isDigit(text.charCodeAt(pos))) pos++;
  if (text.charCodeAt(pos) === 46) {
    if (!isDigit(text.charCodeAt(++pos))) return -1;
    while (isDigit(text.charCodeAt(pos))) pos++;
  }
  // Only a very long number can be too large for a double.
  return pos - at < 300 || Number.isFinite(Number(text.slice(at, pos))) ? pos : -1;
}

/** A decimal number without needless zeros: `007.50` is `7.5`. Digits are never rounded. */
export function shortest(text: string): string {
  // Loops and not /0+$/: a pattern would take quadratic time on a long run of zeros.
  const sign = text.charCodeAt(0) === 45 ? 1 : 0;
  let start = sign;
  let end = text.length;
  if (text.includes('.')) {
    while (text.charCodeAt(end - 1) === 48) end--;
    if (text.charCodeAt(end - 1) === 46) end--;
  }
  while (text.charCodeAt(start) === 48 && start + 1 < end && text.charCodeAt(start + 1) !== 46) start++;
  const digits = text.slice(start, end);
  return sign === 1 && digits !== '0' ? `-${digits}` : digits;
}

/** A number as decimal text without exponent: 1e21 is `1000000000000000000000`. */
export function decimalText(value: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value));
  if (match === null) return shortest(String(value));
  const [, sign = '', first = '', rest = '', exponent] = match;
  const shift = Number(exponent);
  const digits = first + rest;
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}` : sign + digits.padEnd(shift + 1, '0');
}

/** A number as decimal text without exponent: 1e21 is `1000000000000000000000`. */
export function decimalText(value: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value));
  if (match === null) return String(value);
  const [, sign = '', first = '', rest = '', exponent] = match;
  const shift = Number(exponent);
  const digits = first + rest;
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}` : sign + digits.padEnd(shift + 1, '0');
}

/** A decimal number without needless zeros: `007.50` is `7.5`. Digits are never rounded. */
export const shortest = (text: string): string =>
  // Only what starts with a sign or a zero, or ends with a zero, needs the patterns. Each takes linear time.
  text < '1' || text.endsWith('0')
    ? text
        .replace(/^(-?)0+(?=\d+(\.|$))/, '$1')
        .replace(/(\.\d*[1-9])0*$|\.0*$/, '$1')
        .replace(/^-0$/, '0')
    : text;

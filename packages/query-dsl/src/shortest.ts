/** A decimal number without needless zeros: `007.50` is `7.5`. Digits are never rounded. */
export const shortest = (text: string): string =>
  // Most numbers need no change. Each pattern takes linear time, also on a long run of zeros.
  text[1] && (text < '1' || (text.endsWith('0') && text.includes('.')))
    ? text.replace(/^(-?)0+(?=\d+(\.|$))/, '$1').replace(/(\.\d*[1-9])0*$|\.0*$/, '$1')
    : text;

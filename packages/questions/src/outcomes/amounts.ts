import type { Placed } from './dates.ts';
import { type Outcome, refuseRow } from './outcome.ts';

const signs: Readonly<Record<string, string>> = { '€': 'EUR', '£': 'GBP', '¥': 'JPY', '₹': 'INR' };

/** A number with what stands around it: a currency, and nothing else. */
const written = /^(?:([A-Z]{3})|([$€£¥₹]))?\s*([\d.,'\s]*\d)\s*(?:([A-Z]{3})|([$€£¥₹]))?$/u;

/** How one file separates: what comes before the cents, and what between thousands. */
type Decimal = '.' | ',';

/** What a number says of the decimal sign: that sign, null for nothing, or that it is unclear. */
function decimalIn(digits: string): Decimal | 'unclear' | null {
  const marks: readonly string[] = digits.match(/[.,]/g) ?? [];
  const last = marks.at(-1) as Decimal | undefined;
  if (last === undefined) return null;
  const other = last === '.' ? ',' : '.';
  if (marks.includes(other)) return last;
  if (marks.length > 1) return other;
  return /[.,]\d{3}$/.test(digits) ? 'unclear' : last;
}

/** What is said of amounts that cannot be taken. */
interface AmountWords {
  readonly negative: string;
  readonly missing: string;
}

const ofSales: AmountWords = {
  negative:
    'its value is negative: write what was sold as an amount, and take a sale back by its status, such as refunded',
  missing: 'it has no value: write what it is worth, or 0 to take it back',
};

/**
 * Reads the amounts of one file. Whether a comma comes before the cents is told by a row in which it
 * can be nothing else, otherwise refused: 1,250 may be a thousand and something, or one and a quarter.
 */
export function readAmounts(
  cells: readonly Placed<string | number>[],
  words: AmountWords = ofSales,
): readonly (Pick<Outcome, 'value'> & { readonly currency: string | null })[] {
  const read = cells.map((cell) => {
    const { place, text } = cell;
    if (typeof text === 'number' && text >= 0) return { place, currency: null, digits: text };
    const trimmed = String(text).trim();
    if (/^\(.*\)$|^[^\d]*[-−]\s*[^\d]*\d/.test(trimmed)) throw refuseRow(place, words.negative);

    const found = written.exec(trimmed);
    const [, code, sign, digits = '', codeAfter, signAfter] = found ?? [];
    if (found === null)
      throw refuseRow(
        place,
        trimmed === '' ? words.missing : 'its value is no amount such as 1250.00 or 1250.00 USD',
      );

    const mark = sign ?? signAfter;
    const currency = code ?? codeAfter ?? (mark === undefined ? null : (signs[mark] ?? mark));
    return { place, currency, digits: digits.replace(/[\s']/g, '') };
  });

  const told = new Map<Decimal | 'unclear', string>();
  for (const { place, digits } of read) {
    const mark = typeof digits === 'number' ? null : decimalIn(digits);
    if (mark !== null && !told.has(mark)) told.set(mark, place);
  }

  const [point, comma, unclear] = (['.', ',', 'unclear'] as const).map((mark) => told.get(mark));
  if (point !== undefined && comma !== undefined)
    throw refuseRow(
      comma,
      `its value has a comma before the cents, and that of ${point} a point: write all values alike`,
    );
  if (unclear !== undefined && point === undefined && comma === undefined)
    throw refuseRow(
      unclear,
      'its value has one separator and three digits after it, which may be thousands or a fraction, and no row tells: write 1250.00',
    );

  const decimal = comma === undefined ? '.' : ',';
  return read.map(({ place, currency, digits }) => {
    if (typeof digits === 'number') return { value: digits, currency };
    const [whole = '', fraction = ''] = digits.split(decimal);
    const value = Number(`${whole.replace(/[.,]/g, '')}.${fraction || '0'}`);
    if (!Number.isFinite(value) || digits.split(decimal).length > 2 || /[.,]/.test(fraction))
      throw refuseRow(place, 'its value is no amount such as 1250.00 or 1250.00 USD');
    return { value, currency };
  });
}

import { daysInMonth } from './calendar.ts';
import type { Bound, Clause, Filter, FlagClause, RangeClause } from './filter.ts';
import { type Field, type FieldType, fieldsOf, limits, type ParseOptions } from './filter.ts';
import { shortest } from './print.ts';

// Reads filters that are right, and only those: the first mistake ends it, and no time is spent on saying what it is.
// `TolerantReader` reads the others a second time and explains them. Each method of the scanner reads one production of
// the grammar, which stands above it. It either moves `pos` past what it has read or gives up.

const space = 32;
const star = 42;
const comma = 44;
const minus = 45;
const point = 46;
const zero = 48;
const one = 49;
const colon = 58;
const letterT = 84;
const letterO = 79;
const openInclusive = 91;
const closeInclusive = 93;
const openExclusive = 123;
const closeExclusive = 125;

/** Digits before the decimal point. With at most 99 of them, no number is too large for a double. */
export const mostDigits = 99;

/** The filter in a string, or undefined when the text is not a filter. */
export function scan(text: string, options: ParseOptions): Filter | undefined {
  if (text.length > (options.maxLength ?? limits.maxLength)) return undefined;
  return new Scanner(text, 0).filter(fieldsOf(options), options.maxClauses ?? limits.maxClauses);
}

/** The clause at `start`, or undefined when there is none. More text may follow its end. */
export function scanClause(text: string, start: number, fields: readonly Field[]): Clause | undefined {
  return new Scanner(text, start).clause(fields);
}

/** Whether the whole text is a bound of the type; `*` is not one. */
export function isBound(text: string, type: FieldType): boolean {
  const scanner = new Scanner(text, 0);
  return (type === 'date' ? scanner.date() : scanner.decimal()) && scanner.pos === text.length;
}

class Scanner {
  pos: number;
  private readonly text: string;
  // About the bound that was read last: its value, for comparing it, and whether its text is in the shortest form.
  private value = 0;
  private isShortest = true;

  constructor(text: string, pos: number) {
    this.text = text;
    this.pos = pos;
  }

  /** filter = spaces [ clause { spaces "," spaces clause } spaces ] */
  filter(fields: readonly Field[], maxClauses: number): Filter | undefined {
    const { text } = this;
    const clauses: Clause[] = [];
    this.spaces();
    if (this.pos === text.length) return { clauses };
    while (clauses.length < maxClauses) {
      const clause = this.clause(fields);
      if (clause === undefined) return undefined;
      clauses.push(clause);
      this.spaces();
      if (this.pos === text.length) return { clauses };
      if (text.charCodeAt(this.pos++) !== comma) return undefined;
      this.spaces();
    }
    return undefined;
  }

  /** clause = field ":" ( flag | range ) */
  clause(fields: readonly Field[]): Clause | undefined {
    const { text, pos: start } = this;
    for (const { name, type } of fields) {
      const nameEnd = start + name.length;
      if (nameEnd < text.length && text.charCodeAt(nameEnd) === colon && text.startsWith(name, start)) {
        this.pos = nameEnd + 1;
        return type === 'flag' ? this.flag(start) : this.range(start, name, type);
      }
    }
    return undefined;
  }

  /** flag = "1" */
  private flag(start: number): FlagClause | undefined {
    if (this.code() !== one) return undefined;
    return { kind: 'flag', field: 'inc_gce', start, end: ++this.pos };
  }

  /** range = ( "[" | "{" ) bound " TO " bound ( "]" | "}" ), the lower bound not above the upper one */
  private range(start: number, field: string, type: FieldType): RangeClause | undefined {
    const open = this.code();
    if (open !== openInclusive && open !== openExclusive) return undefined;
    const lowerStart = ++this.pos;
    if (!this.bound(type)) return undefined;
    const lower = this.boundFrom(lowerStart, open === openInclusive);
    const lowerValue = this.value;
    if (!this.to()) return undefined;
    const upperStart = this.pos;
    if (!this.bound(type)) return undefined;
    const close = this.code();
    if (close !== closeInclusive && close !== closeExclusive) return undefined;
    const upper = this.boundFrom(upperStart, close === closeInclusive);
    if (lower !== null && upper !== null && lowerValue > this.value) return undefined;
    return { kind: 'range', field, lower, upper, start, end: ++this.pos };
  }

  /** bound = "*" | date | decimal, as the type of the field says */
  private bound(type: FieldType): boolean {
    if (this.code() === star) {
      this.pos++;
      return true;
    }
    return type === 'date' ? this.date() : this.decimal();
  }

  // The bound between `start` and `pos`; null when it is open.
  private boundFrom(start: number, inclusive: boolean): Bound | null {
    const { text, pos: end } = this;
    if (text.charCodeAt(start) === star) return null;
    const written = text.slice(start, end);
    return { text: this.isShortest ? written : shortest(written), inclusive, start, end };
  }

  /** date = year "-" month "-" day " " hour ":" minute ":" second, and the calendar has it */
  date(): boolean {
    const { text, pos } = this;
    const end = pos + 'YYYY-MM-DD HH:MM:SS'.length;
    if (end > text.length) return false;
    const year = this.twoDigits(pos) * 100 + this.twoDigits(pos + 2);
    const month = this.twoDigits(pos + 5);
    const day = this.twoDigits(pos + 8);
    const hour = this.twoDigits(pos + 11);
    const minute = this.twoDigits(pos + 14);
    const second = this.twoDigits(pos + 17);
    const isShaped =
      text.charCodeAt(pos + 4) === minus &&
      text.charCodeAt(pos + 7) === minus &&
      text.charCodeAt(pos + 10) === space &&
      text.charCodeAt(pos + 13) === colon &&
      text.charCodeAt(pos + 16) === colon;
    const isInRange =
      year >= 0 && month >= 1 && month <= 12 && day >= 1 && hour <= 23 && minute <= 59 && second <= 59;
    if (!isShaped || !isInRange || (day > 28 && day > daysInMonth(year, month))) return false;
    this.value = ((((year * 12 + month) * 31 + day) * 24 + hour) * 60 + minute) * 60 + second;
    this.isShortest = true;
    this.pos = end;
    return true;
  }

  // NaN when there are no two digits, and no comparison with NaN holds.
  private twoDigits(pos: number): number {
    const tens = this.text.charCodeAt(pos) - zero;
    const ones = this.text.charCodeAt(pos + 1) - zero;
    return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
  }

  /** decimal = [ "-" ] digits [ "." digits ], at most 99 digits before the point */
  decimal(): boolean {
    const { text } = this;
    const isNegative = this.code() === minus;
    if (isNegative) this.pos++;
    const first = this.pos;
    let value = this.digits();
    const count = this.pos - first;
    if (count === 0 || count > mostDigits) return false;
    this.isShortest = count === 1 || text.charCodeAt(first) !== zero;
    if (this.code() === point) {
      const fractionStart = ++this.pos;
      const fraction = this.digits();
      if (this.pos === fractionStart) return false;
      const scale = 10 ** (this.pos - fractionStart);
      value = (value * scale + fraction) / scale;
      if (text.charCodeAt(this.pos - 1) === zero) this.isShortest = false;
    }
    // Up to 15 digits the value is exact. With more, only `Number` rounds right.
    if (this.pos - first > 15) value = Number(text.slice(first, this.pos));
    this.value = isNegative ? -value : value;
    return true;
  }

  /** digits = { digit }; gives their value */
  private digits(): number {
    const { text } = this;
    let { pos } = this;
    let value = 0;
    while (pos < text.length) {
      const digit = text.charCodeAt(pos) - zero;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      pos++;
    }
    this.pos = pos;
    return value;
  }

  /** to = " TO " */
  private to(): boolean {
    const { text, pos } = this;
    if (pos + 4 > text.length) return false;
    this.pos = pos + 4;
    return (
      text.charCodeAt(pos) === space &&
      text.charCodeAt(pos + 1) === letterT &&
      text.charCodeAt(pos + 2) === letterO &&
      text.charCodeAt(pos + 3) === space
    );
  }

  /** spaces = { " " } */
  private spaces(): void {
    const { text } = this;
    while (this.pos < text.length && text.charCodeAt(this.pos) === space) this.pos++;
  }

  // Looking past the end of a string makes `charCodeAt` slow for the rest of the program.
  private code(): number {
    return this.pos < this.text.length ? this.text.charCodeAt(this.pos) : -1;
  }
}

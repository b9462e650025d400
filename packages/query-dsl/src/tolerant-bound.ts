import { type DateParts, endOf, formatDate, outOfRange, type Precision } from './calendar.ts';
import type { Cursor } from './cursor.ts';
import type { Field } from './filter.ts';
import type { Fact } from './problem.ts';
import { isBound, mostDigits } from './scan.ts';

// Bounds as people write them. What cannot be a bound, or needs another form, is noted at the cursor.

/** A bound as it was meant. */
export interface Meant {
  /** The canonical text; of a date that is not exact to the second, its first second. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** How exact a date is, when it is not exact to the second. It then means all of that year, month, day or minute. */
  readonly precision?: Exclude<Precision, 'second'>;
  /** The first second after that year, month, day or minute. Missing after the year 9999. */
  readonly over?: string | undefined;
}

export const quotes = /["'`\u2018\u2019\u201c\u201d]+/y;
const spacesAndQuotes = /[\s"'`\u2018\u2019\u201c\u201d]+/y;
const word = /[^\s,\]})"'`\u2018\u2019\u201c\u201d]+/y;

/** Takes spaces and quotes, which must not be here. */
export function takeStray(cursor: Cursor, pattern = spacesAndQuotes): void {
  const start = cursor.pos;
  const found = cursor.take(pattern);
  if (found !== '') cursor.replace({ reason: 'stray', start, end: cursor.pos }, '');
}

/** bound = "*" | date | decimal, after spaces and quotes. Null when open; undefined when it cannot be read. */
export function readBound(cursor: Cursor, field: Field, side: 'lower' | 'upper'): Meant | null | undefined {
  takeStray(cursor);
  if (cursor.take(/\*/y) !== '') return null;
  return field.type === 'date' ? readDate(cursor) : readDecimal(cursor, field, side);
}

const datePattern =
  /(?<year>\d{4})(?:(?<separator>[-/.])(?<month>\d{1,2})(?:\k<separator>(?<day>\d{1,2})(?:(?:\s+|\s*[Tt_,]\s*)(?<hour>\d{1,2}):(?<minute>\d{1,2})(?::(?<second>\d{1,2})(?<fraction>[.,]\d+)?)?\s*(?<zone>Z|UTC|GMT|[-+]\d\d(?::?\d\d)?)?)?)?)?(?![\w:]|\s*\d+:)/diy;

/** date = year [ month [ day [ hour minute [ second [ fraction ] ] [ zone ] ] ] ], with the signs people put between */
function readDate(cursor: Cursor): Meant | undefined {
  const { pos: start } = cursor;
  const match = cursor.match(datePattern);
  const written = match?.[0] ?? cursor.peek(word);
  const end = start + written.length;
  cursor.pos = end;
  if (match === undefined) {
    cursor.note({ reason: 'not_a_date', start, end });
    return undefined;
  }
  const part: Part = match.groups ?? {};
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const date: DateParts = [+year, +month, +day, +hour, +minute, +second];
  // Midnight may be written as 24:00:00 of the day before.
  const midnight = isMidnight(date) ? endOf(date, 'day') : undefined;
  const text = formatDate(midnight ?? date);
  const fact = factAboutDate(match, date);
  if (fact !== undefined) {
    if (midnight === undefined) cursor.note(fact);
    else cursor.note(fact, { start, end, text });
    return midnight && { text, start, end };
  }
  const precision = precisionOf(part);
  if (precision !== 'second') {
    const over = endOf(date, precision);
    return { text, start, end, precision, over: over && formatDate(over) };
  }
  if (written !== text) cursor.replace({ reason: 'date_form', start, end, date: text }, text);
  return { text, start, end };
}

type Part = Readonly<Record<string, string | undefined>>;

/** What keeps a date from being a bound: a time zone, a fraction of a second, or that it does not exist. */
function factAboutDate(match: RegExpExecArray, date: DateParts): Fact | undefined {
  const placeOf = (name: string) => {
    const [start, end] = match.indices?.groups?.[name] ?? [match.index, match.index];
    return { start, end };
  };
  const { zone, fraction }: Part = match.groups ?? {};
  if (zone !== undefined) return { reason: 'date_with_zone', ...placeOf('zone') };
  if (fraction !== undefined && Number(fraction.slice(1)) > 0) {
    return { reason: 'date_with_fraction', ...placeOf('fraction') };
  }
  const wrong = outOfRange(date);
  if (wrong === undefined) return undefined;
  return { reason: 'no_such_date', ...wrong, year: date[0], month: date[1], ...placeOf(wrong.part) };
}

const isMidnight = ([year, month, day, ...time]: DateParts): boolean =>
  time.join() === '24,0,0' && outOfRange([year, month, day, 0, 0, 0]) === undefined;

function precisionOf({ month, day, hour, second }: Part): Precision {
  if (month === undefined) return 'year';
  if (day === undefined) return 'month';
  if (hour === undefined) return 'day';
  return second === undefined ? 'minute' : 'second';
}

const dateLike = /\d{4}-\d\d?-\d\d?(?:[ T]\d\d?:[\d:.]*)?/y;
// A number with a comma in it, where another bound cannot follow.
const withCommas = { lower: /[-+]?\d+(?:,\d+)+(?=\s*to\b)/iy, upper: /[-+]?\d+(?:,\d+)+(?=\s*[\]})])/y };
const numberPattern = /[-+]?(?:0x[\da-f]+|(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:e[-+]?\d+)?)/iy;
const numberEnd =
  /$|[\s,;:|\]})"'`\u2018\u2019\u201c\u201d<\u2026\u2012-\u2015&/~-]|\.\.|to|(?:minutes?|mins?|m)\b/iy;
const minutesUnit = /\s*(?:minutes?|mins?|m)\b\.?/iy;

/** decimal = [ sign ] digits [ ( "." | "," ) digits ] [ exponent ] [ "minutes" ] */
function readDecimal(cursor: Cursor, { name }: Field, side: 'lower' | 'upper'): Meant | undefined {
  const { pos: start } = cursor;
  const date = cursor.take(dateLike);
  if (date !== '') {
    cursor.note({ reason: 'date_for_number', start, end: cursor.pos, field: name });
    return undefined;
  }
  const commas = cursor.take(withCommas[side]);
  if (commas !== '') return readDecimalComma(cursor, start, commas);
  const written = cursor.take(numberPattern);
  if (written === '' || cursor.match(numberEnd) === undefined) {
    cursor.take(word);
    cursor.note({ reason: 'not_a_number', start, end: cursor.pos });
    return undefined;
  }
  const end = cursor.pos;
  const text = plainDecimal(written);
  if (text === 'NaN') {
    cursor.note({ reason: 'not_a_number', start, end });
    return undefined;
  }
  if (!isBound(text, 'decimal')) {
    cursor.note({ reason: 'number_size', start, end, most: mostDigits });
    return undefined;
  }
  if (written !== text) cursor.replace({ reason: 'number_form', start, end, number: text }, text);
  if (name.includes('minutes') && cursor.take(minutesUnit) !== '') {
    cursor.replace({ reason: 'unit', start: end, end: cursor.pos }, '');
  }
  return { text, start, end };
}

// `1,5` is 1.5, but `1,000` may be one or a thousand.
function readDecimalComma(cursor: Cursor, start: number, written: string): Meant | undefined {
  const { pos: end } = cursor;
  const comma = start + written.indexOf(',');
  if (!/^[-+]?\d+,\d\d?$/.test(written)) {
    cursor.note({ reason: 'not_a_number', start, end });
    return undefined;
  }
  cursor.replace({ reason: 'decimal_comma', start: comma, end: comma + 1 }, '.');
  return { text: written.replace(',', '.').replace('+', ''), start, end };
}

// `+5` is 5, `.5` is 0.5, `5.` is 5 and `1e3` is 1000. Digits are kept as they are, however many there are.
function plainDecimal(written: string): string {
  const [, sign = '', whole, fraction = ''] = /^\+?(-?)(\d*)\.?(\d*)$/.exec(written) ?? [];
  if (whole === undefined) return decimalText(Number(written));
  return `${sign}${whole || '0'}${fraction && '.'}${fraction}`;
}

/** A number as decimal text without an exponent: 1e21 is `1000000000000000000000`. */
export function decimalText(value: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([-+]\d+)$/.exec(String(value));
  if (match === null) return String(value);
  const [, sign = '', first = '', rest = '', exponent] = match;
  const shift = Number(exponent);
  const digits = first + rest;
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}` : sign + digits.padEnd(shift + 1, '0');
}

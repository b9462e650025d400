import {
  addMonths,
  type ClosedPeriod,
  day,
  parseNaive,
  periodOf,
} from '@call-attribution/core/time';
import { type DateOrder, type Placed, readTimes } from '../outcomes/dates.ts';

// Days as tools for advertising write them: in numbers, whose order the whole file tells, or with the
// name of a month, in one of a few languages.

const locales = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'sv', 'da'];

/** The numbers of months by their names, long and short. */
const monthNames = new Map<string, number>();

function monthOf(name: string): number | undefined {
  const plain = (text: string): string => text.toLowerCase().replace('.', '');
  if (monthNames.size === 0)
    for (const locale of locales)
      for (const month of ['long', 'short'] as const) {
        const format = new Intl.DateTimeFormat(locale, { month, day: 'numeric', timeZone: 'UTC' });
        for (let at = 0; at < 12; at += 1) {
          const parts = format.formatToParts(Date.UTC(2026, at, 1));
          monthNames.set(plain(parts.find(({ type }) => type === 'month')?.value ?? ''), at + 1);
        }
      }
  return monthNames.get(plain(name));
}

const numeric = /^\d{1,4}([-/.])\d{1,2}\1\d{1,4}$/;
/** `Oct 1, 2026` and `Thu, Oct 1, 2026`; `1. Oktober 2026` and `1 de octubre de 2026`. */
const monthFirst = /^(?:\p{L}+\.?,\s*)?(?<month>\p{L}+\.?) (?<date>\d{1,2}),? (?<year>\d{4})$/u;
const dayFirst =
  /^(?:\p{L}+\.?,\s*)?(?<date>\d{1,2})(?:\.|er)? (?:de )?(?<month>\p{L}+\.?),? (?:de )?(?<year>\d{4})$/u;
const monthAlone = /^(?<month>\p{L}+\.?) (?:de )?(?<year>\d{4})$/u;

/** Where a day begins that is written with the name of a month; null for another text. */
function dayInWords(text: string): number | null {
  const {
    month = '',
    date = '01',
    year = '',
  } = (monthFirst.exec(text) ?? dayFirst.exec(text) ?? monthAlone.exec(text))?.groups ?? {};
  const number = monthOf(month);
  if (number === undefined) return null;
  const two = (part: number | string) => String(part).padStart(2, '0');
  const begin = parseNaive(`${year}-${two(number)}-${two(date)} 00:00:00`);
  return Number.isNaN(begin) ? null : begin;
}

/** The texts in a line that may be dates: `Report Time: 10/1/2026,10/31/2026` has two. */
export function datesIn(line: string): readonly string[] {
  const text = line.replace(/^[\p{L} ]+:\s*/u, '');
  const parts = text.split(/\s+[-–—]\s+|\s+to\s+|,(?=\d)|\s+(?=\d{1,2}:\d\d)/u);
  return parts.map((part) => part.trim()).filter((part) => isDate(part));
}

const isDate = (text: string): boolean => numeric.test(text) || dayInWords(text) !== null;

/** Reads where the days of one file begin; null for what is no date. */
export function readDays(
  texts: readonly Placed[],
  order: DateOrder | null,
): readonly (number | null)[] {
  const inNumbers = texts.filter(({ text }) => numeric.test(text));
  const times = readTimes(
    inNumbers,
    { dates: order, timeZone: null },
    (typed) => `--spend-columns dates=${typed}`,
  );
  const begins = new Map(inNumbers.map(({ text }, i) => [text, times[i]?.time ?? null]));
  return texts.map(({ text }) => begins.get(text) ?? dayInWords(text));
}

/** The stretch of a row that begins on a day. */
export function stretchFrom(begin: number, name: 'day' | 'week' | 'month'): ClosedPeriod {
  if (name === 'month') return periodOf(begin, addMonths(begin, 1));
  return periodOf(begin, begin + (name === 'week' ? 7 : 1) * day);
}

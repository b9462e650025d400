import { isBound, isDate } from './bounds.ts';
import { fieldsOf, type ParseOptions } from './filter.ts';
import type { Fix } from './problem.ts';
import { meantName, read } from './reader.ts';

// The mistakes that people make most, and what they mean. A text is corrected only when the reader
// then accepts all of it.

const date = String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d)?`;
const bound = String.raw`\*|${date}|-?\d{1,99}(?:\.\d{1,99})?`;

/**
 * What may follow the name of a field, with spaces and quotes removed around it, and the range or
 * value that it means.
 */
const rows: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  // [2 to 5], (1-2), 2 TO 5, = [2 TO 5], [2 TO 5]], [5 TO 2]: the lower case, round brackets,
  // missing brackets, brackets that stand twice, ends the wrong way round.
  [
    new RegExp(
      `^[:=]?\\s*(?:([[({])\\1?)?\\s*(${bound})(?:\\s+to\\s+|\\s*-\\s*)(${bound})\\s*(?:([\\])}])\\4?)?$`,
      'i',
    ),
    (_, open = '', first = '', last = '', close = '') => {
      const low = { text: first, isIncluded: !/[({]/.test(open) };
      const high = { text: last, isIncluded: !/[)}]/.test(close) };
      const [from, to] = isAbove(first, last) ? [high, low] : [low, high];
      return `${lower(from.text, from.isIncluded)} TO ${upper(to.text, to.isIncluded)}`;
    },
  ],
  [new RegExp(`^:?\\s*(?:>=|=>|≥)\\s*(${bound})$`), (_, low = '') => `${lower(low, true)} TO *]`],
  [new RegExp(`^:?\\s*>\\s*(${bound})$`), (_, low = '') => `${lower(low, false)} TO *]`],
  [new RegExp(`^:?\\s*(?:<=|=<|≤)\\s*(${bound})$`), (_, high = '') => `[* TO ${upper(high, true)}`],
  [new RegExp(`^:?\\s*<\\s*(${bound})$`), (_, high = '') => `[* TO ${upper(high, false)}`],
  // :5, = 2026-10-01: a bare value.
  [
    new RegExp(`^(?::|:?={1,2})\\s*(${bound})$`),
    (_, value = '') => `${lower(value, true)} TO ${upper(value, true)}`,
  ],
  [/^[:=]\s*(?:1|true|yes)$/i, () => '1'],
];

/** The change that makes a filter of a text with usual mistakes. Undefined when there is none. */
export function fixFor(text: string, options: ParseOptions): Fix | undefined {
  // A long text is not typed by hand.
  if (text.length > 2_000) return undefined;
  const pieces = text
    .replace(/["'`\u2018\u2019\u201c\u201d]/g, '')
    .split(/\s*(?:[,;]|&&?|\band\b)\s*/i)
    .map((piece) => piece.trim())
    .filter(Boolean);
  const clauses = pieces.map((piece) => fixedClause(piece, options));
  if (clauses.length === 0 || clauses.includes(undefined)) return undefined;
  const fixed = clauses.join(',');
  return read(fixed, options).stop === undefined ? changeOf(text, fixed) : undefined;
}

function fixedClause(piece: string, options: ParseOptions): string | undefined {
  if (read(piece, options).stop === undefined) return piece;
  const [, written = '', rest = ''] = /^([\p{L}_][\p{L}\p{N}_-]*)\s*(.*)$/su.exec(piece) ?? [];
  const field = fieldsOf(options).find(({ name }) => name === meantName(written, options));
  if (field === undefined) return undefined;
  for (const [pattern, meaning] of rows) {
    const parts = pattern.exec(rest);
    const clause = parts && `${field.name}:${meaning(...parts)}`;
    if (clause && read(clause, options).stop === undefined) return clause;
  }

  return undefined;
}

// A day without a time means all of it: included, it begins with its first second and ends before
// the next day.

function lower(written: string, included: boolean): string {
  const text = existing(written);
  if (!isDay(text)) return `${included ? '[' : '{'}${text.replace('T', ' ')}`;
  return `[${included ? text : dayAfter(text)} 00:00:00`;
}

function upper(written: string, included: boolean): string {
  const text = existing(written);
  if (!isDay(text)) return `${text.replace('T', ' ')}${included ? ']' : '}'}`;
  return `${included ? dayAfter(text) : text} 00:00:00}`;
}

const isDay = (text: string): boolean => isDate({ text }) && text.length === 10;

/** Are two bounds the wrong way round? */
function isAbove(low: string, high: string): boolean {
  if (low === '*' || high === '*' || isDate({ text: low }) !== isDate({ text: high })) return false;
  return isDate({ text: low }) ? low > high : Number(low) > Number(high);
}

/** A date whose month has fewer days means the last one of that month. */
function existing(text: string): string {
  const [, month, date = '', rest = ''] = /^(\d{4}-\d\d)-(\d\d)(.*)$/s.exec(text) ?? [];
  if (month === undefined || date > '31') return text;
  for (let day = Number(date); day > 27; day -= 1)
    if (isBound(`${month}-${day} 00:00:00`, 'date')) return `${month}-${day}${rest}`;
  return text;
}

/** The next day; of a day that does not exist that day, so that the reader refuses it. */
function dayAfter(day: string): string {
  if (!isBound(`${day} 00:00:00`, 'date')) return day;
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, -14);
}

/** The smallest change that makes one text of another. */
function changeOf(text: string, fixed: string): Fix {
  const most = Math.min(text.length, fixed.length);
  let start = 0;
  while (start < most && text[start] === fixed[start]) start++;
  let same = 0;
  while (same < most - start && text.at(-1 - same) === fixed.at(-1 - same)) same++;
  return { start, end: text.length - same, text: fixed.slice(start, fixed.length - same) };
}

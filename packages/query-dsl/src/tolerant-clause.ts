import type { Cursor } from './cursor.ts';
import { type Field, fieldsOf, type ParseOptions } from './filter.ts';
import { nearest } from './nearest.ts';
import type { Fact } from './problem.ts';
import { type Meant, quotes, readBound, takeStray } from './tolerant-bound.ts';
import { type MeantRange, rangeText, readRange } from './tolerant-range.ts';

// Clauses as people write them. What the grammar does not allow is noted at the cursor.

/** What a field name may be. */
export interface Vocabulary {
  readonly fields: readonly Field[];
  /** The names of `fields`. */
  readonly names: readonly string[];
  /** The names of fields that only the other version has. */
  readonly otherVersion: readonly string[];
}

/** The vocabulary of a version, or of both. */
export function vocabularyOf(options: ParseOptions): Vocabulary {
  const fields = fieldsOf(options);
  const names = fields.map(({ name }) => name);
  const all = fieldsOf({}).map(({ name }) => name);
  return { fields, names, otherVersion: all.filter((name) => !names.includes(name)) };
}

// A clause ends at a comma, at its closing bracket or, when that is missing, before the next `,name:`.
const wholeClause = /(?:"[^"]*"|[^,[{])*(?:[[{].*?(?:[\]}]|(?=,\s*\w+\s*[:=])|$))?/sy;

/** clause = [ "NOT" | "-" | "!" ] [ "(" | "+" ] name operator ( range | value | flag ) */
export function readClause(cursor: Cursor, vocabulary: Vocabulary): void {
  const { pos: start } = cursor;
  if (cursor.take(/not\b|[!-]/iy) !== '') {
    cursor.note({ reason: 'not', start, end: cursor.pos });
    cursor.take(/\s+/y);
  }
  const { pos: extra } = cursor;
  if (cursor.take(/[(+]+\s*/y) !== '') cursor.replace({ reason: 'stray', start: extra, end: cursor.pos }, '');
  const { pos: nameStart } = cursor;
  const field = readField(cursor, vocabulary);
  if (field === undefined) {
    cursor.take(wholeClause);
    return;
  }
  const isGuessed = cursor.text.slice(nameStart, cursor.pos).toLowerCase() !== field.name;
  const before = cursor.mark();
  readRest(cursor, field, start);
  if (isGuessed && cursor.unfixable > before.unfixable) {
    // It does not fit the field with the similar name, so another one may be meant, whose form is not known here.
    cursor.forget(before);
    cursor.unfixable++;
  }
}

const namePattern = /[^\s,:=<>!~()[\]{}"'`\u2018\u2019\u201c\u201d\u2264\u2265]+/y;
const spacedName = /\w+(?: +\w+){1,2}(?=\s*[:=<>[{(])/y;

/** name = a field, perhaps misspelt. Undefined when it is not one, which is noted. */
function readField(cursor: Cursor, vocabulary: Vocabulary): Field | undefined {
  const { fields, names } = vocabulary;
  const { pos: start } = cursor;
  const spaced = cursor.peek(spacedName);
  const written = nearest(spaced, names) === undefined ? cursor.peek(namePattern) : spaced;
  const end = start + written.length;
  cursor.pos = end;
  const known = fields.find(({ name }) => name === written);
  if (known !== undefined) return known;
  const fact = factAboutName(written, { start, end }, vocabulary);
  const meant = fact.reason === 'unknown_field' ? fact.suggestion : undefined;
  if (meant === undefined) cursor.note(fact);
  else cursor.replace(fact, meant);
  return fields.find(({ name }) => name === meant);
}

/** What there is to say about a name that is not a field of this version. */
export function factAboutName(
  written: string,
  place: { readonly start: number; readonly end: number },
  { names, otherVersion }: Vocabulary,
): Fact {
  if (written === '') return { reason: 'missing_field', ...place, names };
  const suggestion = nearest(written, [...names, ...otherVersion]);
  if (suggestion !== undefined && otherVersion.includes(suggestion)) {
    return { reason: 'other_version', ...place, field: suggestion };
  }
  return { reason: 'unknown_field', ...place, suggestion, names };
}

const operatorPattern =
  /(?<before>\s*)(?<colon>:?)(?<after>\s*)(?:(?<comparison>>=|=>|\u2265|<=|=<|\u2264|!=|<>|==?|[><~]|between\b)\s*)?/iy;

/** operator = ":" | comparison, then what the operator and the field want */
function readRest(cursor: Cursor, field: Field, clauseStart: number): void {
  const { pos: nameEnd } = cursor;
  const {
    before = '',
    colon = '',
    after = '',
    comparison = '',
  } = cursor.match(operatorPattern)?.groups ?? {};
  const operator = cursor.take(operatorPattern);
  const quotesEnd = cursor.pos + cursor.peek(quotes).length;
  const hasBracket = /[[{(]/.test(cursor.text.charAt(quotesEnd));
  if (field.type === 'flag') readFlag(cursor, nameEnd, operator);
  else if (hasBracket && /^=*$/.test(comparison)) {
    const colonEnd = nameEnd + before.length + 1;
    if (colon === '' || comparison !== '') noteColon(cursor, nameEnd, cursor.pos);
    else {
      if (before !== '') noteColon(cursor, nameEnd, colonEnd);
      if (after !== '') cursor.replace({ reason: 'stray', start: colonEnd, end: cursor.pos }, '');
    }
    takeStray(cursor, quotes);
    readRange(cursor, field, clauseStart);
  } else if (comparison !== '') {
    const start = nameEnd + before.length + colon.length + after.length;
    readComparison(cursor, field, { operator: comparison, start, nameEnd });
  } else readBareValue(cursor, field, nameEnd);
}

const noteColon = (cursor: Cursor, start: number, end: number): void =>
  cursor.replace({ reason: 'wrong_colon', start, end }, ':');

/** flag = "1", or another word for yes */
function readFlag(cursor: Cursor, nameEnd: number, operator: string): void {
  const { pos: start } = cursor;
  const value = cursor.take(/["']*(?:\[\s*1\s+to\s+1\s*\]|[^\s,;&\])}]*)/iy);
  const meant = value.replace(/["']/g, '').toLowerCase();
  const isOn = ['', '1', 'true', 'yes', 'on'].includes(meant) || meant.startsWith('[');
  if (!/^\s*:?\s*=*\s*$/.test(operator) || !isOn) {
    cursor.note({ reason: 'flag_value', start, end: cursor.pos });
  } else if (value === '1') {
    if (operator !== ':') noteColon(cursor, nameEnd, start);
  } else {
    cursor.note(
      { reason: 'flag_value', start, end: cursor.pos },
      { start: nameEnd, end: cursor.pos, text: ':1' },
    );
  }
}

const startOfBound = { date: /["'`\u2018\u201c]*[\d*]/y, decimal: /["'`\u2018\u201c]*[-+.\d*]/y };
const bareTo = /\s*(?:to(?![a-z])|\.{2,3}|[\u2026\u2012-\u2015-])\s*/iy;

/** value = bound [ to bound ] [ closing ], a range without its opening bracket */
function readBareValue(cursor: Cursor, field: Field, nameEnd: number): void {
  const { pos: start } = cursor;
  const { name, type } = field;
  if (type === 'flag' || cursor.match(startOfBound[type]) === undefined) {
    cursor.take(/[^\s,]+/y);
    cursor.note({ reason: 'missing_range', start, end: cursor.pos, field: name, type });
    return;
  }
  const before = cursor.mark();
  const lower = readBound(cursor, field, 'lower');
  cursor.take(quotes);
  const upper = cursor.take(bareTo) === '' ? lower : readBound(cursor, field, 'upper');
  cursor.take(quotes);
  cursor.take(/\s*[\]})]/y);
  if (lower === undefined || upper === undefined) return;
  const { pos: end } = cursor;
  const range = rangeText(type, { lower, upper, lowerInclusive: true, upperInclusive: true });
  cursor.forget(before);
  const fact = { reason: 'bare_value', start, end, range } as const;
  cursor.note(fact, ...(range === undefined ? [] : [{ start: nameEnd, end, text: `:${range}` }]));
}

interface Comparison {
  readonly operator: string;
  /** Where the operator starts. */
  readonly start: number;
  readonly nameEnd: number;
}

/** comparison = operator bound | "BETWEEN" bound "AND" bound */
function readComparison(cursor: Cursor, field: Field, { operator, start, nameEnd }: Comparison): void {
  const { name, type } = field;
  if (/[!~]|<>/.test(operator)) {
    cursor.note({ reason: 'unsupported_operator', start, end: start + operator.length, operator });
    cursor.take(wholeClause);
    return;
  }
  const before = cursor.mark();
  const value = readBound(cursor, field, 'lower');
  cursor.take(quotes);
  const isBetween = /between/i.test(operator);
  const other =
    isBetween && cursor.take(/\s*and\s*/iy) !== '' ? readBound(cursor, field, 'upper') : undefined;
  cursor.take(quotes);
  const { pos: end } = cursor;
  const range = value === undefined || value === null ? undefined : comparedRange(operator, value, other);
  const text = range && rangeText(type, range);
  if (text !== undefined) cursor.forget(before);
  const fact = {
    reason: 'comparison',
    start,
    end,
    operator,
    type,
    clause: text && `${name}:${text}`,
  } as const;
  cursor.note(fact, ...(text === undefined ? [] : [{ start: nameEnd, end, text: `:${text}` }]));
}

function comparedRange(
  operator: string,
  value: Meant,
  other: Meant | null | undefined,
): MeantRange | undefined {
  const isInclusive = !/^[<>]$/.test(operator);
  const both = { lowerInclusive: isInclusive, upperInclusive: isInclusive };
  if (/[>\u2265]/.test(operator)) return { lower: value, upper: null, ...both };
  if (/[<\u2264]/.test(operator)) return { lower: null, upper: value, ...both };
  if (operator.startsWith('=')) return { lower: value, upper: value, ...both };
  return other === undefined ? undefined : { lower: value, upper: other, ...both };
}

import type { Cursor } from './cursor.ts';
import type { Field, FieldType } from './filter.ts';
import { type Meant, quotes, readBound, takeStray } from './tolerant-bound.ts';

// Ranges as people write them. What the grammar does not allow is noted at the cursor.

/** A range as it was meant; an open end is null. */
export interface MeantRange {
  readonly lower: Meant | null;
  readonly upper: Meant | null;
  readonly lowerInclusive: boolean;
  readonly upperInclusive: boolean;
}

const restOfRange = /[^\]})]*?(?:[\]})]|(?=,\s*\w+\s*[:=])|$)/y;

/** range = opening bound to bound closing */
export function readRange(cursor: Cursor, { name, type }: Field, clauseStart: number): void {
  const { pos: start } = cursor;
  const before = cursor.mark();
  const lowerInclusive = readOpening(cursor);
  const lower = readLower(cursor, { name, type });
  const upper = lower === missing ? missing : readUpper(cursor, { name, type }, lower);
  const upperInclusive = upper === missing ? undefined : readClosing(cursor);
  if (lower === missing || upper === missing || upperInclusive === undefined) {
    cursor.take(restOfRange);
    return;
  }
  if (lower === undefined || upper === undefined) return;
  const { pos: end } = cursor;
  const range: MeantRange = { lower, upper, lowerInclusive, upperInclusive };
  const isInverted = lower !== null && upper !== null && isAbove(type, lower.text, upper.text);
  const text = rangeText(type, isInverted ? swap(range) : range);
  if (isInverted) {
    const values = { lower: lower.text, upper: upper.text, range: text };
    cursor.note({ reason: 'inverted', start: clauseStart, end, ...values });
  } else {
    notePartialDate(cursor, range, 'lower');
    notePartialDate(cursor, range, 'upper');
  }
  const isRewritten = isInverted || lower?.precision !== undefined || upper?.precision !== undefined;
  if (isRewritten) cursor.rewrite(before, text === undefined ? undefined : { start, end, text });
}

/** opening = "[" | "{" | "(", and no second one. Gives whether the lower bound is included. */
function readOpening(cursor: Cursor): boolean {
  const { pos: start } = cursor;
  const found = cursor.take(/[[{(]+/y);
  if (found.startsWith('(')) {
    cursor.replace({ reason: 'wrong_bracket', start, end: start + 1, bracket: '{' }, '{');
  }
  if (found.length > 1) cursor.replace({ reason: 'extra_bracket', start: start + 1, end: cursor.pos }, '');
  return found.startsWith('[');
}

/** Says that a bound is missing and that reading on would find nothing. */
const missing = 'missing';
type Read = Meant | null | undefined | typeof missing;

// What follows when a bound was left out: the end of the text, a bracket, or the next clause.
const noLower = /\s*(?:to\b|$|[\]})]|,\s*(?:\w+\s*[:=<>]|$))/iy;
const noUpper = /\s*(?:$|[\]})]|,\s*(?:\w+\s*[:=<>]|$))/iy;

function readLower(cursor: Cursor, field: Field): Read {
  if (cursor.match(noLower) === undefined) {
    const bound = readBound(cursor, field, 'lower');
    // Only quotes: a space may belong to " TO ".
    takeStray(cursor, quotes);
    return bound;
  }
  const { pos } = cursor;
  const fact = { reason: 'missing_bound', start: pos, end: pos, side: 'lower', type: field.type } as const;
  if (cursor.match(/\s*to\b/iy) === undefined) {
    cursor.note(fact);
    return missing;
  }
  cursor.replace(fact, '*');
  return null;
}

// What people write between two bounds.
const between =
  /\s*(?:to(?![a-z])|until\b|till\b|and\b|&&?|[-=]>|\.{2,3}|[\u2026,;:|/~<\u2012-\u2015-])?\s*/iy;

/** to bound */
function readUpper(cursor: Cursor, field: Field, lower: Meant | null | undefined): Read {
  const { pos: start } = cursor;
  const found = cursor.take(between);
  const { pos } = cursor;
  const isMissing = cursor.match(noUpper) !== undefined;
  if (isMissing && /to/i.test(found)) {
    const fact = { reason: 'missing_bound', start: pos, end: pos, side: 'upper', type: field.type } as const;
    cursor.note(fact, { start, end: pos, text: ' TO *' });
    return null;
  }
  if (isMissing || (found === '' && lower === undefined)) {
    const bound = lower === null ? '*' : lower?.text;
    if (bound !== undefined) cursor.note({ reason: 'single_bound', start, end: start, bound });
    return missing;
  }
  if (found.trim() === '' && cursor.match(/\p{L}/uy) !== undefined) {
    const written = cursor.take(/[^\s\]})]+/y);
    cursor.note({ reason: 'wrong_to', start: pos, end: cursor.pos, written, wanted: ' TO ' });
    return missing;
  }
  if (found !== ' TO ') noteTo(cursor, start, found);
  return readBound(cursor, field, 'upper');
}

// Only what differs from " TO " is wrong.
function noteTo(cursor: Cursor, start: number, found: string): void {
  const wanted = ' TO ';
  let same = 0;
  while (same < wanted.length && found[same] === wanted[same]) same++;
  let sameAtEnd = 0;
  const most = Math.min(found.length, wanted.length) - same;
  while (sameAtEnd < most && found.at(-1 - sameAtEnd) === wanted.at(-1 - sameAtEnd)) sameAtEnd++;
  const end = start + found.length - sameAtEnd;
  const text = wanted.slice(same, wanted.length - sameAtEnd);
  cursor.replace({ reason: 'wrong_to', start: start + same, end, written: found, wanted: text }, text);
}

/** closing = "]" | "}" | ")". Gives whether the upper bound is included; undefined when there is something else. */
function readClosing(cursor: Cursor): boolean | undefined {
  if (cursor.match(/[\s"'`\u2018\u2019\u201c\u201d]*(?:$|[\]}),])/y) !== undefined) takeStray(cursor);
  const { pos: start } = cursor;
  const bracket = cursor.take(/[\]})]/y);
  if (bracket === ')') {
    cursor.replace({ reason: 'wrong_bracket', start, end: cursor.pos, bracket: '}' }, '}');
  }
  if (bracket !== '') return bracket === ']';
  if (cursor.match(noUpper) !== undefined) {
    cursor.replace({ reason: 'unclosed_range', start, end: start }, ']');
    return true;
  }
  const [found = '', spaces = ''] = cursor.match(/(\s*)[^\s\]})]+/y) ?? [];
  const place = { start: start + spaces.length, end: start + found.length };
  cursor.note({ reason: 'unexpected_in_range', ...place });
  return undefined;
}

/** Notes a bound that is a day, a month, a year or a minute, and what to write for it. */
function notePartialDate(cursor: Cursor, range: MeantRange, side: 'lower' | 'upper'): void {
  const bound = range[side];
  if (bound?.precision === undefined) return;
  const { precision, over } = bound;
  const isUpper = side === 'upper';
  const isIncluded = isUpper ? range.upperInclusive : range.lowerInclusive;
  let { start, end } = bound;
  let text: string | undefined = bound.text;
  const needsEnd = isUpper === isIncluded;
  if (needsEnd) {
    // The bracket changes too, and is part of the place when it is next to the bound.
    if (isUpper) text = over && `${over}}`;
    else text = over && `[${over}`;
    if (isUpper && /[\])]/.test(cursor.text.charAt(end))) end++;
    if (!isUpper && /[{(]/.test(cursor.text.charAt(start - 1))) start--;
  }
  const date = cursor.text.slice(bound.start, bound.end);
  cursor.note({ reason: 'date_without_time', start, end, date, precision, side, needsEnd, bound: text });
}

const swap = ({ lower, upper, lowerInclusive, upperInclusive }: MeantRange): MeantRange => ({
  lower: upper,
  upper: lower,
  lowerInclusive: upperInclusive,
  upperInclusive: lowerInclusive,
});

const isAbove = (type: FieldType, lower: string, upper: string): boolean =>
  type === 'date' ? lower > upper : Number(lower) > Number(upper);

/**
 * The range as a filter writes it. An included day starts with its first second and ends before the next day; an excluded
 * day ends before its first second and starts with the next day. Undefined when that leaves nothing, or needs the year
 * 10000.
 */
export function rangeText(type: FieldType, range: MeantRange): string | undefined {
  const { lower, upper, lowerInclusive, upperInclusive } = range;
  let open = lowerInclusive || lower === null ? '[' : '{';
  let from = lower?.text ?? '*';
  if (lower?.precision !== undefined && !lowerInclusive) {
    if (lower.over === undefined) return undefined;
    open = '[';
    from = lower.over;
  }
  let close = upperInclusive || upper === null ? ']' : '}';
  let to = upper?.text ?? '*';
  if (upper?.precision !== undefined && upperInclusive) {
    if (upper.over === undefined) return undefined;
    close = '}';
    to = upper.over;
  }
  if (lower !== null && upper !== null && isAbove(type, from, to)) return undefined;
  return `${open}${from} TO ${to}${close}`;
}

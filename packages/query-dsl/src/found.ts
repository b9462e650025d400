import { factAboutDate, mostDigits } from './bounds.ts';
import { type Field, fieldsOf, type ParseOptions } from './filter.ts';
import { nearest } from './nearest.ts';
import type { Fact } from './problem.ts';

// What the reader found where it expected something else: how far it goes, and which fact says most about it.

/** The text that a sticky pattern matches at an offset, or the empty string. */
export function textAt(pattern: RegExp, text: string, pos: number): string {
  pattern.lastIndex = pos;
  return pattern.exec(text)?.[0] ?? '';
}

const isAt = (pattern: RegExp, text: string, pos: number): boolean => {
  pattern.lastIndex = pos;
  return pattern.test(text);
};

/** The place from `start` to the end of what a sticky pattern matches there. */
const placeOf = (pattern: RegExp, text: string, start: number) => ({
  start,
  end: start + textAt(pattern, text, start).length,
});

const stray = /[\s"'`\u2018\u2019\u201c\u201d]+/y;
const word = /[^\s,[\](){}"'`\u2018\u2019\u201c\u201d]+|[^\s]/y;

/** Spaces and quotation marks, which belong nowhere. Undefined when there are none. */
function factAboutStray(text: string, start: number): Fact | undefined {
  const place = placeOf(stray, text, start);
  return place.end > start ? { reason: 'stray', ...place } : undefined;
}

const encodedText = /%[\da-f]{2}|\+to\+|\d{4}-\d\d-\d\d\+\d\d:/i;

/** Says that a text is still percent-encoded, which explains all else that is wrong with it. */
export function factAboutEncoding(text: string): Fact | undefined {
  if (!encodedText.test(text)) return undefined;
  const { index: start = 0, 0: found = '' } = /%[\da-f]{2}|\+/i.exec(text) ?? {};
  return { reason: 'still_encoded', start, end: start + found.length };
}

const gap = /and\b|&&?|[\w-]+|[^\s]/iy;

/** What is found between clauses where a comma was expected. */
export function factAboutGap(text: string, start: number): Fact {
  const or = placeOf(/or\b|\|\|?/iy, text, start);
  if (or.end > start) return { reason: 'or', ...or };
  return factAboutStray(text, start) ?? { reason: 'missing_comma', ...placeOf(gap, text, start) };
}

const name = /[^\s,+:=<>!~()[\]{}"'`\u2018\u2019\u201c\u201d\u2264\u2265]+/y;
const spacedName = /\w+(?: +\w+){1,2}(?=\s{0,9}[:=<>[{(])/y;

/** The name at an offset, and the field of that name or of the nearest one. */
export function nameAt(text: string, start: number, options: ParseOptions) {
  const fields = fieldsOf(options);
  const spaced = textAt(spacedName, text, start);
  const isMeant = spaced !== '' && meantName(spaced, fields) !== undefined;
  const written = isMeant ? spaced : textAt(name, text, start);
  const meant = meantName(written, fields);
  return { written, field: fields.find((field) => field.name === meant) };
}

// A field that only the other version has may be meant as well.
function meantName(written: string, fields: readonly Field[]): string | undefined {
  const names = [...new Set([...fields, ...fieldsOf({})].map((field) => field.name))];
  return names.includes(written) ? written : nearest(written, names);
}

/** What is found where a clause was expected. */
export function factAboutClause(text: string, start: number, options: ParseOptions): Fact {
  const parameter = placeOf(/\??q=/iy, text, start);
  if (parameter.end > start) return { reason: 'parameter_name', ...parameter };
  const not = placeOf(/not\b|[!-]/iy, text, start);
  if (not.end > start) return { reason: 'not', ...not };
  const strayFact = factAboutStray(text, start);
  if (strayFact !== undefined) return strayFact;
  if (text[start] === ',') return { reason: 'empty_clause', start, end: start + 1 };
  const { written, field } = nameAt(text, start, options);
  if (field?.name === written) return factAfterName(text, start + written.length, field);
  if (written !== '') return factAboutName(written, start, options);
  const names = fieldsOf(options).map((each) => each.name);
  return { reason: 'missing_field', start, end: Math.min(start + 1, text.length), names };
}

/** What there is to say about a name that is not a field of this version. */
export function factAboutName(written: string, start: number, options: ParseOptions): Fact {
  const fields = fieldsOf(options);
  const names = fields.map((field) => field.name);
  const place = { start, end: start + written.length };
  const suggestion = meantName(written, fields);
  if (suggestion !== undefined && !names.includes(suggestion))
    return { reason: 'other_version', ...place, field: suggestion };
  return { reason: 'unknown_field', ...place, suggestion, names };
}

function factAfterName(text: string, end: number, field: Field): Fact {
  const colon = field.type === 'flag' ? /\s*[:=]?(?=\s*1(?!\w))/y : /\s*[:=]?(?=\s*[[{(])/y;
  if (isAt(colon, text, end))
    return { reason: 'wrong_colon', ...placeOf(colon, text, end), field: field.name };
  return factAboutOpening(text, end, field);
}

/** What is found where a range or the value of a flag was expected. */
export function factAboutOpening(text: string, start: number, { name, type }: Field): Fact {
  if (type === 'flag') return { reason: 'flag_value', ...placeOf(/\[.*?\]|[^\s,;&\])}]*/y, text, start) };
  const strayFact = factAboutStray(text, start);
  if (strayFact !== undefined && isAt(/[[{(]/y, text, strayFact.end)) return strayFact;
  const pos = start + textAt(/\s*/y, text, start).length;
  const operator = placeOf(/!=?|<>|~/y, text, pos);
  if (operator.end > pos) return { reason: 'not', ...operator };
  if (isAt(/\(/y, text, pos)) return { reason: 'wrong_bracket', start: pos, end: pos + 1, bracket: '{' };
  return { reason: 'missing_range', ...placeOf(/[^\s,]+/y, text, pos), field: name, type };
}

const noBound = /\s*(?:$|[\]})]|to\b|,\s*(?:$|\w+\s*[:=<>]))/iy;
const dateLike = /\d{4}-\d\d?-\d\d?(?:[ T]\d\d?:[\d:.]*)?/y;

/** What is found where a bound was expected. */
export function factAboutBound(text: string, start: number, { name, type }: Field): Fact {
  if (isAt(noBound, text, start)) return { reason: 'missing_bound', start, end: start, type };
  const strayFact = factAboutStray(text, start);
  if (strayFact !== undefined) return strayFact;
  const place = placeOf(word, text, start);
  if (type === 'date') return factAboutDate(text, start) ?? { reason: 'not_a_date', ...place };
  const date = placeOf(dateLike, text, start);
  if (date.end > start) return { reason: 'date_for_number', ...date, field: name };
  if (isAt(/-?\d{100}/y, text, start)) return { reason: 'number_size', ...place, most: mostDigits };
  return { reason: 'not_a_number', ...place };
}

/** What is wrong with a string that should be a bound and nothing else. */
export function factAboutWhole(text: string, { type }: Field): Fact {
  const place = { start: 0, end: text.length };
  if (type === 'date') return factAboutDate(text, 0) ?? { reason: 'not_a_date', ...place };
  if (/^-?\d{100}/.test(text)) return { reason: 'number_size', ...place, most: mostDigits };
  return { reason: 'not_a_number', ...place };
}

/** What is wrong with a bound that goes on where it should end, such as `5m` or a date with a time zone. */
function factAboutRest(text: string, start: number, end: number, field: Field): Fact | undefined {
  if (field.type === 'date') return factAboutDate(text, start);
  const thousands = placeOf(/-?\d+(?:,\d{3})+(?=\s*to\b)/iy, text, start);
  if (thousands.end > start) return { reason: 'not_a_number', ...thousands };
  const isLonger = isAt(/(?!to|\.\.)[\w.]/iy, text, end) || isAt(dateLike, text, start);
  return isLonger ? factAboutBound(text, start, field) : undefined;
}

/** A bound that was read, in its shortest form, and where it starts and ends. */
export interface ReadBound {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** What is found where " TO " was expected, after a bound. */
export function factAboutTo(text: string, bound: ReadBound, field: Field): Fact {
  const { start, end } = bound;
  const rest = factAboutRest(text, start, end, field);
  if (rest !== undefined) return rest;
  if (isAt(/\s*(?:$|[\]})]|,\s*\w+\s*[:=<>])/y, text, end))
    return { reason: 'single_bound', start: end, end, bound: bound.text };
  // What is right already is not part of the place.
  const pos = end + textAt(/ (?:TO?)?/y, text, end).length;
  return { reason: 'wrong_to', ...placeOf(/\s+|[a-z]+|[^\s\w\]})*]+/iy, text, pos) };
}

/** What is found where the closing bracket was expected, after a bound. */
export function factAboutClose(text: string, { start, end }: ReadBound, field: Field): Fact {
  const rest = factAboutRest(text, start, end, field);
  if (rest !== undefined) return rest;
  const strayFact = factAboutStray(text, end);
  const after = strayFact?.end ?? end;
  if (isAt(/$|,/y, text, after)) return { reason: 'unclosed_range', start: end, end };
  if (strayFact !== undefined && isAt(/[\]})]/y, text, after)) return strayFact;
  const pos = end + textAt(/\s*/y, text, end).length;
  if (isAt(/\)/y, text, pos)) return { reason: 'wrong_bracket', start: pos, end: pos + 1, bracket: '}' };
  return { reason: 'unclosed_range', ...placeOf(/[^\s\]})]+/y, text, pos) };
}

import { Cursor } from './cursor.ts';
import { type Clause, limits, type ParseOptions } from './filter.ts';
import type { Fact, Fix } from './problem.ts';
import { scanClause } from './scan.ts';
import { takeStray } from './tolerant-bound.ts';
import { readClause, type Vocabulary, vocabularyOf } from './tolerant-clause.ts';

/** What there is to know about a string: the clauses that are right, and what is wrong with the others. */
export interface Findings {
  readonly clauses: readonly Clause[];
  /** What is wrong, in the order of the text. */
  readonly facts: readonly Fact[];
  /** What corrects it, in the order of the text. Undefined when some fact has no sure correction. */
  readonly edits: readonly Fix[] | undefined;
}

/**
 * Reads a string to its end, whatever it contains. Each clause is first given to the scanner, which alone decides what is
 * right. The clauses that it gives up on are read once more, as people write them.
 *
 * filter = [ "?q=" ] { clause separator }
 */
export function readTolerantly(text: string, options: ParseOptions): Findings {
  const { maxLength = limits.maxLength, maxClauses = limits.maxClauses } = options;
  const cursor = new Cursor(text);
  const clauses: Clause[] = [];
  if (text.length > maxLength) {
    cursor.note({
      reason: 'too_long',
      start: maxLength,
      end: text.length,
      most: maxLength,
      length: text.length,
    });
    return findings(cursor, clauses);
  }
  if (noteEncoding(cursor)) return findings(cursor, clauses);
  const vocabulary = vocabularyOf(options);
  readPrefix(cursor);
  let hasNext = readStart(cursor);
  while (hasNext) {
    const { pos: start } = cursor;
    if (clauses.length >= maxClauses) {
      cursor.note({ reason: 'too_many_clauses', start, end: start, most: maxClauses });
      break;
    }
    const clause = rightClause(text, start, vocabulary);
    if (clause === undefined) readWrongClause(cursor, vocabulary);
    else {
      clauses.push(clause);
      cursor.pos = clause.end ?? start;
    }
    hasNext = readSeparator(cursor);
  }
  return findings(cursor, clauses);
}

function findings({ facts, edits, unfixable }: Cursor, clauses: readonly Clause[]): Findings {
  const inOrder = (a: { readonly start: number }, b: { readonly start: number }): number => a.start - b.start;
  facts.sort(inOrder);
  return {
    clauses,
    // What is missing at a place may be missing for two reasons. The first says enough.
    facts: facts.filter(({ start }, index) => start !== facts[index - 1]?.start),
    edits: unfixable === 0 ? edits.sort(inOrder) : undefined,
  };
}

const encodedText = /%[\da-f]{2}|\+to\+|\d{4}-\d\d-\d\d\+\d\d:/i;

/** Notes a string that is percent-encoded, which says all there is to say about it. False when it is not. */
function noteEncoding(cursor: Cursor): boolean {
  const { text } = cursor;
  if (!encodedText.test(text)) return false;
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    const { index: start = 0, 0: found = '' } = /%[\da-f]{2}|\+/i.exec(text) ?? {};
    const fact = { reason: 'still_encoded', start, end: start + found.length } as const;
    cursor.note(fact, { start: 0, end: text.length, text: decoded });
    return true;
  } catch {
    return false;
  }
}

function readPrefix(cursor: Cursor): void {
  if (cursor.take(/\s*\??q=/iy) === '') return;
  cursor.replace({ reason: 'parameter_name', start: 0, end: cursor.pos }, '');
}

/** Moves to the start of the next clause, past commas with nothing before them. False at the end of the text. */
function readStart(cursor: Cursor): boolean {
  skipSpaces(cursor);
  for (;;) {
    const { pos: start } = cursor;
    if (cursor.take(/,/y) === '') return !cursor.isAtEnd;
    cursor.replace({ reason: 'nothing_before_comma', start, end: cursor.pos }, '');
    skipSpaces(cursor);
  }
}

function skipSpaces(cursor: Cursor): void {
  cursor.take(/ +/y);
  takeStray(cursor);
}

function rightClause(text: string, start: number, { fields }: Vocabulary): Clause | undefined {
  const clause = scanClause(text, start, fields);
  // "inc_gce:1" is right, but not at the start of "inc_gce:10".
  return clause?.kind === 'flag' && /[\w.]/.test(text.charAt(clause.end ?? start)) ? undefined : clause;
}

function readWrongClause(cursor: Cursor, vocabulary: Vocabulary): void {
  const { pos: start } = cursor;
  const known = cursor.facts.length;
  readClause(cursor, vocabulary);
  if (cursor.pos === start) cursor.pos++;
  if (cursor.facts.length === known) cursor.note({ reason: 'unexpected_text', start, end: cursor.pos });
}

/** separator = "," | what people write in its place. False at the end of the text. */
function readSeparator(cursor: Cursor): boolean {
  const { pos: clauseEnd } = cursor;
  skipSpaces(cursor);
  const { pos: bracket } = cursor;
  if (cursor.take(/[\])}>]+/y) !== '') {
    cursor.replace({ reason: 'extra_bracket', start: bracket, end: cursor.pos }, '');
    skipSpaces(cursor);
  }
  if (cursor.isAtEnd) return false;
  const { pos: start } = cursor;
  const comma = cursor.take(/,|and\b|&&?|[;+]/iy);
  if (comma !== '') {
    skipSpaces(cursor);
    const { pos: end } = cursor;
    if (cursor.isAtEnd) {
      cursor.note(
        { reason: 'nothing_after_comma', start, end: start + comma.length },
        { start, end, text: '' },
      );
    } else if (comma !== ',') {
      const commaEnd = start + comma.length;
      const fact = { reason: 'wrong_comma', start, end: commaEnd } as const;
      cursor.note(fact, { start: clauseEnd, end: commaEnd, text: ',' });
    }
  } else if (cursor.take(/or\b|\|\|?/iy) !== '') {
    cursor.note({ reason: 'or', start, end: cursor.pos });
  } else if (cursor.match(/[\w-]+(?: +[\w-]+){0,2}\s*[:=<>[{(\u2264\u2265]/y) !== undefined) {
    const next = cursor.peek(/[\w-]+/y);
    cursor.note(
      { reason: 'missing_comma', start, end: start, next },
      { start: clauseEnd, end: start, text: ',' },
    );
  } else {
    cursor.take(/[^\s,]+/y);
    cursor.note({ reason: 'unexpected_text', start, end: cursor.pos });
    cursor.take(/[^,]*,?/y);
  }
  return readStart(cursor);
}

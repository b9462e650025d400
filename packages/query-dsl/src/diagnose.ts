import { type ExtraFields, type KnownField, knownFields } from './dialects.ts';
import { explainClause } from './explain.ts';
import { noBlank } from './explain-range.ts';
import type { Clause, Filter, Version } from './filter.ts';
import { type Problem, toProblem } from './problem.ts';
import { createReader } from './reader.ts';
import { scanClause, skipBlanks } from './scan.ts';
import { warnAbout } from './warn.ts';

/** How a text is read. */
export interface ParseOptions {
  /** The version whose filters are allowed. Without it, those of both. */
  readonly version?: Version | undefined;
  /** Fields to know beside the documented ones, by name. */
  readonly fields?: ExtraFields | undefined;
  /** Longest text read, in UTF-16 units. Default 1,000,000. */
  readonly maxLength?: number | undefined;
  /** Most parts read. Default 10,000. */
  readonly maxClauses?: number | undefined;
}

/** Everything there is to say about a text. */
export interface Diagnosis {
  /** The parts that are right. */
  readonly filter: Filter;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** The limits that hold when the caller names none. */
export const limits = { maxLength: 1_000_000, maxClauses: 10_000 };

// Text that was not decoded. A plus counts only where a blank belongs: it may also be a sign or a time offset.
const encoded = /%[\da-f]{2}|\+to\b|\bto\+|\d\+\d\d:\d\d:/i;

/** Reads on after each problem: gives all problems, all warnings and the parts that are right. Never throws for a text. */
export function diagnose(text: string, options: ParseOptions = {}): Diagnosis {
  const { version, maxLength = limits.maxLength, maxClauses = limits.maxClauses } = options;
  const fields = knownFields(version, options.fields);
  const clauses: Clause[] = [];
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const done: Diagnosis = { filter: { clauses }, problems, warnings };
  if (typeof text !== 'string') {
    problems.push(toProblem('', 'not_text', 0, 0, `A filter is text, not ${typeof text}.`));
    return done;
  }
  if (text.length > maxLength) {
    const message = `The filter is ${text.length} characters long; the limit is ${maxLength}.`;
    problems.push(toProblem(text, 'too_long', maxLength, text.length, message));
    return done;
  }
  const code = encoded.exec(text);
  if (code !== null) {
    const message = 'This text is still encoded for a URL. Decode it first, with fromQueryParam.';
    problems.push(toProblem(text, 'encoded', code.index, code.index + code[0].length, message));
    return done;
  }
  const prefix = /^\s*\??q=/.exec(text)?.[0].length ?? 0;
  if (prefix > 0) {
    const message = '"q=" is the name of the parameter, not a part of the filter.';
    problems.push(
      toProblem(text, 'query_prefix', 0, prefix, message, [], [], { start: 0, end: prefix, text: '' }),
    );
  }
  let pos = skipBlanks(text, prefix);
  if (pos === text.length) return done;
  for (let count = 1; ; count++) {
    if (count > maxClauses) {
      problems.push(toProblem(text, 'too_many_parts', pos, text.length, `The limit is ${maxClauses} parts.`));
      return done;
    }
    pos = skipBlanks(text, readPart(text, pos, fields, clauses, problems));
    if (pos < text.length && text[pos] !== ',') pos = explainGap(text, pos, problems);
    if (pos === text.length) break;
    if (text[pos] === ',') pos = skipBlanks(text, pos + 1);
  }
  for (const clause of clauses) warnings.push(...warnAbout(text, clause, version));
  return done;
}

// Reads one part and gives the place behind it.
function readPart(
  text: string,
  pos: number,
  fields: readonly KnownField[],
  clauses: Clause[],
  problems: Problem[],
): number {
  const clause = scanClause(text, pos, fields);
  if (clause !== undefined && (clause.kind === 'range' || !/[\w.]/.test(text.charAt(clause.end as number)))) {
    clauses.push(clause);
    return clause.end as number;
  }
  const end = partEnd(text, pos);
  const reader = createReader(text, pos, end, problems);
  if (end > pos) {
    explainClause(reader, fields);
    return Math.max(reader.pos, end);
  }
  const comma = pos < text.length ? pos : text.lastIndexOf(',');
  const where = pos < text.length ? 'before ","' : 'after ","';
  problems.push(
    toProblem(
      text,
      'missing_part',
      pos,
      Math.min(pos + 1, text.length),
      `A filter part is missing ${where}.`,
      [],
      [],
      {
        start: comma,
        end: comma + 1,
        text: '',
      },
    ),
  );
  return pos;
}

// Where a faulty part ends: at a comma outside brackets, before `,name:`, or behind its closing bracket.
function partEnd(text: string, pos: number): number {
  const next = /,\s*(?:[a-z_]\w*\s*[:=]|$)/iy;
  let inside = false;
  for (; pos < text.length; pos++) {
    const char = text[pos];
    if (char === '[' || char === '{') inside = true;
    else if (inside && (char === ']' || char === '}')) return pos + 1;
    else if (char === ',') {
      next.lastIndex = pos;
      if (!inside || next.test(text)) return pos;
    }
  }
  return pos;
}

const connector = /(?:and\b|&&?|;)\s*/iy;
const partStart = /[a-z_]\w*\s*[:=]/iy;

const matchAt = (pattern: RegExp, text: string, pos: number): string => {
  pattern.lastIndex = pos;
  return pattern.exec(text)?.[0] ?? '';
};

// Something stands where a comma or the end belongs. Gives the place to read on from.
function explainGap(text: string, pos: number, problems: Problem[]): number {
  const reader = createReader(text, pos, text.length, problems);
  noBlank(reader);
  if (reader.pos > pos) return reader.pos;
  const word = matchAt(connector, text, pos);
  const next = pos + word.length;
  if (matchAt(partStart, text, next) === '') {
    reader.miss('missing_comma', ['","', 'the end of the text']);
    const comma = text.indexOf(',', pos);
    return comma < 0 ? text.length : comma;
  }
  reader.report('missing_comma', pos, Math.max(next, pos + 1), 'Parts are separated by ",".', {
    expected: [','],
    fix: { start: pos, end: next, text: ',' },
  });
  return next;
}

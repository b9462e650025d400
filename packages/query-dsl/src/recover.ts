import type { Clause, ParseOptions } from './filter.ts';
import { factAboutEncoding, textAt } from './found.ts';
import type { Fact, Fix } from './problem.ts';
import { attempt, Reader, read } from './reader.ts';
import { rewriteClause } from './rewrites.ts';

/** What is wrong with a clause or in front of it, and what to write for the clause, if that is known. */
export interface Mistake {
  readonly fact: Fact;
  readonly clause: string | undefined;
}

/** What there is to know about a string that is not a filter. */
export interface Findings {
  /** The clauses that are right. */
  readonly clauses: readonly Clause[];
  /** The first mistake of each other clause, in the order of the text. */
  readonly mistakes: readonly Mistake[];
  /** Corrects the whole text. Undefined when a mistake has no rewrite that parses. */
  readonly fix: Fix | undefined;
}

/** Reads a string to its end: where the reader stops, the clause is rewritten or skipped, and the reader goes on after it. */
export function readOn(text: string, options: ParseOptions): Findings {
  const { clauses, mistakes, corrected } = readPieces(text, options);
  // A text without a clause would match everything.
  const isFilter =
    corrected !== undefined && corrected.trim() !== '' && read(corrected, options).fact === undefined;
  if (isFilter) return { clauses, mistakes, fix: changeOf(text, corrected) };
  // What one clause should be is no advice when the rest is not understood.
  return { clauses, mistakes: mistakes.map(({ fact }) => ({ fact, clause: undefined })), fix: undefined };
}

interface Pieces extends Omit<Findings, 'fix'> {
  readonly corrected: string | undefined;
}

function readPieces(text: string, options: ParseOptions): Pieces {
  const encoded = readEncoded(text, options);
  if (encoded !== undefined) return encoded;
  const reader = new Reader(text, options);
  const clauses: Clause[] = [];
  const mistakes: Mistake[] = [];
  const texts: (string | undefined)[] = [];
  for (;;) {
    const { pos: start } = reader;
    const next = attempt(() => reader.next());
    if (next.fact === undefined) {
      texts.push(text.slice(start, reader.pos));
      if (next.value === null) break;
      clauses.push(next.value);
      continue;
    }
    const { fact } = next;
    const isLimit = fact.reason === 'too_long' || fact.reason === 'too_many_clauses';
    const piece: Piece = isLimit ? { end: text.length } : mend(text, start, options);
    // A value or an operator in the place of a range goes on to the end of what was rewritten.
    const end = fact.reason === 'missing_range' && piece.rewritten !== undefined ? piece.end : fact.end;
    mistakes.push({ fact: { ...fact, end }, clause: piece.rewritten });
    if (piece.clause !== undefined) clauses.push(piece.clause);
    texts.push(piece.text);
    reader.pos = piece.end;
  }
  return { clauses, mistakes, corrected: texts.includes(undefined) ? undefined : texts.join('') };
}

/** Decodes a text that is still encoded, once, and corrects what is wrong with it then. */
function readEncoded(text: string, options: ParseOptions): Pieces | undefined {
  const fact = factAboutEncoding(text);
  const decoded = fact && decode(text);
  if (fact === undefined || decoded === undefined) return undefined;
  const isDecoded = factAboutEncoding(decoded) === undefined;
  const corrected = isDecoded ? readPieces(decoded, options).corrected : undefined;
  return { clauses: [], mistakes: [{ fact, clause: undefined }], corrected };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** What stands for a clause and all that is in front of it. */
interface Piece {
  /** Where the part of the text ends that it stands for. */
  readonly end: number;
  /** Undefined when the clause has no rewrite. */
  readonly text?: string;
  /** The clause, when only something in front of it is wrong. */
  readonly clause?: Clause;
  /** The clause as it was rewritten. */
  readonly rewritten?: string;
}

// What people write in front of the first clause, and between two clauses.
const lead = /(?:\s*\??q=)?[\s,"'`\u2018\u201c+(]*/iy;
const between = /[\s"'`\u2019\u201d\])}>]*(?:,|and\b|&&?|[;+])?[\s,"'`\u2018\u201c+(]*/iy;

// A clause ends at a comma, at its closing bracket or, when that is missing, before the next `,name:`.
const wholeClause = /(?:"[^"]*"|[^,[{])*(?:[[{].*?(?:[\]}]|(?=,\s*\w+\s*[:=])|$))?/sy;

/** Corrects what the reader stopped at: in front of the clause that follows `start`, or in the clause. */
function mend(text: string, start: number, options: ParseOptions): Piece {
  const gap = textAt(start === 0 ? lead : between, text, start);
  const pos = start + gap.length;
  // Only spaces after the last character that is wrong are kept.
  const spaces = gap.replace(/["'`\u2018\u201c+(]+$/, '').replace(/^.*[^ ]/s, '');
  if (pos === text.length) return { end: pos, text: spaces };
  const before = start === 0 ? spaces : commaFor(gap, spaces);
  const reader = new Reader(text, options);
  reader.pos = pos;
  const clause = attempt(() => reader.clause());
  if (clause.fact === undefined)
    return { end: reader.pos, text: before + text.slice(pos, reader.pos), clause: clause.value };
  const rewrite = rewriteClause(text, pos, options);
  if (rewrite !== undefined)
    return { end: rewrite.end, text: before + rewrite.text, rewritten: rewrite.text };
  return { end: Math.max(pos + textAt(wholeClause, text, pos).length, start + 1) };
}

/** The comma between two clauses: as it is written if it is right, else with the spaces that were around the mistake. */
function commaFor(gap: string, spaces: string): string {
  if (/^ *, *$/.test(gap)) return gap;
  return /[^ +]/.test(gap) ? `,${spaces}` : ',';
}

/** The smallest change that makes one text of another. */
function changeOf(text: string, corrected: string): Fix {
  const most = Math.min(text.length, corrected.length);
  let start = 0;
  while (start < most && text[start] === corrected[start]) start++;
  let same = 0;
  while (same < most - start && text.at(-1 - same) === corrected.at(-1 - same)) same++;
  return { start, end: text.length - same, text: corrected.slice(start, corrected.length - same) };
}

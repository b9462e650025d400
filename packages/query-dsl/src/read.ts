import { type ExtraFields, knownFields } from './dialects.ts';
import type { Clause, Filter, Version } from './filter.ts';
import { type Problem, report } from './problem.ts';
import { readClause } from './read-clause.ts';
import { eat, type Reader, tidy } from './reader.ts';

/** How a text is read. */
export interface ParseOptions {
  /** The version whose filters are allowed. Without it, those of both. */
  readonly version?: Version | undefined;
  /** Fields to know beside the documented ones: names in lower case, with the type of their bounds. */
  readonly fields?: ExtraFields | undefined;
  /** Longest text read, in UTF-16 units. Default 1,000,000. */
  readonly maxLength?: number | undefined;
  /** Most parts read. Default 10,000. */
  readonly maxClauses?: number | undefined;
}

const prefix = /\??q=/y;
const sloppyComma = /and\s*/iy;

/**
 * Reads a text. Without `problems`, undefined tells that something is wrong. With it, what is wrong is collected: in the
 * first part that has a problem, or everywhere when `resume` says where a faulty part ends.
 */
export function read(
  text: string,
  options: ParseOptions,
  problems?: Problem[],
  resume?: (text: string, start: number) => number,
): Filter | undefined {
  const { maxLength = 1e6, maxClauses = 1e4 } = options;
  const fields = knownFields(options.version, options.fields);
  const reader: Reader = { text, fields, names: Object.keys(fields), problems, pos: 0 };
  const clauses: Clause[] = [];
  const filter = { clauses };
  const skip = (): boolean => {
    while (text.charCodeAt(reader.pos) === 32) reader.pos++;
    tidy(reader);
    return reader.pos === text.length;
  };
  if (text.length > maxLength) {
    return report(reader, 'limit', 0, 0, [`At most ${maxLength} characters`]);
  }
  eat(reader, '', prefix);
  if (skip()) return filter;
  for (;;) {
    if (clauses.length === maxClauses) {
      return report(reader, 'limit', reader.pos, 0, [`At most ${maxClauses} parts`]);
    }
    const { pos } = reader;
    const before = problems?.length;
    const clause = readClause(reader);
    if (problems?.length === before && clause) clauses.push(clause);
    else if (resume) reader.pos = resume(text, pos);
    else return undefined;
    if (skip()) return filter;
    if (!eat(reader, ',', sloppyComma) && !resume) return undefined;
    skip();
  }
}

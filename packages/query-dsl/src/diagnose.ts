import type { Filter } from './filter.ts';
import type { Problem } from './problem.ts';
import { type ParseOptions, read } from './read.ts';
import { warnAbout } from './warn.ts';

/** Everything there is to say about a text. */
export interface Diagnosis {
  /** The parts that are right. */
  readonly filter: Filter;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

// A part ends at a comma, behind its closing bracket, or, when that is missing, before the next `,name:`.
const wholePart = /[^,[{]*(?:[[{].*?(?:[\]}]|(?=,\s*\w+\s*[:=])|$))?/sy;

const partEnd = (text: string, start: number): number => {
  wholePart.lastIndex = start;
  wholePart.test(text);
  return wholePart.lastIndex;
};

/** Callers without types may hand over anything: its type is then an unknown field, and no crash. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : typeof value);

/** Reads on after each problem: gives all problems, all warnings and the parts that are right. Never throws for a text. */
export function diagnose(input: string, options: ParseOptions = {}): Diagnosis {
  const text = asText(input);
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const filter = read(text, options, problems, partEnd) ?? { clauses: [] };
  warnAbout(text, filter, options.version, warnings);
  return {
    filter,
    // What is missing at a place may be missing for two reasons; the first one says enough.
    problems: problems.filter((problem, index) => problem.start !== problems[index - 1]?.start),
    warnings,
  };
}

import { FilterArgumentError, FilterSyntaxError } from './errors.ts';
import { toProblem } from './explain.ts';
import type { Clause, Filter, FilterInput, ParseOptions } from './filter.ts';
import { applyFix, type Fact, type Problem } from './problem.ts';
import { read } from './reader.ts';
import { readOn } from './recover.ts';

/**
 * Reads a filter. Throws a `FilterSyntaxError` that says what is wrong, where, and what to write instead.
 *
 * @example
 * const filter = parse('talk_minutes:[2 TO *],inc_gce:1', { version: 'v3' });
 */
export function parse(text: string, options: ParseOptions = {}): Filter {
  if (typeof text !== 'string') throw new FilterArgumentError(`A filter is a string, not ${typeof text}.`);
  const result = read(text, options);
  if (result.fact === undefined) return result.value;
  const { mistakes, fix } = readOn(text, options);
  const { fact, clause } = mistakes[0] ?? { fact: result.fact, clause: undefined };
  throw new FilterSyntaxError(toProblem(text, fact, { fix, clause }));
}

/**
 * The filter of a string, a tree or a builder. A string is parsed.
 *
 * @example
 * toFilter('talk_minutes:[2 TO *]').clauses.length; // 1
 */
export function toFilter(input: FilterInput, options?: ParseOptions): Filter {
  if (typeof input === 'string') return parse(input, options);
  const filter =
    input !== null && typeof input === 'object' && 'toFilter' in input ? input.toFilter() : input;
  if (!Array.isArray(filter?.clauses))
    throw new FilterArgumentError(
      'A filter is a string such as "talk_minutes:[2 TO *]", a tree from parse, or what where(...).atLeast(2) and allOf return.',
    );
  return filter;
}

/** How `safeParse` reads a filter. */
export interface SafeParseOptions extends ParseOptions {
  /**
   * Correct the text where that can be done in one way only. The problems that were corrected are given as warnings, and the
   * offsets of the filter point into the corrected text. Default false.
   */
  readonly lenient?: boolean | undefined;
}

/** The result of `safeParse`: the filter with its warnings, or the first problem. */
export type ParseResult =
  | {
      readonly ok: true;
      readonly filter: Filter;
      /** The text of the filter: the input or, where `lenient` had to change it, the corrected text. */
      readonly text: string;
      /** The problems that `lenient` corrected, then what is valid but may not be meant. */
      readonly warnings: readonly Problem[];
    }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Reads a filter and never throws, whatever the text.
 *
 * @example
 * const result = safeParse('talk_minuts:>5', { lenient: true });
 * if (result.ok) console.log(result.text); // talk_minutes:{5 TO *]
 * else console.log(result.problem.message, result.problem.fix);
 */
export function safeParse(input: string, options: SafeParseOptions = {}): ParseResult {
  const text = asString(input);
  const { filter, problems, warnings } = diagnose(text, options);
  const [problem] = problems;
  if (problem === undefined) return { ok: true, filter, text, warnings };
  const corrected = options.lenient === true ? applyFix(text, problem) : undefined;
  if (corrected === undefined) return { ok: false, problem };
  const result = diagnose(corrected, options);
  return { ok: true, filter: result.filter, text: corrected, warnings: [...problems, ...result.warnings] };
}

/** Everything there is to say about a string. */
export interface Diagnosis {
  /** The clauses that are right. */
  readonly filter: Filter;
  /** The first problem of each clause, in the order of the text. If the text can be corrected, each has the same `fix` for all of it. */
  readonly problems: readonly Problem[];
  /** What is valid but may not be meant. */
  readonly warnings: readonly Problem[];
}

/**
 * Reads on after a problem, with the next clause: gives the first problem of each clause, all warnings, and the clauses that
 * are right. Never throws.
 *
 * @example
 * for (const { message, frame } of diagnose(text).problems) console.log(`${message}\n${frame}`);
 */
export function diagnose(input: string, options: ParseOptions = {}): Diagnosis {
  const text = asString(input);
  const result = read(text, options);
  if (result.fact === undefined) {
    const { value: filter } = result;
    return { filter, problems: [], warnings: warningsAbout(text, filter.clauses, options) };
  }
  const { clauses, mistakes, fix } = readOn(text, options);
  return {
    filter: { clauses },
    problems: mistakes.map(({ fact, clause }) => toProblem(text, fact, { fix, clause })),
    warnings: warningsAbout(text, clauses, options),
  };
}

// Callers without types may pass anything. The name of its type is then an unknown field, and nothing crashes.
const asString = (value: unknown): string => (typeof value === 'string' ? value : typeof value);

/** What is right but may not be meant. */
function warningsAbout(text: string, clauses: readonly Clause[], { version }: ParseOptions): Problem[] {
  const facts: Fact[] = [];
  for (const clause of clauses) {
    if (clause.kind === 'flag') continue;
    const { field, lower, upper, start = 0, end = 0 } = clause;
    const place = { start: start + field.length + 1, end };
    if (lower === null && upper === null) facts.push({ reason: 'any_value', ...place, field });
    if (lower !== null && lower.text === upper?.text && !(lower.inclusive && upper.inclusive)) {
      facts.push({ reason: 'empty_range', ...place, bound: lower.text });
    }
    if (version === 'v3' && (text[place.start] === '{' || text[end - 1] === '}')) {
      facts.push({ reason: 'undocumented_bracket', ...place });
    }
  }
  return facts.map((fact) => toProblem(text, fact));
}

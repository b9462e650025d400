import { FilterArgumentError, FilterSyntaxError } from './errors.ts';
import { toProblem } from './explain.ts';
import type { ParseOptions } from './filter.ts';
import { type Clause, type Filter, type FilterLike, filterOf } from './filter.ts';
import type { Fact, Fix, Problem } from './problem.ts';
import { scan } from './scan.ts';
import { readTolerantly } from './tolerant-filter.ts';

/**
 * Reads a filter. Throws a `FilterSyntaxError` that says what is wrong, where, and what to write instead.
 *
 * @example
 * const filter = parse('talk_minutes:[2 TO *],inc_gce:1', { version: 'v3' });
 */
export function parse(text: string, options: ParseOptions = {}): Filter {
  if (typeof text !== 'string') throw new FilterArgumentError(`A filter is a string, not ${typeof text}.`);
  const filter = scan(text, options);
  if (filter === undefined) throw new FilterSyntaxError(firstProblem(text, options));
  return filter;
}

/** The filter of a string, a tree or a builder. A string is parsed. */
export function toFilter(input: string | FilterLike, options?: ParseOptions): Filter {
  return typeof input === 'string' ? parse(input, options) : filterOf(input);
}

/** How `safeParse` reads a filter. */
export interface SafeParseOptions extends ParseOptions {
  /**
   * Correct the text where that can be done in one way only. What was changed is given as warnings, and the offsets of the
   * filter point into the corrected text. Default false.
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
      /** What `lenient` changed (the problems that have a `fix`), then what is valid but may not be meant. */
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
  const filter = scan(text, options);
  if (filter !== undefined)
    return { ok: true, filter, text, warnings: warningsAbout(text, filter.clauses, options) };
  return (options.lenient === true ? readLeniently(text, options) : undefined) ?? new Failure(text, options);
}

/** Everything there is to say about a string. */
export interface Diagnosis {
  /** The clauses that are right. */
  readonly filter: Filter;
  /** What is wrong, in the order of the text. If the text can be corrected, each has the same `fix` for all of it. */
  readonly problems: readonly Problem[];
  /** What is valid but may not be meant. */
  readonly warnings: readonly Problem[];
}

/**
 * Reads on after each problem: gives all problems, all warnings and the clauses that are right. Never throws.
 *
 * @example
 * for (const { message, frame } of diagnose(text).problems) console.log(`${message}\n${frame}`);
 */
export function diagnose(input: string, options: ParseOptions = {}): Diagnosis {
  const text = asString(input);
  const filter = scan(text, options);
  if (filter !== undefined) {
    return { filter, problems: [], warnings: warningsAbout(text, filter.clauses, options) };
  }
  const { clauses, facts, edits } = readTolerantly(text, options);
  const fix = correct(text, edits, options)?.fix;
  return {
    filter: { clauses },
    problems: facts.map((fact) => toProblem(text, fact, fix)),
    warnings: warningsAbout(text, clauses, options),
  };
}

// Callers without types may pass anything. The name of its type is then an unknown field, and nothing crashes.
const asString = (value: unknown): string => (typeof value === 'string' ? value : typeof value);

function firstProblem(text: string, options: ParseOptions): Problem {
  const { facts, edits } = readTolerantly(text, options);
  return toProblem(text, facts[0] as Fact, correct(text, edits, options)?.fix);
}

// Explaining a problem costs many times what finding out costs, so it is done when the problem is read.
class Failure {
  readonly ok = false;
  readonly #text: string;
  readonly #options: ParseOptions;
  #problem: Problem | undefined;

  constructor(text: string, options: ParseOptions) {
    this.#text = text;
    this.#options = options;
  }

  get problem(): Problem {
    this.#problem ??= firstProblem(this.#text, this.#options);
    return this.#problem;
  }

  toJSON(): object {
    return { ok: false, problem: this.problem };
  }
}

function readLeniently(text: string, options: ParseOptions): ParseResult | undefined {
  const { facts, edits } = readTolerantly(text, options);
  const corrected = correct(text, edits, options);
  if (corrected === undefined) return undefined;
  const { filter, fix } = corrected;
  const changes = [
    ...facts.map((fact) => toProblem(text, fact, fix)),
    ...corrected.later.map((each) => toProblem(each.text, each.fact, fix)),
  ];
  const warnings = warningsAbout(corrected.text, filter.clauses, options);
  return { ok: true, filter, text: corrected.text, warnings: [...changes, ...warnings] };
}

/** A string in which everything is corrected. */
interface Correction {
  readonly text: string;
  readonly filter: Filter;
  /** What to change in the text as it was given. */
  readonly fix: Fix;
  /** Mistakes that only the first corrections brought up, each with the text that it was found in. */
  readonly later: readonly { readonly text: string; readonly fact: Fact }[];
}

const mostRounds = 8;

/** Applies edits until the text is a filter. Undefined when something has no sure correction, or no text would be left. */
function correct(
  text: string,
  edits: readonly Fix[] | undefined,
  options: ParseOptions,
): Correction | undefined {
  const later: { text: string; fact: Fact }[] = [];
  let current = text;
  let next = edits;
  for (let round = 1; round <= mostRounds && next !== undefined; round++) {
    current = applyAll(current, next);
    if (current.trim() === '') return undefined;
    const filter = scan(current, options);
    if (filter !== undefined) {
      const start = round === 1 ? (next[0]?.start ?? 0) : 0;
      const end = round === 1 ? Math.max(...next.map((edit) => edit.end)) : text.length;
      const changed = current.slice(start, current.length - (text.length - end));
      return { text: current, filter, fix: { start, end, text: changed }, later };
    }
    const found = readTolerantly(current, options);
    for (const fact of found.facts) later.push({ text: current, fact });
    next = found.edits;
  }
  return undefined;
}

function applyAll(text: string, edits: readonly Fix[]): string {
  let result = '';
  let pos = 0;
  for (const edit of edits) {
    result += text.slice(pos, edit.start) + edit.text;
    pos = Math.max(pos, edit.end);
  }
  return result + text.slice(pos);
}

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

import { diagnose, limits, type ParseOptions } from './diagnose.ts';
import { knownFields } from './dialects.ts';
import { FilterSyntaxError } from './error.ts';
import { type Clause, type Filter, type FilterLike, filterOf } from './filter.ts';
import type { Fix, Problem } from './problem.ts';
import { scanClause, skipBlanks } from './scan.ts';

/** Options of `parse` and `safeParse`. */
export interface ReadOptions extends ParseOptions {
  /** Apply the fixes and give them as warnings. Offsets of the filter then point into the mended text. Default false. */
  readonly lenient?: boolean | undefined;
}

/** What `safeParse` gives: the filter with its warnings, or the first problem. */
export type ParseResult =
  | { readonly ok: true; readonly filter: Filter; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problem: Problem };

// The explanation costs more than the parse, so it is made when somebody reads it.
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
    this.#problem ??= diagnose(this.#text, this.#options).problems[0] as Problem;
    return this.#problem;
  }

  toJSON(): object {
    return { ok: false, problem: this.problem };
  }
}

const defaults: ReadOptions = {};
const none: readonly Problem[] = [];

/** Reads a filter. Never throws for a text, whatever stands in it. */
export function safeParse(text: string, options: ReadOptions = defaults): ParseResult {
  const clauses = scan(text, options);
  if (clauses === undefined)
    return options.lenient === true ? mend(text, options) : new Failure(text, options);
  const remarkable = clauses.some((clause) => isRemarkable(clause));
  const warnings = remarkable || options.version === 'v3' ? diagnose(text, options).warnings : none;
  return { ok: true, filter: { clauses }, warnings };
}

/** Reads a filter, or throws a `FilterSyntaxError` that says where the text is wrong and how to mend it. */
export function parse(text: string, options: ReadOptions = defaults): Filter {
  const result = safeParse(text, options);
  if (result.ok) return result.filter;
  throw new FilterSyntaxError(result.problem);
}

/** The filter behind a text, a tree or a builder. */
export function toFilter(input: string | FilterLike, options?: ReadOptions): Filter {
  return typeof input === 'string' ? parse(input, options) : filterOf(input);
}

function isRemarkable(clause: Clause): boolean {
  if (clause.kind === 'flag') return false;
  const { lower, upper } = clause;
  return lower === null ? upper === null : lower.text === upper?.text;
}

function scan(text: string, options: ReadOptions): Clause[] | undefined {
  const { maxLength = limits.maxLength, maxClauses = limits.maxClauses } = options;
  if (typeof text !== 'string' || text.length > maxLength) return undefined;
  const fields = knownFields(options.version, options.fields);
  const clauses: Clause[] = [];
  let pos = skipBlanks(text, 0);
  if (pos === text.length) return clauses;
  for (;;) {
    const clause = clauses.length < maxClauses ? scanClause(text, pos, fields) : undefined;
    if (clause === undefined) return undefined;
    clauses.push(clause);
    pos = skipBlanks(text, clause.end as number);
    if (pos === text.length) return clauses;
    if (text.charCodeAt(pos) !== 44) return undefined;
    pos = skipBlanks(text, pos + 1);
  }
}

// A few rounds, since a fix may uncover the next problem; each round applies all fixes that do not overlap.
function mend(text: string, options: ReadOptions): ParseResult {
  const strict = { ...options, lenient: false };
  const warnings: Problem[] = [];
  let mended = text;
  for (let round = 0; round < 8; round++) {
    const { problems } = diagnose(mended, strict);
    const stuck = problems.find((problem) => problem.fix === undefined);
    if (stuck !== undefined) return { ok: false, problem: stuck };
    warnings.push(...problems);
    mended = applyFixes(
      mended,
      problems.map((problem) => problem.fix as Fix),
    );
    const result = safeParse(mended, strict);
    if (result.ok) return { ...result, warnings: [...warnings, ...result.warnings] };
  }
  return new Failure(mended, strict);
}

function applyFixes(text: string, fixes: readonly Fix[]): string {
  let mended = '';
  let pos = 0;
  for (const fix of [...fixes].sort((a, b) => a.start - b.start)) {
    if (fix.start < pos) continue;
    mended += text.slice(pos, fix.start) + fix.text;
    pos = fix.end;
  }
  return mended + text.slice(pos);
}

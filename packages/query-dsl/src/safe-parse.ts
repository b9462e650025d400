import { asText, diagnose } from './diagnose.ts';
import type { Filter } from './filter.ts';
import type { Problem } from './problem.ts';
import { type ParseOptions, read } from './read.ts';
import { warnAbout } from './warn.ts';

/** Options of `safeParse`. */
export interface SafeParseOptions extends ParseOptions {
  /**
   * Apply the fixes and give what they mended as warnings. Offsets of the filter then point into the mended text.
   * Default false.
   */
  readonly lenient?: boolean | undefined;
}

/** What `safeParse` gives: the filter with its warnings, or the first problem. */
export type ParseResult =
  | { readonly ok: true; readonly filter: Filter; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problem: Problem };

// Saying what is wrong costs many times what finding out costs, so it is done when somebody reads it.
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

/** Reads a filter. Never throws for a text, whatever stands in it. */
export function safeParse(input: string, options: SafeParseOptions = {}): ParseResult {
  const text = asText(input);
  const filter = read(text, options);
  if (filter === undefined)
    return options.lenient === true ? mend(text, options) : new Failure(text, options);
  const warnings: Problem[] = [];
  warnAbout(text, filter, options.version, warnings);
  return { ok: true, filter, warnings };
}

// A fix may uncover the next problem, so this goes a few rounds. Problems of later rounds point into the mended text;
// when the text cannot be mended, the answer is about the text as it was.
function mend(text: string, options: ParseOptions): ParseResult {
  const mended: Problem[] = [];
  let rest = text;
  for (let round = 0; ; round++) {
    const { filter, problems, warnings } = diagnose(rest, options);
    if (problems.length === 0) return { ok: true, filter, warnings: [...mended, ...warnings] };
    if (round > 8 || problems.some(({ fix }) => fix === undefined)) return new Failure(text, options);
    mended.push(...problems);
    rest = applyFixes(rest, problems);
  }
}

function applyFixes(text: string, problems: readonly Problem[]): string {
  let mended = '';
  let pos = 0;
  for (const { fix } of problems) {
    if (fix === undefined || fix.start < pos) continue;
    mended += text.slice(pos, fix.start) + fix.text;
    pos = fix.end;
  }
  return mended + text.slice(pos);
}

import { drawFrame } from '@call-attribution/query-dsl';
import type { Condition, Vocabulary } from './condition.ts';
import { Mistake } from './literal.ts';
import { type ConditionProblem, explain } from './problem.ts';
import { Reader } from './reader.ts';

/** A condition, or the first thing wrong with it. */
export type ConditionResult =
  | { readonly ok: true; readonly condition: Condition; readonly warnings: readonly ConditionProblem[] }
  | { readonly ok: false; readonly problem: ConditionProblem };

/**
 * Reads a condition. Never throws for a string, whatever it holds.
 *
 *     condition := and { OR and }
 *     and       := not { AND not }
 *     not       := NOT not | "(" condition ")" | test
 *     test      := field [ compare ]
 *     compare   := operator value | [NOT] IN "(" value { "," value } ")" | [NOT] LIKE string | [NOT] BETWEEN value AND value | IS [NOT] NULL
 */
export function readCondition(text: string, vocabulary: Vocabulary): ConditionResult {
  const reader = new Reader(text, vocabulary);
  try {
    const condition = reader.read();
    return { ok: true, condition, warnings: reader.warnings.map((mistake) => problemOf(text, mistake)) };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const problem = problemOf(text, error);
    return { ok: false, problem: { ...problem, corrected: correct(text, error, vocabulary) } };
  }
}

function problemOf(text: string, { fact, start, end }: Mistake): ConditionProblem {
  const found = text.slice(start, Math.min(end, start + 60));
  return {
    code: fact.code,
    message: explain(fact, found),
    start,
    end,
    found,
    frame: drawFrame(text, start, end - start),
  };
}

/** The text with this and all further mistakes corrected, if each of them has one sure correction. */
function correct(text: string, first: Mistake, vocabulary: Vocabulary): string | undefined {
  let mistake: Mistake | null = first;
  let rest = text;
  for (let round = 0; mistake; round += 1) {
    if (mistake.fix === undefined || round > 20) return undefined;
    rest = rest.slice(0, mistake.start) + mistake.fix + rest.slice(mistake.end);
    try {
      new Reader(rest, vocabulary).read();
      mistake = null;
    } catch (error) {
      if (!(error instanceof Mistake)) throw error;
      mistake = error;
    }
  }
  return rest;
}

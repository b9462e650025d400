import { formatNaive } from '@call-attribution/core/time';
import { createAnswers, planQuestion, type Question } from '@call-attribution/questions';
import type { NaiveRange } from '../args/time.ts';

/**
 * The time that questions need the calls of. Null when they need all calls, whatever else is asked of them, because something follows from
 * the other calls of a caller.
 */
export function neededPeriod(questions: readonly Question[]): NaiveRange | null {
  if (questions.some((question) => planQuestion(question).needsSequence)) return null;
  const { from, to } = createAnswers(questions).needs.period;
  return { from: from === null ? null : formatNaive(from), to: to === null ? null : formatNaive(to) };
}

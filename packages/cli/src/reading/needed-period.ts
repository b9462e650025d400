import { formatNaive } from '@call-attribution/core/time';
import { planQuestion, type Question } from '@call-attribution/questions';
import type { NaiveRange } from '../args/time.ts';

/**
 * The time that questions need the calls of: their period, and the one that they compare with. Null when they need all calls, because
 * something in them follows from the other calls of a caller.
 */
export function neededPeriod(questions: readonly Question[]): NaiveRange | null {
  const plans = questions.map((question) => planQuestion(question));
  if (plans.some((plan) => plan.needsSequence)) return null;
  const periods = plans.flatMap(({ period, compared }) => [period, ...(compared === null ? [] : [compared])]);
  const from = periods.map((period) => period.from);
  const to = periods.map((period) => period.to);
  const known = (ends: readonly (number | null)[]): number[] =>
    ends.flatMap((end) => (end === null ? [] : [end]));
  return {
    from: from.includes(null) ? null : formatNaive(Math.min(...known(from))),
    to: to.includes(null) ? null : formatNaive(Math.max(...known(to))),
  };
}

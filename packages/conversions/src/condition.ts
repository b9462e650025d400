import { CallsError } from '@call-attribution/core/errors';
import type { Call } from '@call-attribution/core/record';
import { type Definitions, planCalls, selectCalls } from '@call-attribution/questions';

/** A condition in the words of `--where`, for one call after the other. */
export interface CallCondition {
  /** It depends on the other calls of a caller: each call has to be learned before one is judged. */
  readonly needsCallers: boolean;
  /** Looks at a call that the condition may depend on. */
  learn(call: Call): void;
  /** Is it true of the call? What cannot be said is not. */
  holds(call: Call): boolean;
}

/** Reads a condition. Throws a `QuestionError` for one with a mistake. */
export function conditionOf(where: string, definitions?: Definitions): CallCondition {
  const plan = planCalls({ where, definitions });
  const selector = selectCalls(plan);
  return {
    needsCallers: plan.otherCalls !== 'none',
    learn: (call) => selector.learn(call, String(call.acct_id)),
    holds: (call) => selector.judge(call, String(call.acct_id)) !== 'no',
  };
}

/** What is wrong with a condition, as a sentence; null when it can be read. */
export function conditionProblem(where: string, definitions?: Definitions): string | null {
  try {
    conditionOf(where, definitions);
    return null;
  } catch (error) {
    if (CallsError.is(error)) return error.summary.replace(/^where: /, '');
    throw error;
  }
}

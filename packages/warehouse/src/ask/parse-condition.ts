import { type ConditionResult, readCondition } from '../where/parse.ts';
import { questionFields } from './vocabulary.ts';

const fields = questionFields();

/**
 * Reads a condition without asking anything: for editors, and for programs that change a condition before they pass it on.
 *
 * @example
 * const result = parseCondition("talk_minutes >= 2 AND state IN ('TX', 'CA')");
 * if (!result.ok) console.log(result.problem.message, result.problem.corrected);
 */
export function parseCondition(text: string): ConditionResult {
  return readCondition(text, fields);
}

import { option, QuestionError, sentence } from '../errors.ts';
import type { ReadField } from '../fields/derived.ts';
import type { Question } from './question.ts';

/** What was spent, by the names that people wrote. */
export type Spend = readonly (readonly [name: string, amount: number])[];

/** Reads `spend`. Which group a name stands for is known when the groups are. */
export function readSpend(spend: NonNullable<Question['spend']>, groups: readonly ReadField[]): Spend {
  if (groups.length === 1) return Object.entries(spend);
  throw new QuestionError(
    'invalid_question',
    sentence`${option('spend')} goes with one group: the spend of each of its values is given.`,
  );
}

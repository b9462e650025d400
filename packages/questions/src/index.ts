// Questions about calls: what they mean, and an exact answer in plain JavaScript over records or
// columns. Start with answerQuestion(question, calls); createAnswers(questions) is fed account by
// account. /measures has the table of measures.

export {
  excludedSentence,
  extensionsSentence,
  firstCallSentence,
  negationSentence,
  shownValue,
} from './answer/left-out.ts';
export { isOfCondition } from './answer/notes.ts';
export {
  type Condition,
  fieldsOf,
  judgedField,
  type Literal,
  type Operator,
  quote,
  type Term,
  type Test,
  type Value,
} from './conditions/condition.ts';
export type { Definitions } from './conditions/definitions.ts';
export {
  type ConditionProblem,
  type ConditionProblemCode,
  type ConditionResult,
  definitionsIn,
  spelledOut,
} from './conditions/parse.ts';
export { absentSentence } from './conditions/unknown-name.ts';
export {
  type AnswerOptions,
  answerQuestion,
  createAnswers,
  type RunningAnswers,
} from './engine/answer-question.ts';
export { maskedTruths } from './engine/masked-truths.ts';
export type { Calls } from './engine/records.ts';
export { type CallSelector, selectCalls } from './engine/select-calls.ts';
export { type OptionSentence, QuestionError, type QuestionErrorCode } from './errors.ts';
export type { ColumnBatch } from './fields/batch.ts';
export { type ClickIdName, type ClickIds, clickIdNames, clickIdsOf } from './fields/click-ids.ts';
export { type QuestionField, type Touch, touches } from './fields/derived.ts';
export { derivedFields, questionFields } from './fields/vocabulary.ts';
export type { DateOrder } from './outcomes/dates.ts';
export {
  type MatchedCall,
  matchOutcomes,
  type OutcomeMatch,
  type OutcomeMatcher,
  type Unmatched,
  unmatchedTexts,
  usualWindow,
} from './outcomes/match-outcomes.ts';
export type { Outcome, OutcomeFile, TableRow } from './outcomes/outcome.ts';
export {
  type OutcomeOptions,
  type Outcomes,
  readOutcomes,
} from './outcomes/read-outcomes.ts';
export type {
  AccountStatus,
  Answer,
  AnswerColumn,
  AnswerValue,
  FoundOutcome,
  LeftOut,
  Note,
} from './question/answer.ts';
export type { Need } from './question/needs.ts';
export {
  checkZone,
  machineZone,
  type PeriodClock,
  partOver,
  periodNotes,
  periodWords,
  type ReadPeriod,
  readPeriod,
  type SaidPeriod,
  type Zones,
} from './question/period.ts';
export { type Plan, planCalls, planQuestion, planUpTo, type ReadOptions } from './question/plan.ts';
export type {
  CallSelection,
  Question,
  Spend,
  SpendAmount,
} from './question/question.ts';
export {
  InvalidCondition,
  judgedEarly,
  parseCondition,
  splitList,
  withoutValues,
} from './question/resolve.ts';
export { readSpend } from './spend/read-spend.ts';

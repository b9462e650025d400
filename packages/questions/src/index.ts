// Questions about calls: what they mean, and an exact answer in plain JavaScript over records or columns.
// Start with answerQuestion(question, calls); createAnswers(questions) is fed account by account. /measures has the table of measures.

export { extensionsSentence, shownValue } from './answer/left-out.ts';
export { type Condition, fieldsOf } from './conditions/condition.ts';
export type { Value } from './conditions/holds.ts';
export type { ConditionProblem } from './conditions/parse.ts';
export {
  type AnswerOptions,
  answerQuestion,
  answerQuestions,
  createAnswer,
  createAnswers,
  type RunningAnswer,
  type RunningAnswers,
} from './engine/answer-question.ts';
export type { Calls, ColumnBatch } from './engine/calls.ts';
export { type CallSelector, selectCalls } from './engine/select-calls.ts';
export { QuestionError } from './errors.ts';
export { callerKey } from './fields/caller-key.ts';
export { type ClickIdName, type ClickIds, clickIdsOf, clickPlaces } from './fields/click-ids.ts';
export { derivedFields, touches } from './fields/derived.ts';
export { parseCondition, type QuestionField, questionFields } from './fields/vocabulary.ts';
export type { AccountStatus, Answer, AnswerColumn, AnswerValue, Note } from './question/answer.ts';
export {
  checkZone,
  machineZone,
  type Period,
  type PeriodClock,
  partOver,
  periodNotes,
  periodWords,
  readPeriod,
  type SaidPeriod,
} from './question/period.ts';
export { type Plan, planQuestion, planSelection, type SelectionPlan } from './question/plan.ts';
export type { CallSelection, Question } from './question/question.ts';
export { InvalidCondition, splitList } from './question/resolve.ts';

// Questions about calls: what they mean, and an exact answer in plain JavaScript over any iterable of calls.
// Start with answerQuestion(question, calls); createAnswer(question) is fed in parts, saved, continued and merged.

export type { Counted, CountedGroup } from './answer/counted.ts';
export { finishAnswer } from './answer/finish.ts';
export { extensionsSentence, shownValue } from './answer/left-out.ts';
export { mostValues, unmetFields, type ValueCounts } from './answer/nothing-found.ts';
export type { Condition, Literal, Operator, Term, Test, Vocabulary } from './conditions/condition.ts';
export { fieldsOf, latestTime } from './conditions/condition.ts';
export { fold } from './conditions/fold.ts';
export { type Value, valuesInOrder } from './conditions/holds.ts';
export type { ConditionProblem, ConditionProblemCode, ConditionResult } from './conditions/parse.ts';
export {
  type AnswerOptions,
  answerQuestion,
  answerQuestions,
  createAnswer,
  createAnswers,
  type QuestionNeeds,
  type RunningAnswer,
  RunningAnswers,
} from './engine/answer-question.ts';
export type { Calls, ColumnBatch } from './engine/calls.ts';
export { type CallSelector, selectCalls } from './engine/select-calls.ts';
export { type OptionSentence, QuestionError, type QuestionErrorCode } from './errors.ts';
export type { FieldSettings } from './fields/calendar.ts';
export { callerKey } from './fields/caller-key.ts';
export { type ClickIdName, type ClickIds, clickIdsOf, clickKinds, clickPlaces } from './fields/click-ids.ts';
export {
  activityTypes,
  type DerivedField,
  type DerivedName,
  derivedFields,
  type Touch,
  type TouchName,
  touches,
  weekdays,
} from './fields/derived.ts';
export type { Facts, Sequence } from './fields/facts.ts';
export { parseCondition, type QuestionField, questionFields } from './fields/vocabulary.ts';
export { columnText, isStoredTime, isWellFormed } from './fields/wire-values.ts';
export type { AccountStatus, Answer, AnswerColumn, AnswerValue, LeftOut, Note } from './question/answer.ts';
export { type Alignment, alignmentOf, isBucket, unmoved, weekShift } from './question/buckets.ts';
export type { PlannedMeasure } from './question/columns.ts';
export {
  type Measure,
  type MeasureSpec,
  measureForm,
  measureForms,
  measures,
  type Part,
  type PartValue,
  type PlainPart,
} from './question/measures.ts';
export {
  type ClosedPeriod,
  checkZone,
  machineZone,
  type Period,
  type PeriodClock,
  partOver,
  periodNotes,
  periodWords,
  type ReadPeriod,
  readPeriod,
  type SaidPeriod,
  type Zones,
} from './question/period.ts';
export {
  type Plan,
  type PlannedCondition,
  planQuestion,
  planSelection,
  type ReadOptions,
  type SelectionPlan,
} from './question/plan.ts';
export {
  type CallSelection,
  type ComparedPeriod,
  checkQuestion,
  type DistinctMeasure,
  type Question,
  type QuestionLimits,
} from './question/question.ts';
export { InvalidCondition, type Order, readField, readOrder, splitList } from './question/resolve.ts';
export type { Spend } from './question/spend.ts';

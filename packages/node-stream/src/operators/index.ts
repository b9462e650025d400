// What comes between the source and the end of a read: filters, joins, groups and windows with
// their measures. Each operator is a function over iterables, which works as it is in `pipeline`;
// `through` chains them, saves what they keep, and resumes them.

export { defineOperator, through } from './chain.ts';
export { type DedupeOptions, dedupe } from './dedupe.ts';
export type { Reading } from './fields.ts';
export { filterCalls } from './filter-calls.ts';
export { aggregate, type Grouping, type GroupRow } from './groups.ts';
export { type JoinOptions, join } from './join.ts';
export { type MapOptions, mapCalls } from './map-calls.ts';
export {
  type Accumulator,
  count,
  distinct,
  type Measure,
  max,
  mean,
  min,
  percentile,
  sum,
} from './measures.ts';
export type {
  AnyOperator,
  Chain,
  Done,
  Operator,
  OperatorShape,
  RowForm,
  Sink,
  Through,
} from './operator.ts';
export { type SessionOptions, sessions } from './sessions.ts';
export type { Input } from './sources.ts';
export { type TopOptions, topN } from './top-n.ts';
export { type TumblingOptions, tumbling, type WindowRow } from './windows.ts';

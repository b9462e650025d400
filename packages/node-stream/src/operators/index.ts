// What comes between the source and the end of a read: filters, joins, groups and windows with their measures. Each operator is a
// function over iterables, which works as it is in `pipeline`; `through` chains them, saves what they keep, and resumes them.

export { through } from './chain.ts';
export type { ChainCheckpoint, SavedChain } from './chain-checkpoint.ts';
export { type DedupeOptions, dedupe } from './dedupe.ts';
export { type FilterOptions, filterCalls } from './filter-calls.ts';
export type {
  AnyOperator,
  Chain,
  ChainPage,
  Done,
  Operator,
  ReadChainOptions,
  RowForm,
  Sink,
  StepContext,
  Through,
} from './forms.ts';
export {
  aggregate,
  type Grouping,
  type GroupRow,
} from './groups.ts';
export { type JoinOptions, type JoinTable, join, type Lookup } from './join.ts';
export { type MapItem, type MapOptions, type Mapped, mapCalls } from './map-calls.ts';
export {
  type Accumulator,
  count,
  distinct,
  type Measure,
  max,
  mean,
  min,
  percentile,
  type Reading,
  sum,
} from './measures.ts';
export { defineOperator, type OperatorShape } from './operator.ts';
export type { ChainSource, PagedSource, ReadProof, SourcePage } from './packets.ts';
export type { Left } from './run.ts';
export { type SessionOptions, sessions } from './sessions.ts';
export { each, type Output, Part, type Passed, type Step, Stopped } from './step.ts';
export { type TopOptions, topN } from './top-n.ts';
export type { TimeOptions } from './window-clock.ts';
export { type TumblingOptions, tumbling, type WindowRow } from './windows.ts';

// What comes between the source and the end of a pipeline: filters, joins, batches, groups and windows with their measures.
// Each operator is a Transform for pipe and pipeline; its over(source) does the same work as an async iterable.

export {
  aggregate,
  createGroupTable,
  type Grouping,
  type GroupRow,
  type GroupTable,
} from './aggregate.ts';
export { type BatchOptions, batch } from './batch.ts';
export { type DedupeOptions, dedupe } from './dedupe.ts';
export { type FilterOptions, filterCalls } from './filter-calls.ts';
export { type JoinOptions, type JoinTable, join, type Lookup } from './join.ts';
export type { Kernel, KernelFactory, Outlet } from './kernel.ts';
export { type MapOptions, type Mapped, mapCalls } from './map-calls.ts';
export {
  type Accumulator,
  collect,
  count,
  distinct,
  type Measure,
  max,
  mean,
  min,
  type PercentileOptions,
  percentile,
  type Reading,
  sum,
} from './measures.ts';
export { type MergeOptions, mergeOrdered } from './merge-ordered.ts';
export { Operator, type OperatorConstructor, type OperatorShape, type RowForm } from './operator.ts';
export { type RateLimitOptions, rateLimit } from './rate-limit.ts';
export { type TeeOptions, tee } from './tee.ts';
export {
  type SlidingOptions,
  sliding,
  type TumblingOptions,
  tumbling,
  type WindowRow,
} from './windows.ts';

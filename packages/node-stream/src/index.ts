// Every call record once, as a backpressured Node stream: windows, completeness, resume, sync, encoders.

// Operators, encoders and sinks.
export { type CsvOptions, toCsv } from './encoders/csv.ts';
export type { CsvColumn } from './encoders/csv-row.ts';
export { type GzipOptions, toGzip } from './encoders/gzip.ts';
export { toJsonArray } from './encoders/json-array.ts';
export { toNdjson } from './encoders/ndjson.ts';
export { type ParquetOptions, toParquet } from './encoders/parquet.ts';
export type { ParquetColumn, ParquetType } from './encoders/parquet-columns.ts';
export type { TextOptions } from './encoders/text-chunks.ts';
export { aggregate } from './operators/aggregate.ts';
export { type BatchOptions, batch } from './operators/batch.ts';
export type { OperatorClock } from './operators/clock.ts';
export { type DedupeOptions, dedupe } from './operators/dedupe.ts';
export type { Grouping, GroupRow } from './operators/groups.ts';
export { type JoinOptions, type JoinTable, join } from './operators/join.ts';
export type { Kernel, KernelFactory, Outlet } from './operators/kernel.ts';
export { type MapOptions, mapCalls } from './operators/map-calls.ts';
export { isMark, Mark } from './operators/mark.ts';
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
} from './operators/measures.ts';
export { type MergeOptions, mergeOrdered } from './operators/merge-ordered.ts';
export type { Duration } from './operators/naive-time.ts';
export { Operator, type OperatorShape } from './operators/operator.ts';
export { QuantileSketch, type SketchOptions } from './operators/quantile-sketch.ts';
export { type RateLimitOptions, rateLimit } from './operators/rate-limit.ts';
export { type TeeOptions, tee } from './operators/tee.ts';
export {
  type SlidingOptions,
  sliding,
  type TumblingOptions,
  tumbling,
  type WindowRow,
} from './operators/windows.ts';
export type { Encoding } from './sinks/encoding.ts';
export { type FileSink, type FileSinkOptions, fileSink } from './sinks/file-sink.ts';
export { type SliceFiles, type SliceFilesOptions, sliceFiles } from './sinks/slice-files.ts';

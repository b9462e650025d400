// Every call record once, as a backpressured Node stream: windows, completeness, resume, sync, encoders.
// createCallStream and createCallByteStream read a query, syncCalls and syncInto keep a copy of it up to date,
// operators, encoders and sinks are what stands between the two ends of a pipeline.

export type { Duration } from '@call-attribution/core/time';
// Sources: records, bytes or pages of a query.
export { type Checkpoint, CheckpointError } from './checkpoint/checkpoint.ts';
export { isMark, Mark } from './checkpoint/mark.ts';
// Operators, encoders and sinks.
export { type CsvOptions, toCsv } from './encoders/csv.ts';
export { type CsvColumn, type CsvDialect, csvLine } from './encoders/csv-row.ts';
export { type GzipOptions, toGzip } from './encoders/gzip.ts';
export { toJsonArray, toNdjson } from './encoders/json.ts';
export { type ParquetOptions, toParquet } from './encoders/parquet.ts';
export type { ParquetColumn, ParquetType } from './encoders/parquet-columns.ts';
export type { TextOptions } from './encoders/text-chunks.ts';
// Files: whole or not at all, locked, line by line.
export { FileLockedError, type LockOptions, lockFile, lockOwner, type Unlock } from './files/file-lock.ts';
export {
  createByteLineReader,
  createLineReader,
  type LineReader,
  type LineReaderOptions,
  readLines,
} from './files/lines.ts';
export { type FileContents, syncFolder, type WholeFileOptions, writeWholeFile } from './files/whole-file.ts';
export {
  aggregate,
  createGroupTable,
  type Grouping,
  type GroupRow,
  type GroupTable,
} from './operators/aggregate.ts';
export { type BatchOptions, batch } from './operators/batch.ts';
export { type DedupeOptions, dedupe } from './operators/dedupe.ts';
export { type FilterOptions, filterCalls } from './operators/filter-calls.ts';
export { type JoinOptions, type JoinTable, join } from './operators/join.ts';
export type { Kernel, KernelFactory, Outlet } from './operators/kernel.ts';
export { type MapOptions, mapCalls } from './operators/map-calls.ts';
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
export type { TimeSlice } from './query/time-slice.ts';
export type { BoundStyle } from './query/window-query.ts';
export type { Encoding } from './sinks/encoding.ts';
export { type FileSink, type FileSinkOptions, fileSink } from './sinks/file-sink.ts';
export { type SliceFiles, type SliceFilesOptions, sliceFiles } from './sinks/slice-files.ts';
export type { Trouble } from './slicing/judge.ts';
export type { PageClient } from './slicing/run.ts';
export {
  type CallByteStream,
  type CallByteStreamOptions,
  createCallByteStream,
} from './source/call-byte-stream.ts';
export { type CallStream, type CallStreamOptions, createCallStream } from './source/call-stream.ts';
export { IncompleteError, StreamError, type StreamPlace } from './source/errors.ts';
export type { DeadRecord, StreamOptions, WindowOptions } from './source/options.ts';
export type { Progress } from './source/progress.ts';
export type { StreamPage } from './source/stream-page.ts';
export {
  describeVerdict,
  type Proof,
  type Recount,
  type Verdict,
  type VerdictReason,
} from './source/verdict.ts';
// Sync: a copy that is kept up to date.
export { fileState, memoryState } from './sync/state-stores.ts';
export { syncCalls, syncInto } from './sync/sync.ts';
export type { SyncChange, SyncOptions, SyncSummary } from './sync/sync-options.ts';
export {
  type SeenRecord,
  StateError,
  type StateStore,
  type SyncBatch,
  type SyncOutcome,
  type SyncRun,
  type SyncState,
  type UpsertSink,
} from './sync/sync-state.ts';
export type { SyncClient } from './sync/sync-steps.ts';

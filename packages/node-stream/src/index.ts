// Every call record once, as a backpressured Node stream, with a verdict that says what was proved.
// createCallStream and createCallByteStream read a query, syncCalls and syncInto keep a copy of it
// up to date. Between the two ends of a pipeline come ./operators, ./encoders and ./sinks; ./files
// has what writes files whole and locks them, ./copies what is kept next to the calls of a copy.

export type { Duration } from '@call-attribution/core/time';
export type { PageClient } from './call-source.ts';
export {
  CheckpointError,
  type CheckpointErrorCode,
  ItemError,
  type ItemErrorCode,
  StreamError,
  type StreamErrorCode,
} from './errors.ts';
export {
  exportMonths,
  type MonthFile,
  type MonthReading,
  type MonthSource,
  type MonthsOptions,
  type MonthsSummary,
} from './months/export-months.ts';
export { type MonthTarget, monthFolder } from './months/target.ts';
export type { Checkpoint, Page, ReadFacts, Source, Stage, VerdictMethod } from './page.ts';
export type { CopyStretch, Range, ReadState, Stretch, Stretches } from './proof.ts';
export {
  type CallByteStreamOptions,
  type CallStream,
  type CallStreamOptions,
  createCallByteStream,
  createCallStream,
  type DeadRecord,
} from './read.ts';
// Sync: a copy that is kept up to date.
export type { Density, Pace } from './reader/list.ts';
export type { Progress } from './reading.ts';
export type { MovingPeriod, SyncCallsOptions, SyncOptions } from './sync/plan.ts';
export {
  type FirstCount,
  memoryState,
  type SeenRecord,
  type StateStore,
  type SyncBatch,
  type SyncOutcome,
  type SyncPart,
  type SyncState,
  type SyncStretch,
  type UpsertSink,
} from './sync/state.ts';
export { type SyncChange, type SyncSummary, syncCalls, syncInto } from './sync/sync.ts';
export {
  describe,
  type Gap,
  type Note,
  type Position,
  type Proof,
  type Span,
  type Verdict,
  type Why,
} from './verdict.ts';

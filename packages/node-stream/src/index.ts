// Every call record once, as a backpressured Node stream, with a verdict that says what was proved.
// createCallStream and createCallByteStream read a query, syncCalls and syncInto keep
// a copy of it up to date. Between the two
// ends of a pipeline come ./operators, ./encoders and ./sinks; ./files has what writes files whole and locks them, ./copies
// what is kept next to the calls of a copy.

export type { Duration } from '@call-attribution/core/time';
export type { TimeSlice } from './calls/time-slice.ts';
export { sliceFilter } from './calls/window-query.ts';
export {
  CheckpointError,
  type CheckpointErrorCode,
  ItemError,
  type ItemErrorCode,
  StateError,
  type StateErrorCode,
} from './errors.ts';
export type { PageClient } from './next/call-source.ts';
export { through } from './next/operators/chain.ts';
export type { Chain } from './next/operators/operator.ts';
export type { Checkpoint, Page, ReadFacts, Source, Stage } from './next/page.ts';
export {
  describeVerdict,
  type Gap,
  type Note,
  type Proof,
  type Span,
  type Stretch,
  type Verdict,
} from './next/proof.ts';
export {
  type CallByteStream,
  type CallByteStreamOptions,
  type CallStream,
  type CallStreamOptions,
  createCallByteStream,
  createCallStream,
  type DeadRecord,
} from './next/read.ts';
export type { Progress } from './next/reading.ts';
export { StreamError, type StreamErrorCode } from './next/stream-error.ts';
// Sync: a copy that is kept up to date.
export {
  type FirstCount,
  type MovingPeriod,
  memoryState,
  type SeenRecord,
  type StateStore,
  type SyncBatch,
  type SyncCallsOptions,
  type SyncChange,
  type SyncClient,
  type SyncOptions,
  type SyncOutcome,
  type SyncPart,
  type SyncState,
  type SyncSummary,
  type SyncTrace,
  syncCalls,
  syncInto,
  type UpsertSink,
} from './next/sync/index.ts';

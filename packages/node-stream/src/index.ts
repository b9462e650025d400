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
export { describeVerdict, type Gap, type Note, type Proof, type Verdict } from './next/proof.ts';
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
export type { BoundStyle } from './reader/span.ts';
export type { Outlook, Pace } from './reader/state.ts';
// Sync: a copy that is kept up to date.
export { memoryState } from './sync/state-stores.ts';
export { commonSlice, type Stretch, type Stretches } from './sync/stretches.ts';
export { type SyncSummary, type SyncTrace, syncCalls, syncInto } from './sync/sync.ts';
export type { SyncChange, SyncClient } from './sync/sync-change.ts';
export type { MovingPeriod, SyncCallsOptions, SyncOptions } from './sync/sync-options.ts';
export type {
  SeenRecord,
  StateStore,
  SyncBatch,
  SyncOutcome,
  SyncPart,
  SyncState,
  UpsertSink,
} from './sync/sync-state.ts';

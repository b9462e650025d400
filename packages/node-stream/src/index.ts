// Every call record once, as a backpressured Node stream, with a verdict that says what was proved.
// createCallStream and createCallByteStream read a query, syncCalls and syncInto keep
// a copy of it up to date. Between the two
// ends of a pipeline come ./operators, ./encoders and ./sinks; ./files has what writes files whole and locks them, ./copies
// what is kept next to the calls of a copy.

export type { Duration } from '@call-attribution/core/time';
export {
  type CallByteStream,
  type CallByteStreamOptions,
  createCallByteStream,
  type LinePage,
} from './calls/call-byte-stream.ts';
export type { PageClient } from './calls/call-source.ts';
export { type CallStream, type CallStreamOptions, createCallStream } from './calls/call-stream.ts';
export {
  IncompleteError,
  type IncompleteErrorCode,
  StreamError,
  type StreamErrorCode,
  type StreamErrorDetails,
  type StreamPosition,
} from './calls/errors.ts';
export type { DeadRecord, PrefetchOptions, StreamOptions } from './calls/options.ts';
export type { ReadFacts } from './calls/read-facts.ts';
export type { SliceTrace, StreamTrace } from './calls/read-trace.ts';
export type { Each, EachOptions, ItemMethods, ReadableOf } from './calls/readable-of.ts';
export type { StreamPage } from './calls/stream-page.ts';
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
export { through } from './operators/chain.ts';
export type { ChainCheckpoint } from './operators/chain-checkpoint.ts';
export type { Chain } from './operators/forms.ts';
export type { Capacity } from './reader/capacity.ts';
export type { Checkpoint } from './reader/checkpoint.ts';
export type { Trouble } from './reader/judge.ts';
export type { Progress } from './reader/ledger.ts';
export type { BoundStyle } from './reader/span.ts';
export type { Outlook, Pace } from './reader/state.ts';
export {
  type CountDifference,
  describeVerdict,
  type Proof,
  type Recount,
  type Verdict,
  type VerdictReason,
} from './reader/verdict.ts';
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

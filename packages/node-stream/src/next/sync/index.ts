export type { MovingPeriod, SyncCallsOptions, SyncClient, SyncOptions } from './options.ts';
export type {
  FirstCount,
  SeenRecord,
  StateStore,
  SyncBatch,
  SyncOutcome,
  SyncPart,
  SyncState,
  UpsertSink,
} from './state.ts';
export { fileState, memoryState } from './state-stores.ts';
export { type SyncChange, type SyncSummary, type SyncTrace, syncCalls, syncInto } from './sync.ts';

export type { MovingPeriod, SyncCallsOptions, SyncOptions } from './options.ts';
export {
  type FirstCount,
  memoryState,
  type SeenRecord,
  type StateStore,
  type SyncBatch,
  type SyncOutcome,
  type SyncPart,
  type SyncState,
  type UpsertSink,
} from './state.ts';
export { type SyncChange, type SyncSummary, syncCalls, syncInto } from './sync.ts';

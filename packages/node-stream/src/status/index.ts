// Health checks and metrics of programs that run long, and of syncs that are repeated.
export {
  type MetricFamily,
  type MetricSample,
  metricsText,
  type StatusReply,
  type StatusSource,
  statusPaths,
  statusReply,
} from './status.ts';
export {
  createSyncStatus,
  type RowKind,
  type SyncCounts,
  type SyncStatus,
  type SyncStatusOptions,
} from './sync-status.ts';

// Health checks and metrics of programs that run long.
export { type MetricFamily, type MetricSample, metricsText } from './metrics-text.ts';
export { type StatusReply, type StatusSource, statusPaths, statusReply } from './status-reply.ts';
export { createSyncStatus, type SyncCounts, type SyncStatus, type SyncStatusOptions } from './sync-status.ts';

// Health checks and metrics of programs that run long.
export {
  type MetricFamily,
  type MetricSample,
  metricsText,
  type StatusReply,
  type StatusSource,
  statusPaths,
  statusReply,
} from './status.ts';

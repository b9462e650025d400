// Backfill and sync of many accounts on many machines. A board (NATS, PostgreSQL or memory) says who does what; the target (a
// store, a folder, a bucket) holds the records with the plan and the verdicts, and decides what counts.
export type { Board, BoardEntry, Json } from './board/board.ts';
export type { BoardOptions, BoardTls } from './board/board-options.ts';
export { BoardMemory, type Follower, memoryBoard } from './board/memory-board.ts';
export { openBoard } from './board/open-board.ts';
export { FleetError, type FleetErrorCode } from './errors.ts';
export { type CredentialOptions, type CredentialSource, credentialsFrom } from './job/credentials.ts';
export type { FileFormat, Job, JobAccount, JobSync, PinnedJob } from './job/job.ts';
export { pinJob } from './job/pin-job.ts';
export { readJob } from './job/read-job.ts';
export type {
  AccountSync,
  AccountValue,
  Aside,
  JobValue,
  LaneValue,
  Phase,
  RateValue,
  WorkerValue,
} from './lanes/values.ts';
export { cancelJob, type OrderResult, type PauseOptions, pauseJob, resumeJob } from './orders/job-state.ts';
export { type RetryOptions, type RetryResult, retryAside } from './orders/retry-aside.ts';
export type { AccountPlan, Parcel, ParcelVerdict } from './parcels/parcel.ts';
export { type PlanOptions, type PlanSummary, planJob, type UnplannedAccount } from './plan/plan-job.ts';
export { createSharedLimiter, type SharedLimiterOptions } from './rate/shared-limiter.ts';
export type { AccountStatus, AccountTrouble } from './status/account-status.ts';
export { createWorkerMetrics, type WorkerMetrics } from './status/metrics.ts';
export {
  createStatusReader,
  type FleetStatus,
  readStatus,
  type StatusOptions,
  type StatusReader,
} from './status/status.ts';
export type { WorkerStatus } from './status/worker-status.ts';
export { openTarget, type TargetOptions } from './target/open-target.ts';
export type { ParcelClaim, ParcelReading, Target } from './target/target.ts';
export type { AccountVerdict } from './verify/verify-account.ts';
export { type VerifyOptions, verifyJob } from './verify/verify-job.ts';
export { createWorker } from './worker/create-worker.ts';
export type { WorkerEvent } from './worker/events.ts';
export type { WorkerEnd } from './worker/work-loop.ts';
export type { Worker, WorkerOptions, WorkerSummary } from './worker/worker-options.ts';

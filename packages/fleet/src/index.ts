// `sync` and `export` for many accounts. An engine hands out one ticket for each credential: pg-boss on PostgreSQL for several machines,
// or the memory of one process. A turn brings an account of a store up to date for a while, or
// writes a month of it as a file.
export { type CredentialOptions, type CredentialSource, credentialsFrom } from './credentials.ts';
export type {
  Engine,
  FleetFacts,
  JobCard,
  NotedTrouble,
  SeenTicket,
  Ticket,
  TicketNote,
  Turn,
  WorkerCard,
} from './engine/engine.ts';
export { memoryEngine } from './engine/memory.ts';
export { jobsIn, openPostgresEngine, type PostgresEngineOptions } from './engine/postgres.ts';
export { FleetError, type FleetErrorCode } from './errors.ts';
export { isStore, type Job, type JobAccount, type PlannedAccount, type PlannedJob } from './job.ts';
export { createWorkerMetrics, type WorkerMetrics } from './metrics.ts';
export { checkJob, readJob } from './read-job.ts';
export { type RetryOptions, type RetryResult, retryAside } from './retry.ts';
export {
  type AccountState,
  type AccountStatus,
  type FleetStatus,
  statusOf,
  type WorkerStatus,
} from './status.ts';
export { openTarget } from './targets/open.ts';
export {
  type FilesReader,
  type FilesReaderOptions,
  openFilesReader,
} from './targets/read-files.ts';
export type { Target, TurnEnd, TurnWork } from './targets/target.ts';
export {
  createWorker,
  type Worker,
  type WorkerEnd,
  type WorkerEvent,
  type WorkerOptions,
  workerName,
} from './worker/worker.ts';

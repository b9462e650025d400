import { jobLimiters } from '../rate/job-limiters.ts';
import { openTarget } from '../target/open-target.ts';
import { closeAccount } from './close-account.ts';
import { syncAccount } from './sync-account.ts';
import { createWorkerWith } from './worker.ts';
import type { Worker, WorkerOptions } from './worker-options.ts';

/**
 * Creates a worker of the job on a board. Start it on as many machines as you like; each takes what nobody else works on.
 *
 * @example
 * const worker = createWorker({ board, credentials: credentialsFrom({ folder: 'keys' }) });
 * process.once('SIGINT', () => worker.leave());
 * const { records } = await worker.run();
 */
export function createWorker(options: WorkerOptions): Worker {
  return createWorkerWith(
    {
      openTarget: (job, given) => openTarget(job.into, job, given),
      closeAccount,
      syncAccount,
      limiters: jobLimiters,
    },
    options,
  );
}

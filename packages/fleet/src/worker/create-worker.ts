import { createLimiter, type Limiter } from '@call-attribution/core';
import { openTarget } from '../target/open-target.ts';
import type { LimiterOf } from './clients.ts';
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
      limiters: (_board, job) => limitersOf(job.requestsPerMinute),
    },
    options,
  );
}

/** One limiter for each credential. */
function limitersOf(ofJob: number | null): LimiterOf {
  const limiters = new Map<string, Limiter>();
  return ({ credential, requestsPerMinute }) => {
    const limit = requestsPerMinute ?? ofJob;
    if (limit === null) return undefined;
    const limiter = limiters.get(credential) ?? createLimiter({ requestsPerMinute: limit });
    limiters.set(credential, limiter);
    return limiter;
  };
}

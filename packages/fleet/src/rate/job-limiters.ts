import { setMaxListeners } from 'node:events';
import type { Limiter } from '@call-attribution/core';
import type { Board } from '../board/board.ts';
import type { PinnedJob } from '../job/job.ts';
import type { AccountValue } from '../lanes/values.ts';
import { createSharedLimiter } from './shared-limiter.ts';

/** The limiters of a job, one for each credential: accounts with the same one share its limit. */
export function jobLimiters(
  board: Board,
  { baseUrl, requestsPerMinute }: Pick<PinnedJob, 'baseUrl' | 'requestsPerMinute'>,
  signal?: AbortSignal,
): (account: Pick<AccountValue, 'credential' | 'requestsPerMinute'>) => Limiter {
  const limiters = new Map<string, Limiter>();
  // One listener on the signal of the worker, however many accounts there are.
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  signal?.addEventListener('abort', () => ending.abort(signal.reason), { once: true });
  if (signal?.aborted) ending.abort(signal.reason);
  return ({ credential: reference, requestsPerMinute: own }) => {
    const limit = own ?? requestsPerMinute;
    const name = `${limit} ${reference}`;
    const limiter =
      limiters.get(name) ??
      createSharedLimiter(board, { baseUrl, reference, requestsPerMinute: limit, signal: ending.signal });
    limiters.set(name, limiter);
    return limiter;
  };
}

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
  return ({ credential: reference, requestsPerMinute: own }) => {
    const limit = own ?? requestsPerMinute;
    const name = `${limit} ${reference}`;
    const limiter =
      limiters.get(name) ??
      createSharedLimiter(board, { baseUrl, reference, requestsPerMinute: limit, signal });
    limiters.set(name, limiter);
    return limiter;
  };
}

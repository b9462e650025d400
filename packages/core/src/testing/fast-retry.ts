import type { RetryPolicy } from '../http/retry.ts';

/** The default number of attempts with waits of a few milliseconds, for tests. */
export const fastRetry: RetryPolicy = { attempts: 4, baseDelay: 1, maxDelay: 4 };

import type { Limiter } from '@call-attribution/core';
import type { WorkerEvent } from './events.ts';

/** Shorter waits are not worth a word. */
const leastMs = 5;

/** A limiter that tells how long requests have waited for it. */
export function observedLimiter(
  limiter: Limiter | undefined,
  emit: (event: WorkerEvent) => void,
): Limiter | undefined {
  if (limiter === undefined) return undefined;
  return {
    async acquire(signal) {
      const began = performance.now();
      try {
        await limiter.acquire(signal);
      } finally {
        const ms = performance.now() - began;
        if (ms >= leastMs) emit({ kind: 'wait', for: 'rate', seconds: ms / 1000 });
      }
    },
    release: (outcome) => limiter.release(outcome),
    pause: (ms) => limiter.pause(ms),
  };
}

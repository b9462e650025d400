import type { OperatorClock } from '../src/index.ts';

/** A clock that stands still until it is told to go. */
export interface ManualClock extends OperatorClock {
  advance(millis: number): Promise<void>;
  readonly sleepers: number;
}

export function manualClock(): ManualClock {
  let now = 0;
  const waiting = new Set<{ at: number; wake: () => void }>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    sleep: (millis, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { at: now + millis, wake: resolve };
        waiting.add(sleeper);
        signal.addEventListener('abort', () => {
          waiting.delete(sleeper);
          reject(signal.reason);
        });
      }),
    async advance(millis) {
      await settle();
      now += millis;
      for (const sleeper of [...waiting]) {
        if (sleeper.at > now) continue;
        waiting.delete(sleeper);
        sleeper.wake();
      }
      await settle();
    },
    get sleepers() {
      return waiting.size;
    },
  };
}

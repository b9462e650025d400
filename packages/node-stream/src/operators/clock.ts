import { setTimeout as delay } from 'node:timers/promises';

/** The time an operator lives by; give your own to run it on a clock of yours. */
export interface OperatorClock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Resolves after so many milliseconds; rejects at once when the signal aborts. */
  sleep(millis: number, signal: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const machineClock: OperatorClock = {
  now: () => performance.now(),
  sleep: async (millis, signal) => {
    await delay(millis, undefined, { signal });
  },
};

import type { Clock } from '../time/clock.ts';

/** A clock whose time moves only when a test says so. */
export interface ManualClock extends Clock {
  /** Moves the time forward; timers that become due run in order. */
  advance(ms: number): Promise<void>;
  /** How many timers are set. */
  pending(): number;
}

/**
 * Makes a clock for tests of waits and deadlines, so that they take no time.
 *
 * @example
 * const clock = createManualClock();
 * const read = createClient({ baseUrl, auth, clock }).listCalls();
 * await clock.advance(15_000); // the idle deadline passes
 */
export function createManualClock(start = 0): ManualClock {
  let now = start;
  let timers: { readonly at: number; readonly run: () => void }[] = [];

  /** Lets promises that a timer has settled run before the next timer. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    timer(run, ms) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (;;) {
        const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers = timers.filter((timer) => timer !== due);
        now = Math.max(now, due.at);
        due.run();
        await settle();
      }

      now = end;
      await settle();
    },
    pending: () => timers.length,
  };
}

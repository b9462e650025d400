import type { Clock } from '../http/clock.ts';

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Moves the time on; timers that come due run in order. */
  advance(ms: number): Promise<void>;
  /** Timers that are set now. */
  pending(): number;
}

/** Makes a clock for tests of waits and deadlines that take no time. */
export function createManualClock(start = 0): ManualClock {
  let now = start;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  /** Lets promises that were settled by a timer run, before the next timer does. */
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

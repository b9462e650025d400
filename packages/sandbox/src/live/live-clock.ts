import type { Clock } from '@call-attribution/core';
import { type Duration, durationMillis } from '@call-attribution/core/time';
import type { Happening, Schedule } from './schedule.ts';

/** How time passes in a live sandbox. */
export interface LiveOptions {
  /** New calls per minute and account. Default 12. */
  readonly callsPerMinute?: number | undefined;
  /** How much faster than real time it passes; with 60, an hour passes in a minute. Default 1. */
  readonly speed?: number | undefined;
  /** Time between two updates. Default `1s`. */
  readonly tick?: Duration | undefined;
}

/** Advances schedules: by the real clock, or by hand in tests. */
export interface LiveClock {
  /**
   * Lets this many seconds of sandbox time pass at once. Resolves when everything that happens in
   * them is stored.
   */
  advance(seconds: number): Promise<{ arrived: number; changed: number }>;
  /** Starts to follow the real clock. */
  start(): void;
  /** Stops following it after the current step. */
  close(): Promise<void>;
}

/**
 * A clock that starts at `from` (seconds of wall time) and passes what happens to `apply`, one step
 * at a time.
 */
export function createLiveClock(
  schedules: readonly Schedule[],
  from: number,
  apply: (happening: Happening) => Promise<void>,
  options: LiveOptions & {
    readonly clock: Pick<Clock, 'now'>;
    readonly onError?: (error: unknown) => void;
  },
): LiveClock {
  const { clock, onError } = options;
  const { speed = 1, tick: every = '1s' } = options;
  const tick = durationMillis(every, 'tick');
  let time = from;
  let timer: NodeJS.Timeout | undefined;
  let step: Promise<unknown> = Promise.resolve();

  async function pass(seconds: number) {
    time += seconds;
    const counts = { arrived: 0, changed: 0 };
    for (const schedule of schedules) {
      const happening = schedule.advance(time);
      counts.arrived += happening.arrived.length;
      counts.changed += happening.changed.length;
      if (happening.arrived.length + happening.changed.length > 0) await apply(happening);
    }

    return counts;
  }

  function advance(seconds: number) {
    const result = step.then(() => pass(seconds));
    step = result.catch(() => undefined);
    return result;
  }

  return {
    advance,
    start() {
      let seen = clock.now();

      const update = () => {
        const at = clock.now();
        advance(Math.max(0, ((at - seen) / 1000) * speed))
          .catch((error) => onError?.(error))
          .finally(() => {
            if (timer) timer = setTimeout(update, tick).unref();
          });
        seen = at;
      };

      timer = setTimeout(update, tick).unref();
    },
    async close() {
      clearTimeout(timer);
      timer = undefined;
      await step;
    },
  };
}

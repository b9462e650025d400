/** Where a client takes the time from; replaceable, so that waits and deadlines can be tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs the callback after so many milliseconds; the returned function calls it off. */
  timer(run: () => void, ms: number): () => void;
}

/** The longest delay a Node timer takes; a longer one would fire at once. */
const longest = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  timer(run, ms) {
    if (ms === Number.POSITIVE_INFINITY) return () => {};
    const handle = setTimeout(run, Math.min(ms, longest));
    return () => clearTimeout(handle);
  },
};

/** Waits; ends early with the signal's reason. Rejects within the tick of the abort and leaves no timer behind. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.timer(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Where a client takes the time from. Tests can replace it, so that waits and deadlines need no
 * waiting.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs the callback after so many milliseconds. The returned function cancels it. */
  timer(run: () => void, ms: number): () => void;
}

/** The longest delay of a Node timer; a longer one would fire at once. */
const longest = 2 ** 31 - 1;

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  timer(run, ms) {
    if (ms === Number.POSITIVE_INFINITY) return () => {};
    const handle = setTimeout(run, Math.min(ms, longest));
    return () => clearTimeout(handle);
  },
};

/**
 * Waits, or rejects with the signal's reason as soon as it is aborted. The timer is removed then.
 */
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

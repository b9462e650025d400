/** Runs a read of a copy when it is its turn. */
export type InTurn = <T>(signal: AbortSignal, read: () => Promise<T>) => Promise<T>;

/** Reads at a time: they share one thread, and each holds what it counts in memory. */
const atOnce = 4;

/** Makes what lets some read their copies at a time, and the others after them, as they came. */
export function createTurns(): InTurn {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (signal, read) => {
    signal.throwIfAborted();
    if (free > 0) free -= 1;
    else
      await new Promise<void>((begin, leave) => {
        waiting.push(begin);
        const stop = () => {
          const at = waiting.indexOf(begin);
          if (at >= 0) waiting.splice(at, 1);
          leave(signal.reason);
        };
        signal.addEventListener('abort', stop, { once: true });
      });

    try {
      return await read();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

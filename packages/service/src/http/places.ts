/** How many requests of one account are handled at a time. */
export interface Places {
  /**
   * Waits until fewer requests of the account are in progress than it may have, and returns what gives the place back. Rejects when
   * the client leaves.
   */
  take(account: string, signal: AbortSignal): Promise<() => void>;
  /** How many requests wait. */
  readonly waiting: number;
}

interface Account {
  taken: number;
  /** What starts those who wait, in the order in which they came. */
  readonly queue: Set<() => void>;
}

/**
 * Gives each account the same number of places. A response that its client does not read holds one of its own account, so that
 * others do not notice.
 */
export function createPlaces(most: number): Places {
  const accounts = new Map<string, Account>();
  return {
    async take(account, signal) {
      signal.throwIfAborted();
      const own = accounts.get(account) ?? { taken: 0, queue: new Set() };
      accounts.set(account, own);
      if (own.taken < most) own.taken += 1;
      else await turnIn(own.queue, signal);
      return () => {
        const [next] = own.queue;
        if (next !== undefined) return next();
        own.taken -= 1;
        if (own.taken === 0) accounts.delete(account);
      };
    },
    get waiting() {
      return [...accounts.values()].reduce((sum, { queue }) => sum + queue.size, 0);
    },
  };
}

function turnIn(queue: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = (): void => {
      queue.delete(start);
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      queue.delete(start);
      reject(signal.reason);
    };
    queue.add(start);
    signal.addEventListener('abort', leave, { once: true });
  });
}

import { defineOptions, type OptionsOf } from '../options/define-options.ts';
import { option } from '../options/option.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { minute } from '../time/naive.ts';

/** The options of a limiter. */
export const limiterOptions = defineOptions({
  /** Requests that may start in any 60 seconds. @default no limit */
  requestsPerMinute: option.whole(1),
  /** Requests in progress at the same time. @default no limit */
  concurrency: option.whole(1),
});

/** Limits that a client keeps to. */
export interface LimiterOptions extends OptionsOf<typeof limiterOptions> {}

/** Lets requests start one by one. Several clients of one account can share it. */
export interface Limiter {
  /** Resolves when a request may start, or rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Reports that a request has ended. */
  release(): void;
  /** Lets no request start for so many milliseconds, because the server asked one of them to wait. */
  pause(ms: number): void;
}

/** A request that waits for its turn. */
interface Waiter {
  readonly go: () => void;
  isGone: boolean;
}

/**
 * Makes a limiter over a sliding minute: never more starts in any 60 seconds than allowed, first come, first served.
 *
 * @param clock where it takes the time from; tests pass another one.
 * @example
 * const limiter = createLimiter({ requestsPerMinute: 100 });
 * const clients = accounts.map((auth) => createClient({ baseUrl, auth, limiter }));
 */
export function createLimiter(options: LimiterOptions, clock: Clock = systemClock): Limiter {
  const { concurrency = Number.POSITIVE_INFINITY, requestsPerMinute } = limiterOptions.read(options);
  /** The first one has not gone. */
  const waiters = createQueue<Waiter>();
  /** Times of the starts in the last minute, where they are limited. */
  const starts = createQueue<number>();
  let running = 0;
  let pausedUntil = 0;
  let cancelTimer = () => {};

  /** Milliseconds until the next request may start; infinite when another one has to end first. */
  const delay = (now: number): number => {
    if (running >= concurrency) return Number.POSITIVE_INFINITY;
    for (let first = starts.first(); first !== undefined && first <= now - minute; first = starts.first())
      starts.shift();
    const first = starts.first();
    const isFull = requestsPerMinute !== undefined && starts.size() >= requestsPerMinute;
    const freeAt = isFull && first !== undefined ? first + minute : now;
    return Math.max(freeAt, pausedUntil) - now;
  };
  const start = (now: number) => {
    running += 1;
    if (requestsPerMinute !== undefined) starts.push(now);
  };
  const drain = () => {
    cancelTimer();
    for (let first = waiters.first(); first !== undefined; first = waiters.first()) {
      const now = clock.now();
      const wait = first.isGone ? 0 : delay(now);
      if (wait > 0) {
        if (wait !== Number.POSITIVE_INFINITY) cancelTimer = clock.timer(drain, wait);
        return;
      }
      waiters.shift();
      if (first.isGone) continue;
      start(now);
      first.go();
    }
  };

  return {
    acquire(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const now = clock.now();
      if (waiters.first() === undefined && delay(now) === 0) return Promise.resolve(start(now));
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiter.isGone = true;
          if (waiters.first() === waiter) drain();
          reject(signal?.reason);
        };
        const go = () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        };
        const waiter: Waiter = { go, isGone: false };
        signal?.addEventListener('abort', leave, { once: true });
        waiters.push(waiter);
        // Whoever is first waits for the timer or for a release; the others wait for it.
        if (waiters.first() === waiter) drain();
      });
    },
    release() {
      running -= 1;
      drain();
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
      drain();
    },
  };
}

/** First in, first out. Each step takes the same time, however many items wait. */
function createQueue<T>() {
  let items: T[] = [];
  let head = 0;
  return {
    size: () => items.length - head,
    first: () => items[head],
    push: (item: T) => items.push(item),
    shift() {
      head += 1;
      if (head < 1000 || head < items.length / 2) return;
      items = items.slice(head);
      head = 0;
    },
  };
}

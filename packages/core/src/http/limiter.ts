import { minute } from '../time/naive.ts';
import { type Clock, systemClock } from './clock.ts';

/** Limits that a client keeps to. */
export interface LimiterOptions {
  /** Requests that may start in any 60 seconds. @default no limit */
  readonly requestsPerMinute?: number | undefined;
  /** Requests in progress at the same time. @default no limit */
  readonly concurrency?: number | undefined;
  /** Learn the rate from 429 responses: slow down after each, then speed up again slowly. @default false */
  readonly adaptive?: boolean | undefined;
}

/** Lets requests start one by one. Several clients of one account can share it. */
export interface Limiter {
  /** Resolves when a request may start, or rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Reports that a request has ended, and how. */
  release(outcome: 'ok' | 'limited' | 'failed'): void;
  /** Lets no request start for so many milliseconds, because the server asked one of them to wait. */
  pause(ms: number): void;
}

interface Waiter {
  readonly go: () => void;
  hasLeft: boolean;
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
  const concurrency = options.concurrency ?? Number.POSITIVE_INFINITY;
  const ceiling = options.requestsPerMinute ?? Number.POSITIVE_INFINITY;
  let allowed = ceiling;
  let running = 0;
  let pausedUntil = 0;
  const starts: number[] = [];
  let queue: Waiter[] = [];
  let cancelTimer: (() => void) | undefined;

  /** Milliseconds until the next request may start; infinite when another one has to end first. */
  const delay = (now: number): number => {
    if (running >= concurrency) return Number.POSITIVE_INFINITY;
    while ((starts[0] ?? now) <= now - minute) starts.shift();
    const most = Math.floor(allowed);
    const freed = starts.length >= most ? (starts[starts.length - most] as number) + minute : now;
    return Math.max(0, pausedUntil - now, freed - now);
  };

  const start = (now: number) => {
    running += 1;
    if (allowed === Number.POSITIVE_INFINITY && !options.adaptive) return;
    starts.push(now);
    // No one sets a limit above this; the list must not grow without end with a fast server.
    if (starts.length > 50_000) starts.shift();
  };

  const drain = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    queue = queue.filter((waiter) => !waiter.hasLeft);
    while (queue.length > 0) {
      const now = clock.now();
      const wait = delay(now);
      if (wait > 0) {
        if (wait !== Number.POSITIVE_INFINITY) cancelTimer = clock.timer(drain, wait);
        return;
      }
      start(now);
      queue.shift()?.go();
    }
  };

  const learn = (outcome: 'ok' | 'limited' | 'failed') => {
    if (!options.adaptive) return;
    if (outcome === 'limited') {
      // What started in the last minute was too much, whatever the limit was.
      allowed = Math.max(1, Math.min(allowed, starts.length) * 0.7);
    } else if (outcome === 'ok' && allowed < ceiling) {
      // One more request per minute for each minute without a 429.
      allowed = Math.min(ceiling, allowed + 1 / Math.max(1, allowed));
    }
  };

  return {
    acquire(signal) {
      const now = clock.now();
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (queue.length === 0 && delay(now) === 0) {
        start(now);
        return Promise.resolve();
      }
      return new Promise<void>((resolve, reject) => {
        const stop = () => {
          waiter.hasLeft = true;
          reject(signal?.reason);
          drain();
        };
        const waiter: Waiter = {
          hasLeft: false,
          go: () => {
            signal?.removeEventListener('abort', stop);
            resolve();
          },
        };
        signal?.addEventListener('abort', stop, { once: true });
        queue.push(waiter);
        drain();
      });
    },
    release(outcome) {
      running -= 1;
      learn(outcome);
      drain();
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
      drain();
    },
  };
}

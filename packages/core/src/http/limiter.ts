import { checkNames, checkWhole } from '../options/check-names.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { minute } from '../time/naive.ts';

/** Limits that a client keeps to. */
export interface LimiterOptions {
  /** Requests that may start in any 60 seconds. @default no limit */
  readonly requestsPerMinute?: number | undefined;
  /** Requests in progress at the same time. @default no limit */
  readonly concurrency?: number | undefined;
}

/** Lets requests start one by one. Several clients of one account can share it. */
export interface Limiter {
  /** Resolves when a request may start, or rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Reports that a request has ended. */
  release(): void;
  /**
   * Lets no request start for so many milliseconds, because the server asked one of them to wait.
   */
  pause(ms: number): void;
}

/**
 * Makes a limiter over a sliding minute: never more starts in any 60 seconds than allowed, first
 * come, first served.
 *
 * @param clock where it takes the time from; tests pass another one.
 * @example
 * const limiter = createLimiter({ requestsPerMinute: 100 });
 * const clients = accounts.map((auth) => createClient({ baseUrl, auth, limiter }));
 */
export function createLimiter(options: LimiterOptions, clock: Clock = systemClock): Limiter {
  checkNames(options, ['concurrency', 'requestsPerMinute'], 'limiter');
  const { concurrency = Number.POSITIVE_INFINITY, requestsPerMinute = Number.POSITIVE_INFINITY } =
    options;
  if (options.concurrency !== undefined) checkWhole(concurrency, 'limiter.concurrency');
  if (options.requestsPerMinute !== undefined)
    checkWhole(requestsPerMinute, 'limiter.requestsPerMinute');

  /** What lets each waiting request go, first come, first served. */
  const waiting = new Set<() => void>();

  /** Times of the starts in the last minute, where they are limited. */
  const starts: number[] = [];
  let running = 0;
  let pausedUntil = 0;
  let cancelTimer = () => {};

  const drain = () => {
    cancelTimer();
    for (const go of waiting) {
      // Another one has to end first.
      if (running >= concurrency) return;
      const now = clock.now();
      while (starts[0] !== undefined && starts[0] <= now - minute) starts.shift();
      const freeAt = starts.length >= requestsPerMinute ? (starts[0] ?? now) + minute : now;
      const wait = Math.max(freeAt, pausedUntil) - now;
      if (wait > 0) {
        cancelTimer = clock.timer(drain, wait);
        return;
      }
      waiting.delete(go);
      running += 1;
      if (requestsPerMinute !== Number.POSITIVE_INFINITY) starts.push(now);
      go();
    }
  };

  return {
    acquire(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);

        const leave = () => {
          waiting.delete(go);
          // A timer that nobody waits for would keep the process alive.
          if (waiting.size === 0) cancelTimer();
          reject(signal?.reason);
        };

        const go = () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        };

        signal?.addEventListener('abort', leave, { once: true });
        waiting.add(go);

        // Whoever is first waits for the timer or for a release; the others wait for it.
        if (waiting.size === 1) drain();
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

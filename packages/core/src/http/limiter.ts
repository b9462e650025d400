import type { Clock } from './clock.ts';

/** Limits a client keeps by itself. */
export interface LimiterOptions {
  /** Requests that may start in any 60 seconds. @default no limit */
  readonly requestsPerMinute?: number;
  /** Requests under way at the same time. @default no limit */
  readonly concurrency?: number;
  /** Learn the rate from 429 answers: slow down on each, speed up again slowly. @default false */
  readonly adaptive?: boolean;
}

/** Lets requests through one by one. Shareable: clients of one account may be given the same one. */
export interface Limiter {
  /** Resolves when a request may start, or rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Says that a request is over, and how it went. */
  release(outcome: 'ok' | 'limited' | 'failed'): void;
  /** Nobody starts for so many milliseconds: the server asked one of us to wait. */
  pause(ms: number): void;
}

interface Waiter {
  readonly go: () => void;
  gone: boolean;
}

const minute = 60_000;

/** A limiter over a sliding minute: never more starts in any 60 seconds than allowed, in the order of asking. */
export function createLimiter(options: LimiterOptions, clock: Clock): Limiter {
  const concurrency = options.concurrency ?? Number.POSITIVE_INFINITY;
  const ceiling = options.requestsPerMinute ?? Number.POSITIVE_INFINITY;
  let allowed = ceiling;
  let running = 0;
  let pausedUntil = 0;
  const starts: number[] = [];
  let queue: Waiter[] = [];
  let cancelTimer: (() => void) | undefined;

  /** Milliseconds until the next request may start; infinite when only a release can make room. */
  const delay = (now: number): number => {
    if (running >= concurrency) return Number.POSITIVE_INFINITY;
    while ((starts[0] ?? now) <= now - minute) starts.shift();
    const room = Math.floor(allowed);
    const freed = starts.length >= room ? (starts[starts.length - room] as number) + minute : now;
    return Math.max(0, pausedUntil - now, freed - now);
  };

  const start = (now: number) => {
    running += 1;
    if (allowed === Number.POSITIVE_INFINITY && !options.adaptive) return;
    starts.push(now);
    // Nobody limits to more than this in a minute; the list must not grow with a fast server.
    if (starts.length > 50_000) starts.shift();
  };

  const drain = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    queue = queue.filter((waiter) => !waiter.gone);
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
      // What went through in the last minute was too much, whatever was thought to be allowed.
      allowed = Math.max(1, Math.min(allowed, starts.length) * 0.7);
    } else if (outcome === 'ok' && allowed < ceiling) {
      // One more request a minute for each minute that went well.
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
          waiter.gone = true;
          reject(signal?.reason);
          drain();
        };
        const waiter: Waiter = {
          gone: false,
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

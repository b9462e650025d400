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
  /** Learn the rate from 429 responses: slow down after each, then speed up again slowly. @default false */
  adaptive: option.flag(),
});

/** Limits that a client keeps to. */
export interface LimiterOptions extends OptionsOf<typeof limiterOptions> {}

/** Lets requests start one by one. Several clients of one account can share it. */
export interface Limiter {
  /** Resolves when a request may start, or rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Reports that a request has ended, and how. */
  release(outcome: 'ok' | 'limited' | 'failed'): void;
  /** Lets no request start for so many milliseconds, because the server asked one of them to wait. */
  pause(ms: number): void;
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
  const { concurrency = Number.POSITIVE_INFINITY, ...limits } = limiterOptions.read(options);
  const rate = createRate(limits);
  const queue = createQueue();
  let running = 0;
  let pausedUntil = 0;
  let cancelTimer = () => {};

  /** Milliseconds until the next request may start; infinite when another one has to end first. */
  const delay = (now: number): number =>
    running >= concurrency ? Number.POSITIVE_INFINITY : Math.max(0, pausedUntil - now, rate.delay(now));

  const start = (now: number) => {
    running += 1;
    rate.started(now);
  };
  const drain = () => {
    cancelTimer();
    for (let first = queue.first(); first !== undefined; first = queue.first()) {
      const now = clock.now();
      const wait = delay(now);
      if (wait > 0) {
        if (wait !== Number.POSITIVE_INFINITY) cancelTimer = clock.timer(drain, wait);
        return;
      }
      start(now);
      queue.remove(first);
      first.go();
    }
  };

  return {
    acquire(signal) {
      const now = clock.now();
      if (signal?.aborted) return Promise.reject(signal.reason);
      const isFirst = queue.first() === undefined;
      if (isFirst && delay(now) === 0) return Promise.resolve(start(now));
      const { promise, waiter } = waitFor(signal, () => {
        const wasFirst = queue.first() === waiter;
        queue.remove(waiter);
        if (wasFirst) drain();
      });
      queue.add(waiter);
      // Whoever is first waits for the timer or for a release; the others wait for it.
      if (isFirst) drain();
      return promise;
    },
    release(outcome) {
      running -= 1;
      rate.learn(outcome);
      drain();
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
      drain();
    },
  };
}

/** No one sets a limit above this; what is remembered must not grow without end with a fast server. */
const mostStarts = 50_000;

/** How many requests may start in a minute: what the options say, and what was learned from the server. */
function createRate({ requestsPerMinute: ceiling = Number.POSITIVE_INFINITY, adaptive }: LimiterOptions) {
  let allowed = ceiling;
  /** Times of the last starts. Those before `oldest` are over. */
  let starts: number[] = [];
  let oldest = 0;
  const forget = (before: number) => {
    while (oldest < starts.length && (starts[oldest] ?? 0) <= before) oldest += 1;
    if (oldest < mostStarts) return;
    starts = starts.slice(oldest);
    oldest = 0;
  };
  return {
    /** Milliseconds until this limit lets a request start. */
    delay(now: number): number {
      forget(now - minute);
      const most = Math.floor(allowed);
      if (starts.length - oldest < most) return 0;
      return (starts[starts.length - most] ?? now) + minute - now;
    },
    started(now: number): void {
      if (allowed === Number.POSITIVE_INFINITY && !adaptive) return;
      starts.push(now);
      if (starts.length - oldest > mostStarts) oldest += 1;
    },
    learn(outcome: 'ok' | 'limited' | 'failed'): void {
      if (!adaptive) return;
      if (outcome === 'limited') {
        // What started in the last minute was too much, whatever the limit was.
        allowed = Math.max(1, Math.min(allowed, starts.length - oldest) * 0.7);
      } else if (outcome === 'ok' && allowed < ceiling) {
        // One more request per minute for each minute without a 429.
        allowed = Math.min(ceiling, allowed + 1 / Math.max(1, allowed));
      }
    },
  };
}

/** A request that waits for its turn. */
interface Waiter {
  readonly go: () => void;
  before?: Waiter | undefined;
  after?: Waiter | undefined;
}

/** A promise that `waiter.go` resolves and that the signal rejects, after `leave`. */
function waitFor(signal: AbortSignal | undefined, leave: () => void) {
  let go = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    const stop = () => {
      leave();
      reject(signal?.reason);
    };
    go = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
  const waiter: Waiter = { go };
  return { promise, waiter };
}

/** Waiters in the order in which they came. Each step takes the same time, however many wait. */
function createQueue() {
  let first: Waiter | undefined;
  let last: Waiter | undefined;
  return {
    first: () => first,
    add(waiter: Waiter): void {
      waiter.before = last;
      if (last) last.after = waiter;
      else first = waiter;
      last = waiter;
    },
    remove(waiter: Waiter): void {
      const { before, after } = waiter;
      if (before) before.after = after;
      else first = after;
      if (after) after.before = before;
      else last = before;
      // An old waiter that kept the next one would keep it from the quick collection of young objects, and so all of them.
      waiter.before = undefined;
      waiter.after = undefined;
    },
  };
}

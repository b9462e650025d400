import { type Clock, type Limiter, systemClock } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import type { Board } from '../board/board.ts';
import { rateKey } from '../lanes/keys.ts';
import type { RateValue } from '../lanes/values.ts';

const limiterOptions = defineOptions({
  /** URL of the API. */
  baseUrl: option.string().required(),
  /** Where the credentials are: `file:101.json`. All accounts with the same one share the limit. */
  reference: option.string().required(),
  /** Requests that all workers together may start in any 60 seconds; null: no limit, but pauses are still shared. */
  requestsPerMinute: option.whole(1).or(option.only(null)).required(),
  /** Ends what waits. */
  signal: option.signal(),
  /** Timers; the time itself is that of the board. Default: those of Node. */
  clock: option.methods<Clock>('a clock', 'now', 'timer').default(systemClock),
});

/** What a limiter is for. */
export interface SharedLimiterOptions extends OptionsOf<typeof limiterOptions> {}

const minute = 60_000;
/** Part of the limit that is used, so that what started evenly may arrive a second apart from that. */
const share = 0.98;
/** How long a start may come after its moment. More than that, and a minute could have one too many. */
const latenessMs = 400;
/** Moments are taken for this long at a time: one write every 2 seconds. */
const takenMs = 2_000;
/** Wait after a write that was lost to another worker, or got no answer. */
const lostMs = 20;
const unansweredMs = 1_000;

/**
 * Makes a limiter that all workers share by way of the board. Moments at which requests may start are numbered off on the board
 * at even distances; each worker takes a few at a time. A worker without contact to the board takes none, so it falls silent.
 *
 * @example
 * const limiter = createSharedLimiter(board, { baseUrl, reference: 'file:101.json', requestsPerMinute: 100 });
 * const client = createClient({ baseUrl, auth, limiter, timeout: { total: Infinity } });
 */
export function createSharedLimiter(board: Board, options: SharedLimiterOptions): Limiter {
  return new SharedLimiter(board, limiterOptions.read(options));
}

interface Waiter {
  readonly go: () => void;
  readonly fail: (reason: unknown) => void;
}

class SharedLimiter implements Limiter {
  readonly #board: Board;
  readonly #key: string;
  /** Milliseconds between two moments; 0 without a limit. */
  readonly #gap: number;
  readonly #most: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #waiters = new Set<Waiter>();
  /** Moments that belong to this worker, in order, in board time. */
  #moments: number[] = [];
  /** How many of the last ones were of use. */
  #used = 0;
  /** Board time until which the server wants no request, as far as this worker knows. */
  #until = 0;
  #isRunning = false;

  constructor(
    board: Board,
    { baseUrl, reference, requestsPerMinute, signal, clock }: ReadOf<typeof limiterOptions>,
  ) {
    this.#board = board;
    this.#key = rateKey(baseUrl, reference);
    this.#gap = requestsPerMinute === null ? 0 : minute / (share * requestsPerMinute);
    this.#most = this.#gap === 0 ? 0 : Math.max(1, Math.floor(takenMs / this.#gap));
    this.#clock = clock;
    this.#signal = signal;
    signal?.addEventListener('abort', () => {
      for (const waiter of this.#waiters) waiter.fail(signal.reason);
    });
  }

  acquire(signal?: AbortSignal): Promise<void> {
    for (const each of [signal, this.#signal]) if (each?.aborted) return Promise.reject(each.reason);
    return new Promise<void>((resolve, reject) => {
      const end = (settle: () => void): void => {
        signal?.removeEventListener('abort', leave);
        this.#waiters.delete(waiter);
        settle();
      };
      const leave = (): void => waiter.fail(signal?.reason);
      const waiter: Waiter = { go: () => end(resolve), fail: (reason) => end(() => reject(reason)) };
      signal?.addEventListener('abort', leave);
      this.#waiters.add(waiter);
      void this.#run();
    });
  }

  release(): void {}

  pause(ms: number): void {
    this.#until = Math.max(this.#until, Math.ceil(this.#board.now() + ms));
    void this.#share(this.#until);
  }

  /** Lets waiters go, one for each moment, while there are any. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#waiters.size > 0) {
        const now = this.#board.now();
        const until = Math.max(this.#until, this.#entry().until);
        this.#moments = this.#moments.filter((moment) => moment >= until && moment >= now - latenessMs);
        if (until > now) await this.#sleep(until - now);
        else if (this.#gap === 0) this.#next()?.go();
        else if (this.#moments.length === 0) await this.#take();
        else if ((this.#moments[0] as number) > now) await this.#sleep((this.#moments[0] as number) - now);
        else {
          this.#moments.shift();
          this.#used += 1;
          this.#next()?.go();
        }
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Takes the next moments. Those that nobody needs in time are lost for all, so no more than were of use lately. */
  async #take(): Promise<void> {
    const count = Math.min(this.#most, Math.max(1, this.#waiters.size, 2 * this.#used));
    const { due, until } = this.#entry();
    const first = Math.max(due, Math.ceil(this.#board.now()), until, this.#until);
    const next = Math.ceil(first + count * this.#gap);
    const value: RateValue = { due: next, until: Math.max(until, this.#until) };
    const isTaken = await this.#write(value);
    if (isTaken !== true) return this.#sleep(isTaken === null ? lostMs : unansweredMs);
    this.#used = 0;
    this.#moments = Array.from({ length: count }, (_, i) => first + i * this.#gap);
  }

  /** Tells all others of a pause. */
  async #share(until: number): Promise<void> {
    while (this.#until === until && this.#entry().until < until && !this.#signal?.aborted) {
      const isWritten = await this.#write({ ...this.#entry(), until });
      if (isWritten !== true) await this.#sleep(isWritten === null ? lostMs : unansweredMs);
      if (this.#board.now() >= until) return;
    }
  }

  /** True: written; null: another worker was first; false: there was no answer. */
  async #write(value: RateValue): Promise<true | null | false> {
    try {
      const revision = this.#board.get(this.#key)?.revision ?? 0;
      return (await this.#board.write(this.#key, { ...value }, revision)) === null ? null : true;
    } catch {
      return false;
    }
  }

  #entry(): RateValue {
    const value = this.#board.get(this.#key)?.value as RateValue | null | undefined;
    return { due: value?.due ?? 0, until: value?.until ?? 0 };
  }

  #next(): Waiter | undefined {
    for (const waiter of this.#waiters) return waiter;
    return undefined;
  }

  /** Less than a second at a time, since others may have asked for a pause. */
  #sleep(ms: number): Promise<void> {
    return new Promise((done) => {
      this.#clock.timer(done, Math.min(Math.max(ms, 1), 1_000));
    });
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limiter } from '@call-attribution/core';
import type { TicketNote } from '../engine/ticket.ts';

const second = 1000;
const minute = 60 * second;

/** Requests of the last minute, in seconds: it can be written into a ticket, so that the next worker goes on where this one was. */
export class Rate {
  readonly #limit: number | null;
  readonly #counts = new Map<number, number>();

  constructor(limit: number | null, sent: TicketNote['sent'] = null) {
    this.#limit = limit;
    for (const [at, count] of sent?.counts.entries() ?? [])
      if (count > 0) this.#counts.set((sent?.at ?? 0) + at, count);
  }

  /** As if all requests of a minute had just been sent: what a worker sent that gave no more signs of life, nobody knows. */
  fill(now: number): void {
    if (this.#limit !== null) this.#counts.set(Math.floor(now / second), this.#limit);
  }

  /** Milliseconds until a request may start. */
  wait(now: number): number {
    if (this.#limit === null) return 0;
    // A second counts to its end.
    const begin = Math.floor((now - minute) / second);
    // A clock that was wrong must not stop an account for ever.
    const ahead = Math.floor((now + minute) / second);
    for (const at of [...this.#counts.keys()]) if (at < begin || at > ahead) this.#counts.delete(at);
    const seconds = [...this.#counts].sort(([a], [b]) => a - b);
    let sum = seconds.reduce((total, [, count]) => total + count, 0);
    for (const [at, count] of seconds) {
      if (sum < this.#limit) break;
      sum -= count;
      if (sum < this.#limit) return Math.max(1, (at + 1) * second + minute - now);
    }
    return 0;
  }

  started(now: number): void {
    if (this.#limit === null) return;
    const at = Math.floor(now / second);
    this.#counts.set(at, (this.#counts.get(at) ?? 0) + 1);
  }

  /** What the ticket keeps. */
  sent(now: number): TicketNote['sent'] {
    this.wait(now);
    const seconds = [...this.#counts.keys()].sort((a, b) => a - b);
    const [at] = seconds;
    const last = seconds.at(-1);
    if (at === undefined || last === undefined) return null;
    // No more than a reader of the ticket takes.
    const from = Math.max(at, last - 63);
    return {
      at: from,
      counts: Array.from({ length: last - from + 1 }, (_, i) => this.#counts.get(from + i) ?? 0),
    };
  }
}

/** What a wait is for. */
export type WaitFor = 'rate' | 'server';

/** What a gate asks its turn. */
export interface GateOwner {
  /** A request would have to wait so long. `end`: the turn ends with what has come; `stay`: it waits without its slot. */
  onWait(ms: number, what: WaitFor): 'end' | 'stay';
  /** Waits without a slot. */
  rest(ms: number, signal: AbortSignal): Promise<void>;
  /** Whether the turn is to end with the next page that is written. */
  isOver(): boolean;
  readonly now: () => number;
}

/** Waits of at most this are waited for in the slot. */
const shortWait = 1_000;
/** Quiet time after which nothing more comes of what was asked for. */
const quietMs = 25;

/**
 * Lets the requests of a turn start, one after the other. Once it is closed no further one starts, and when all that was asked for has
 * come and is committed, `onQuiet` is called: then nothing that was read is lost.
 */
export class Gate implements Limiter {
  readonly #rate: Rate;
  readonly #owner: GateOwner;
  #tail: Promise<void> = Promise.resolve();
  #running = 0;
  #working = 0;
  #pausedUntil = 0;
  #isClosed = false;
  #quiet: NodeJS.Timeout | undefined;
  #onWritten = (): void => {};
  /** Called once it is closed and all is quiet. */
  onQuiet = (): void => {};
  /** Requests that have started. */
  started = 0;

  constructor(rate: Rate, owner: GateOwner) {
    this.#rate = rate;
    this.#owner = owner;
  }

  acquire(signal: AbortSignal = new AbortController().signal): Promise<void> {
    const passed = this.#tail.then(() => this.#pass(signal));
    this.#tail = passed.catch(() => {});
    return passed;
  }

  release(): void {
    this.#running -= 1;
    this.#stir();
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#owner.now() + ms);
  }

  /** A request waits before it is sent again. */
  waits(ms: number): void {
    if (ms <= shortWait || this.#isClosed) return;
    this.pause(ms);
    if (this.#owner.onWait(ms, 'server') === 'end') this.close();
  }

  /** Lets no further request start. */
  close(): void {
    this.#isClosed = true;
    this.#stir();
  }

  /** Does something with what was read. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work();
    } finally {
      this.#working -= 1;
      if (this.#working === 0) this.#onWritten();
      this.#stir();
    }
  }

  /** Stops the clock that waits for quiet. */
  end(): void {
    clearTimeout(this.#quiet);
    this.onQuiet = () => {};
  }

  async #pass(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#owner.isOver()) await this.#written();
      if (this.#isClosed) {
        this.#stir();
        await aborted(signal);
      }
      const now = this.#owner.now();
      const [rate, server] = [this.#rate.wait(now), this.#pausedUntil - now];
      const wait = Math.max(rate, server);
      if (wait <= 0) break;
      const what = server >= rate ? 'server' : 'rate';
      if (wait <= shortWait) await slept(wait, signal);
      else if (this.#owner.onWait(wait, what) === 'end') this.close();
      else await this.#owner.rest(wait, signal);
    }
    this.#rate.started(this.#owner.now());
    this.#running += 1;
    this.started += 1;
  }

  /** Once the loop has turned, a page that came is on its way to the target: the turn may be over with it. */
  async #written(): Promise<void> {
    await nextTurn();
    while (this.#working > 0)
      await new Promise<void>((resolve) => {
        this.#onWritten = resolve;
      });
  }

  #stir(): void {
    clearTimeout(this.#quiet);
    if (!this.#isClosed || this.#running > 0 || this.#working > 0) return;
    this.#quiet = setTimeout(() => this.onQuiet(), quietMs);
  }
}

/** Never resolves; rejects with the reason of the signal. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

/** Waits; rejects with the reason of the signal. */
export function slept(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    const stop = (): void => {
      end();
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      end();
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

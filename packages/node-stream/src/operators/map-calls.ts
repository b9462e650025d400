import type { Call } from '@call-attribution/core';
import { Operator } from './operator.ts';

/** Options of `mapCalls`. */
export interface MapOptions {
  /** How many results of an async function may be under way. Order is kept. Default 1. */
  concurrency?: number;
}

type Mapped<O> = O | null | undefined;

/**
 * Replaces each item by what the function returns, or leaves it out when that is null or undefined. The function may be
 * async; `concurrency` lets several run at once and still delivers in order.
 */
export function mapCalls<O, I = Call>(
  map: (item: I, signal: AbortSignal) => Mapped<O> | Promise<Mapped<O>>,
  options: MapOptions = {},
): Operator<I, O> {
  const concurrency = options.concurrency ?? 1;
  if (!(concurrency >= 1)) throw new RangeError(`concurrency is ${concurrency}; expected at least 1`);
  return new Operator<I, O>(
    ({ emit, fail, signal }) => {
      const put = (value: Mapped<O>) => {
        if (value !== null && value !== undefined) emit(value);
      };
      // Results leave in the order of their inputs: each one waits for the one before it.
      let last: Promise<void> | undefined;
      let running = 0;
      let free = () => {};
      const settled = () => {
        running -= 1;
        if (running === 0) last = undefined;
        free();
      };
      return {
        push(item) {
          const before = last;
          const value = before === undefined ? map(item, signal) : later(map, item, signal);
          if (!isPromise(value)) return put(value);
          running += 1;
          // A result that fails early waits for its turn, so that what came before it is still delivered.
          value.catch(() => {});
          const mine = (async () => {
            await before;
            put(await value);
          })();
          last = mine;
          mine.then(settled, (error) => {
            if (concurrency > 1) fail(error);
            free();
          });
          if (concurrency === 1) return mine;
          if (running < concurrency) return undefined;
          return new Promise<void>((resolve) => {
            free = resolve;
          });
        },
        mark: () => last,
        end: () => last,
      };
    },
    { eager: concurrency > 1 },
  );
}

/** What is thrown at once waits for its turn, too. */
async function later<I, O>(
  map: (item: I, signal: AbortSignal) => Mapped<O> | Promise<Mapped<O>>,
  item: I,
  signal: AbortSignal,
): Promise<Mapped<O>> {
  return map(item, signal);
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

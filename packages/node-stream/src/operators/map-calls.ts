import type { Call } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf } from '@call-attribution/core/options';
import { atLeastOne } from '../option-kinds.ts';
import { Operator } from './operator.ts';

const mapOptions = defineOptions({
  /** How many calls of an async function may run at the same time. The order is kept. Default 1. */
  concurrency: atLeastOne().default(1),
});

/** Settings of `mapCalls`. */
export interface MapOptions extends OptionsOf<typeof mapOptions> {}

/** What the function of `mapCalls` returns: a new item, or null or undefined to leave the item out. */
export type Mapped<O> = O | null | undefined;

/**
 * Replaces each item with what the function returns, and removes it when that is null or undefined. The function may be
 * async; with `concurrency` several run at the same time, and results still come in order.
 *
 * @example
 * mapCalls(async (call, signal) => ({ ...call, branch: await lookUp(call.dnis, signal) }), { concurrency: 8 });
 */
export function mapCalls<O, I = Call>(
  map: (item: I, signal: AbortSignal) => Mapped<O> | Promise<Mapped<O>>,
  options: MapOptions = {},
): Operator<I, O> {
  const { concurrency } = mapOptions.read(options);
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
          // A failure waits for its turn, so that the results before it are still delivered.
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

/** An error thrown synchronously waits for its turn as well. */
async function later<I, O>(
  map: (item: I, signal: AbortSignal) => Mapped<O> | Promise<Mapped<O>>,
  item: I,
  signal: AbortSignal,
): Promise<Mapped<O>> {
  return map(item, signal);
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof propertyOf(value, 'then') === 'function';
}

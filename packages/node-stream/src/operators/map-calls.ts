import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOperator } from './chain.ts';
import type { Operator } from './operator.ts';
import { isPromise, untilAborted } from './sources.ts';

/** Settings of `mapCalls`. */
export interface MapOptions {
  /**
   * How many calls of an async function may run at the same time, within a page. The order is kept.
   * Default 1.
   */
  concurrency?: number;
}

/**
 * Replaces each item with what the function returns, and removes it when that is null or undefined.
 * The function may be async, and its signal aborts when the read is left or fails; with
 * `concurrency` several run at the same time, and results still come in order, page by page.
 *
 * @example
 * mapCalls(async (call, signal) => ({ ...call, branch: await lookUp(call.dnis, signal) }), {
 * concurrency: 8 });
 */
export function mapCalls<O, I = Call>(
  map: (item: I, signal: AbortSignal) => O | null | undefined | Promise<O | null | undefined>,
  options: MapOptions = {},
): Operator<I, O> {
  const { concurrency = 1 } = options;
  if (!(concurrency >= 1))
    throw new ConfigurationError(
      'invalid_option',
      `concurrency is ${concurrency}; expected at least 1`,
    );

  return defineOperator<I, O>({
    name: 'mapCalls',
    gives: 'new',
    begin: (_, signal) => ({
      async page(items) {
        const results: (O | null | undefined)[] = [];
        let next = 0;

        const work = async (): Promise<void> => {
          try {
            while (next < items.length && !signal.aborted) {
              const at = next++;
              const value = map(items[at] as I, signal);
              results[at] = isPromise(value) ? await value : value;
            }
          } catch (error) {
            next = items.length;
            throw error;
          }
        };

        const workers: Promise<void>[] = [];
        while (workers.length < concurrency && next < items.length) workers.push(work());
        await untilAborted(signal, Promise.all(workers));
        return results.filter((value) => value !== null && value !== undefined);
      },
    }),
  });
}

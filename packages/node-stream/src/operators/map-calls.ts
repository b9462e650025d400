import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOperator } from './chain.ts';
import type { Operator } from './operator.ts';
import { isPromise, untilAborted } from './sources.ts';

/** Settings of `mapCalls`. */
export interface MapOptions {
  /** How many calls of an async function may run at the same time, within a page. The order is kept. Default 1. */
  concurrency?: number;
}

/** What the function of `mapCalls` returns: a new item, or null or undefined to leave the item out. */
export type Mapped<O> = O | null | undefined;

/** The function of `mapCalls`. The signal aborts when the read is left or fails. */
export type MapItem<I, O> = (item: I, signal: AbortSignal) => Mapped<O> | Promise<Mapped<O>>;

/**
 * Replaces each item with what the function returns, and removes it when that is null or undefined. The function may be
 * async; with `concurrency` several run at the same time, and results still come in order, page by page.
 *
 * @example
 * mapCalls(async (call, signal) => ({ ...call, branch: await lookUp(call.dnis, signal) }), { concurrency: 8 });
 */
export function mapCalls<O, I = Call>(map: MapItem<I, O>, options: MapOptions = {}): Operator<I, O> {
  const { concurrency = 1 } = options;
  if (!(concurrency >= 1))
    throw new ConfigurationError('invalid_option', `concurrency is ${concurrency}; expected at least 1`);
  return defineOperator<I, O>({
    name: 'mapCalls',
    gives: 'new',
    begin: (_, { signal }) => ({
      page(items) {
        const out: O[] = [];
        for (const [at, item] of items.entries()) {
          const value = map(item, signal);
          if (isPromise(value)) return finish(items, at, value, out, signal);
          if (value !== null && value !== undefined) out.push(value);
        }
        return out;
      },
    }),
  });

  /** The rest of a page, of which the first item is on its way. */
  async function finish(
    items: readonly I[],
    first: number,
    begun: Promise<Mapped<O>>,
    out: O[],
    signal: AbortSignal,
  ): Promise<O[]> {
    const results: Mapped<O>[] = [];
    let next = first + 1;
    const work = async (at: number, begun: Mapped<O> | Promise<Mapped<O>>): Promise<void> => {
      try {
        results[at - first] = await begun;
        while (next < items.length && !signal.aborted) {
          const mine = next++;
          results[mine - first] = await map(items[mine] as I, signal);
        }
      } catch (error) {
        next = items.length;
        throw error;
      }
    };
    const workers = [work(first, begun)];
    while (workers.length < concurrency && next < items.length) {
      const mine = next++;
      workers.push(work(mine, (async () => map(items[mine] as I, signal))()));
    }
    await untilAborted(signal, Promise.all(workers));
    for (const value of results) if (value !== null && value !== undefined) out.push(value);
    return out;
  }
}

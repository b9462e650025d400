import type { Call } from '@call-attribution/core';
import { defineOptions, type OptionsOf } from '@call-attribution/core/options';
import { atLeastOne } from '../option-kinds.ts';
import type { Operator } from './forms.ts';
import { defineOperator } from './operator.ts';
import { isPromise, Part, Stopped, untilAborted } from './step.ts';

const mapOptions = defineOptions({
  /** How many calls of an async function may run at the same time. The order is kept. Default 1. */
  concurrency: atLeastOne().default(1),
});

/** Settings of `mapCalls`. */
export interface MapOptions extends OptionsOf<typeof mapOptions> {}

/** What the function of `mapCalls` returns: a new item, or null or undefined to leave the item out. */
export type Mapped<O> = O | null | undefined;

/** The function of `mapCalls`. The signal aborts when the read is left or fails. */
export type MapItem<I, O> = (item: I, signal: AbortSignal) => Mapped<O> | Promise<Mapped<O>>;

/**
 * Replaces each item with what the function returns, and removes it when that is null or undefined. The function may be
 * async; with `concurrency` several run at the same time, and results still come in order.
 *
 * @example
 * mapCalls(async (call, signal) => ({ ...call, branch: await lookUp(call.dnis, signal) }), { concurrency: 8 });
 */
export function mapCalls<O, I = Call>(map: MapItem<I, O>, options: MapOptions = {}): Operator<I, O> {
  const { concurrency } = mapOptions.read(options);
  return defineOperator<I, O>({
    name: 'mapCalls',
    begin: (_, { signal }) => {
      // Results of the first items of the next batch, which are on their way.
      const flight: Promise<Mapped<O>>[] = [];
      const settle = async (batch: readonly I[]): Promise<readonly O[] | Part<O>> => {
        for (const item of batch.slice(flight.length, concurrency))
          flight.push(quiet((async () => map(item, signal))()));
        const value = await untilAborted(signal, Promise.resolve(flight.shift())).catch((error: unknown) => {
          throw new Stopped(error, [], 0);
        });
        const out = value === null || value === undefined ? [] : [value];
        return batch.length === 1 ? out : new Part(out, 1);
      };
      return {
        take(batch) {
          if (flight.length > 0) return settle(batch);
          const out: O[] = [];
          let taken = 0;
          try {
            for (const item of batch) {
              const value = map(item, signal);
              if (isPromise(value)) {
                flight.push(quiet(value));
                return new Part(out, taken);
              }
              if (value !== null && value !== undefined) out.push(value);
              taken += 1;
            }
          } catch (error) {
            throw new Stopped(error, out, taken);
          }
          return out;
        },
      };
    },
  });
}

/** A failure is thrown when it is the turn of its item. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

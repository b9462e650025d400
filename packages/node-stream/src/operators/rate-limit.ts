import { type Call, type Clock, monotonicClock, sleep } from '@call-attribution/core';
import { defineOptions, type Option, type OptionsOf, option } from '@call-attribution/core/options';
import { Operator } from './operator.ts';

const positive = (): Option<number> =>
  option.of('a number above 0', (value) => typeof value === 'number' && value > 0, true);

const rateLimitOptions = <T>() =>
  defineOptions({
    /** Items per interval, on average. */
    limit: positive().required(),
    /** The interval. Default `1s`. */
    per: option.duration().default('1s'),
    /** Items that may pass at once after a pause. Default: `limit`, at least 1. */
    burst: positive(),
    /** What one item costs, for instance the length of a batch. Default 1. */
    cost: option.callback<(item: T) => number>().default(() => 1),
    /** Where the time comes from, for tests. Default: the machine's clock. */
    clock: option.object<Clock>().default(monotonicClock),
  });

/** Settings of `rateLimit`. */
export interface RateLimitOptions<T> extends OptionsOf<typeof rateLimitOptions<T>> {}

/**
 * Holds items back so that no more than `limit` pass per interval. The source is slowed by ordinary backpressure.
 *
 * @example
 * rateLimit({ limit: 10, per: '1s' });
 */
export function rateLimit<T = Call>(options: RateLimitOptions<T>): Operator<T, T> {
  const { limit, per, burst = limit, cost, clock } = rateLimitOptions<T>().read(options);
  const perItem = per / limit;
  const most = Math.max(1, burst);
  return new Operator<T, T>(({ emit, signal }) => {
    // When the bucket is full again. An item may pass while that is less than a burst away.
    let full = Number.NEGATIVE_INFINITY;
    return {
      push(item) {
        const now = clock.now();
        full = Math.max(full, now) + cost(item) * perItem;
        const wait = full - now - most * perItem;
        if (wait <= 0) return emit(item);
        return sleep(clock, wait, signal).then(() => emit(item));
      },
    };
  });
}

import { type Call, type Clock, monotonicClock, sleep } from '@call-attribution/core';
import { kinds, type OptionKind, type OptionShape } from '@call-attribution/core/errors';
import { type Duration, durationMillis } from '@call-attribution/core/time';
import { checkNeeded, duration } from '../option-kinds.ts';
import { Operator } from './operator.ts';

/** Settings of `rateLimit`. */
export interface RateLimitOptions<T> {
  /** Items per interval, on average. */
  limit: number;
  /** The interval. Default `1s`. */
  per?: Duration | undefined;
  /** Items that may pass at once after a pause. Default: `limit`, at least 1. */
  burst?: number | undefined;
  /** What one item costs, for instance the length of a batch. Default 1. */
  cost?: ((item: T) => number) | undefined;
  /** Where the time comes from, for tests. Default: the machine's clock. */
  clock?: Clock | undefined;
}

const positive: OptionKind = {
  expected: 'a number above 0',
  accepts: (value) => typeof value === 'number' && value > 0,
  isShown: true,
};

const shape = {
  limit: positive,
  per: duration,
  burst: positive,
  cost: kinds.callback,
  clock: kinds.object,
} satisfies OptionShape & Record<keyof RateLimitOptions<unknown>, OptionKind>;

/**
 * Holds items back so that no more than `limit` pass per interval. The source is slowed by ordinary backpressure.
 *
 * @example
 * rateLimit({ limit: 10, per: '1s' });
 */
export function rateLimit<T = Call>(options: RateLimitOptions<T>): Operator<T, T> {
  checkNeeded(options, shape, 'limit');
  const { limit, cost = () => 1, clock = monotonicClock } = options;
  const perItem = durationMillis(options.per ?? '1s', 'per') / limit;
  const burst = Math.max(1, options.burst ?? limit);
  return new Operator<T, T>(({ emit, signal }) => {
    // When the bucket is full again. An item may pass while that is less than a burst away.
    let full = Number.NEGATIVE_INFINITY;
    return {
      push(item) {
        const now = clock.now();
        full = Math.max(full, now) + cost(item) * perItem;
        const wait = full - now - burst * perItem;
        if (wait <= 0) return emit(item);
        return sleep(clock, wait, signal).then(() => emit(item));
      },
    };
  });
}

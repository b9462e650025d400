import type { Clock } from '@call-attribution/core';
import { type Duration, durationMillis } from '@call-attribution/core/time';
import { Refusal } from './refusal.ts';

/** How many requests one key may make in a span of time. */
export interface RateLimit {
  /** Requests in each span. */
  readonly requests: number;
  /** Length of a span. */
  readonly per: Duration;
}

/** Counts the requests of each key. */
export interface RateLimiter {
  /** Counts one request and returns the rate-limit headers; throws a refusal with 429 when the key has none left. */
  take(key: string): Record<string, string>;
}

/** A limiter of this process; several instances count separately. */
export function createRateLimiter(
  { requests, per: span }: RateLimit,
  clock: Pick<Clock, 'now'>,
): RateLimiter {
  const per = durationMillis(span, 'rateLimit.per');
  let spans = new Map<string, { used: number; ends: number }>();
  return {
    take(key) {
      const time = clock.now();
      let current = spans.get(key);
      if (current === undefined || current.ends <= time) {
        // Only accepted keys get here, so the map is no larger than the number of keys in use.
        if (spans.size > 10_000) spans = new Map([...spans].filter(([, { ends }]) => ends > time));
        current = { used: 0, ends: time + per };
        spans.set(key, current);
      }
      const wait = Math.ceil((current.ends - time) / 1000);
      const left = Math.max(0, requests - current.used - 1);
      const headers = {
        'ratelimit-policy': `"key";q=${requests};w=${per / 1000}`,
        ratelimit: `"key";r=${left};t=${wait}`,
        'ratelimit-limit': String(requests),
        'ratelimit-remaining': String(left),
        'ratelimit-reset': String(wait),
      };
      if (current.used >= requests) {
        throw new Refusal(
          'too_many_requests',
          `This key may make ${requests} requests in ${per / 1000} s. Wait ${wait} s.`,
          {
            headers: { ...headers, 'retry-after': String(wait) },
          },
        );
      }
      current.used += 1;
      return headers;
    },
  };
}

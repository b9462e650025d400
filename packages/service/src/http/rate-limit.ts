import type { Clock } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { Refusal } from './refusal.ts';

/** The options of a rate limit. */
export const rateLimitOptions = defineOptions({
  /** Requests in each span. */
  requests: option.whole(1).required(),
  /** Length of a span. */
  per: option.duration().required(),
});

/** How many requests one key may make in a span of time. */
export interface RateLimit extends OptionsOf<typeof rateLimitOptions> {}
/** The same, as it is read. */
export interface RateSettings extends ReadOf<typeof rateLimitOptions> {}

/** Counts the requests of each key. */
export interface RateLimiter {
  /** Counts one request and returns the rate-limit headers; throws a refusal with 429 when the key has none left. */
  take(key: string): Record<string, string>;
}

/** A limiter of this process; several instances count separately. */
export function createRateLimiter({ requests, per }: RateSettings, clock: Pick<Clock, 'now'>): RateLimiter {
  let spans = new Map<string, { used: number; ends: number }>();
  return {
    take(key) {
      const time = clock.now();
      let span = spans.get(key);
      if (span === undefined || span.ends <= time) {
        // Only accepted keys get here, so the map is no larger than the number of keys in use.
        if (spans.size > 10_000) spans = new Map([...spans].filter(([, { ends }]) => ends > time));
        span = { used: 0, ends: time + per };
        spans.set(key, span);
      }
      const wait = Math.ceil((span.ends - time) / 1000);
      const left = Math.max(0, requests - span.used - 1);
      const headers = {
        'ratelimit-policy': `"key";q=${requests};w=${per / 1000}`,
        ratelimit: `"key";r=${left};t=${wait}`,
        'ratelimit-limit': String(requests),
        'ratelimit-remaining': String(left),
        'ratelimit-reset': String(wait),
      };
      if (span.used >= requests) {
        throw new Refusal(
          'too_many_requests',
          `This key may make ${requests} requests in ${per / 1000} s. Wait ${wait} s.`,
          {
            headers: { ...headers, 'retry-after': String(wait) },
          },
        );
      }
      span.used += 1;
      return headers;
    },
  };
}

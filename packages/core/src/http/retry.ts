import type { IncomingHttpHeaders } from 'node:http';
import { checkWhole } from '../options/check-names.ts';
import { type Duration, durationMillis } from '../time/duration.ts';
import { headerText } from './headers.ts';

/** When a failed request is sent again: what differs from the defaults. */
export interface RetryOptions {
  /**
   * How many times a request is sent at most, including the first time; 1 switches retries off.
   * @default 4
   */
  readonly attempts?: number | undefined;
  /**
   * Upper bound of the first wait, which doubles with each attempt: milliseconds, or a string such
   * as '1s'.
   * @default 250
   */
  readonly baseDelay?: Duration | undefined;
  /**
   * Upper bound of every wait that the client chooses itself: milliseconds, or a string such as
   * '30s'. @default '8s'
   */
  readonly maxDelay?: Duration | undefined;
  /**
   * Send a request again after the server was silent for `timeout.idle` or did not accept a
   * connection in time. Where somebody waits,
   * `false` ends a call to a server that is stuck after one deadline. @default true
   */
  readonly afterSilence?: boolean | undefined;
}

/** When a failed request is sent again, in milliseconds. */
export type RetryPolicy = { readonly [name in 'attempts' | 'baseDelay' | 'maxDelay']: number };

/** The policy of a client. */
export type ClientRetry = RetryPolicy & { readonly afterSilence: boolean };

/** When a client sends requests again unless it is told otherwise. */
export const retryDefaults: ClientRetry = {
  attempts: 4,
  baseDelay: 250,
  maxDelay: 8_000,
  afterSilence: true,
};

/** What was given, and the rest. */
export function readRetry(given: RetryOptions | undefined, rest: ClientRetry): ClientRetry {
  if (given === undefined) return rest;
  const { attempts = rest.attempts, baseDelay = rest.baseDelay, maxDelay = rest.maxDelay } = given;
  checkWhole(attempts, 'retry.attempts');
  return {
    attempts,
    baseDelay: durationMillis(baseDelay, 'retry.baseDelay'),
    maxDelay: durationMillis(maxDelay, 'retry.maxDelay'),
    afterSilence: given.afterSilence ?? rest.afterSilence,
  };
}

/**
 * Milliseconds to wait after attempt number `attempt`: a random part of the doubled bound (full
 * jitter), and never less than the server requested.
 */
export function retryDelay(
  policy: RetryPolicy,
  attempt: number,
  requestedMs: number | undefined,
  random: () => number,
): number {
  const bound = Math.min(policy.maxDelay, policy.baseDelay * 2 ** (attempt - 1));
  const jitter = Math.floor(random() * bound);
  // Added to what the server requested: otherwise all clients would come back at the same instant.
  return requestedMs === undefined ? jitter : requestedMs + Math.min(jitter, policy.baseDelay);
}

/**
 * How long the server wants the client to wait, in milliseconds: `Retry-After` as seconds or as a
 * date, else
 * `RateLimit-Reset` (or its `X-` form) as seconds or as a time since 1970. Undefined when it does not say.
 */
export function requestedDelay(headers: IncomingHttpHeaders, now: number): number | undefined {
  const single = (name: string) => headerText(headers, name)?.trim();
  const retryAfter = single('retry-after');
  if (retryAfter !== undefined) {
    if (/^\d+(?:\.\d+)?$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1000);
    const date = parseHttpDate(retryAfter);
    // When the server sends its own time, a wrong clock on this machine cannot shorten the wait.
    if (date !== undefined) return Math.max(0, date - (parseHttpDate(single('date') ?? '') ?? now));
  }

  const reset = single('ratelimit-reset') ?? single('x-ratelimit-reset');
  if (reset === undefined || !/^\d+(?:\.\d+)?$/.test(reset)) return undefined;
  const seconds = Number(reset);

  // Small numbers are seconds from now, numbers of this size are seconds or milliseconds since
  // 1970.
  if (seconds > 1e12) return Math.max(0, seconds - now);
  return seconds > 1e9 ? Math.max(0, seconds * 1000 - now) : Math.ceil(seconds * 1000);
}

/** An HTTP date (`Wed, 21 Oct 2015 07:28:00 GMT`); Date.parse alone accepts almost anything. */
function parseHttpDate(text: string): number | undefined {
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? .*\d\d:\d\d:\d\d/i.test(text)) return undefined;
  const time = Date.parse(/gmt|utc|[+-]\d{4}$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

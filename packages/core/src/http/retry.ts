import type { IncomingHttpHeaders } from 'node:http';
import { defineOptions, type OptionsOf, type ReadOf } from '../options/define-options.ts';
import { option } from '../options/option.ts';

/** The options of retries. */
export const retryOptions = defineOptions({
  /** How many times a request is sent at most, including the first time. @default 4 */
  attempts: option.whole(1).default(4),
  /** Upper bound of the first wait; it doubles with each attempt. @default 250 milliseconds */
  baseDelay: option.duration().default(250),
  /** Upper bound of every wait that the client chooses itself. @default '8s' */
  maxDelay: option.duration().default('8s'),
  /**
   * Send a request again after the server was silent for `timeout.idle` or did not accept a connection in time. Where somebody waits,
   * `false` ends a call to a server that is stuck after one deadline. @default true
   */
  afterSilence: option.flag(),
});

/** When a failed request is sent again: what differs from the defaults. */
export interface RetryOptions extends OptionsOf<typeof retryOptions> {}

/** When a failed request is sent again. */
export interface RetryPolicy extends ReadOf<typeof retryOptions> {}

/**
 * Milliseconds to wait after attempt number `attempt`: a random part of the doubled bound (full jitter), and never less
 * than the server requested.
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
 * How long the server wants the client to wait, in milliseconds: `Retry-After` as seconds or as a date, else
 * `RateLimit-Reset` (or its `X-` form) as seconds or as a time since 1970. Undefined when it does not say.
 */
export function requestedDelay(headers: IncomingHttpHeaders, now: number): number | undefined {
  const retryAfter = single(headers['retry-after']);
  if (retryAfter !== undefined) {
    if (/^\d+(?:\.\d+)?$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1000);
    const date = parseHttpDate(retryAfter);
    // When the server sends its own time, a wrong clock on this machine cannot shorten the wait.
    if (date !== undefined) return Math.max(0, date - (parseHttpDate(single(headers.date) ?? '') ?? now));
  }
  const reset = single(headers['ratelimit-reset']) ?? single(headers['x-ratelimit-reset']);
  if (reset === undefined || !/^\d+(?:\.\d+)?$/.test(reset)) return undefined;
  const seconds = Number(reset);
  // Small numbers are seconds from now, numbers of this size are seconds or milliseconds since 1970.
  if (seconds > 1e12) return Math.max(0, seconds - now);
  return seconds > 1e9 ? Math.max(0, seconds * 1000 - now) : Math.ceil(seconds * 1000);
}

const single = (value: string | string[] | undefined): string | undefined =>
  (Array.isArray(value) ? value[0] : value)?.trim();

/** An HTTP date (`Wed, 21 Oct 2015 07:28:00 GMT`); Date.parse alone accepts almost anything. */
function parseHttpDate(text: string): number | undefined {
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? .*\d\d:\d\d:\d\d/i.test(text)) return undefined;
  const time = Date.parse(/gmt|utc|[+-]\d{4}$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

import { CallsError, DeadlineError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { withDetails } from '../errors/with-details.ts';
import type { Limiter } from '../http/limiter.ts';
import { retryDelay } from '../http/retry.ts';
import { sleep } from '../time/clock.ts';
import type { ApiResponse } from './api-request.ts';
import { attemptOnce, type Sending } from './attempt.ts';
import { waitTracing } from './events.ts';
import { noteFailure } from './observe.ts';
import type { Settings } from './options.ts';

/** Sends a request until an attempt succeeds, another one cannot help, or the total deadline has passed. */
export async function retryLoop<T>(sending: Sending<T>): Promise<ApiResponse<T>> {
  const { request, settings } = sending;
  const { clock, limiter, timeout } = settings;
  const { signal } = request.options;
  const end = clock.now() + timeout.total;
  for (let attempt = 1; ; attempt += 1) {
    if (limiter) await passLimiter(sending, limiter, attempt - 1, end - clock.now());
    let failure: CallsError;
    let waitMs: number;
    try {
      const { value, response } = await attemptOnce(sending, attempt, end - clock.now());
      return { value, response, attempts: attempt };
    } catch (error) {
      if (!(error instanceof CallsError) || error === signal?.reason) throw error;
      failure = error;
      waitMs = retryDelay(settings.retry, attempt, error.retryAfterMs, settings.random);
      if (error.code === 'rate_limited') limiter?.pause(waitMs);
      if (!error.isRetryable || attempt >= settings.retry.attempts || endsSilence(settings, error))
        throw error;
      if (clock.now() + waitMs >= end) throw tooLate(error, clock.now(), waitMs);
    } finally {
      limiter?.release();
    }
    await waitForRetry(sending, attempt, waitMs, failure);
  }
}

function endsSilence({ retry }: Settings, { limit }: CallsError): boolean {
  return retry.afterSilence === false && (limit === 'idle' || limit === 'connect');
}

/** A wait that does not fit into the total deadline is not begun: the caller learns at once when to try again. */
function tooLate(error: CallsError, now: number, waitMs: number): CallsError {
  // A Date cannot hold a later time than this, but servers may request one.
  const when = new Date(Math.min(now + waitMs, 8.64e15)).toISOString();
  const retryAfterMs = error.retryAfterMs ?? waitMs;
  return withDetails(error, { hint: messages.retryLater(waitMs, when), retryAfterMs });
}

function waitForRetry(
  { request, settings }: Sending<unknown>,
  attempts: number,
  waitMs: number,
  { code: after, status }: CallsError,
): Promise<void> {
  const { client, operation, url, options } = request;
  return waitTracing.run(
    () => ({
      ...{ client, operation, url, reason: 'retry', attempts, waitMs, after },
      ...(status === undefined ? {} : { status }),
    }),
    () => sleep(settings.clock, waitMs, options.signal),
    noteFailure,
  );
}

const held = Symbol('held back');

/** Waits for the limiter, within the signal and the total deadline. */
async function passLimiter(
  { request, settings }: Sending<unknown>,
  limiter: Limiter,
  attempts: number,
  leftMs: number,
): Promise<void> {
  const { client, operation, url, options } = request;
  const { clock, timeout } = settings;
  const { signal } = options;
  const guard = new AbortController();
  const stop = () => guard.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const cancel = clock.timer(
    () =>
      guard.abort(
        new DeadlineError('timeout', messages.limiterTimeout(timeout.total), {
          limit: 'total',
          isRetryable: false,
        }),
      ),
    leftMs,
  );
  try {
    if (signal?.aborted) stop();
    const turn = limiter.acquire(guard.signal);
    // Most requests may start at once: that is no wait.
    if ((await Promise.race([turn, held])) !== held) return;
    await waitTracing.run(
      () => ({ client, operation, url, reason: 'limiter', attempts }),
      () => turn,
      noteFailure,
    );
  } finally {
    cancel();
    signal?.removeEventListener('abort', stop);
  }
}

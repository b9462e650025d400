import { CallsError, changeHint, DeadlineError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { sleep } from '../http/clock.ts';
import { retryDelay } from '../http/retry.ts';
import { channels } from '../observe/events.ts';
import type { ApiRequest, ApiResponse } from './api-request.ts';
import type { Settings } from './options.ts';

/** Sends a request until an attempt succeeds, another one cannot help, or the total deadline has passed. */
export async function retryLoop<T>(
  settings: Settings,
  request: ApiRequest<T>,
  attemptOnce: (attempt: number, leftMs: number) => Promise<Omit<ApiResponse<T>, 'attempts'>>,
): Promise<ApiResponse<T>> {
  const { clock, limiter, timeout } = settings;
  const end = clock.now() + timeout.total;
  for (let attempt = 1; ; attempt += 1) {
    if (limiter) await passLimiter(settings, request, end - clock.now());
    let outcome: 'ok' | 'limited' | 'failed' = 'failed';
    let waitMs: number;
    try {
      const { value, response } = await attemptOnce(attempt, end - clock.now());
      outcome = 'ok';
      return { value, response, attempts: attempt };
    } catch (error) {
      if (!(error instanceof CallsError)) throw error;
      waitMs = retryDelay(settings.retry, attempt, error.retryAfterMs, settings.random);
      if (error.code === 'rate_limited') {
        outcome = 'limited';
        limiter?.pause(waitMs);
      }
      if (!error.isRetryable || attempt >= settings.retry.attempts || endsSilence(settings, error))
        throw error;
      if (clock.now() + waitMs >= end) throw tooLate(error, clock.now(), waitMs);
      const { id, operation, url } = request;
      // A server that asks for a pause is at work; other errors are worth a look.
      const write = error.code === 'rate_limited' ? settings.log.info : settings.log.warn;
      write?.('retry', { operation, attempt, error: error.code, status: error.status, waitMs, url });
      if (channels.retry.hasSubscribers) {
        const status = error.status === undefined ? {} : { status: error.status };
        channels.retry.publish({ id, operation, url, attempt, waitMs, error: error.code, ...status });
      }
    } finally {
      limiter?.release(outcome);
    }
    await sleep(clock, waitMs, request.options.signal);
  }
}

function endsSilence({ retry }: Settings, { code }: CallsError): boolean {
  return retry.afterSilence === false && (code === 'idle_timeout' || code === 'connect_timeout');
}

/** A wait that does not fit into the total deadline is not begun: the caller learns at once when to try again. */
function tooLate(error: CallsError, now: number, waitMs: number): CallsError {
  // A Date cannot hold a later time than this, but servers may request one.
  const when = new Date(Math.min(now + waitMs, 8.64e15)).toISOString();
  return Object.assign(changeHint(error, messages.retryLater(waitMs, when)), {
    retryAfterMs: error.retryAfterMs ?? waitMs,
  });
}

/** Waits for the limiter, within the signal and the total deadline. */
async function passLimiter(settings: Settings, request: ApiRequest<unknown>, leftMs: number): Promise<void> {
  const { clock, limiter, timeout } = settings;
  const { signal } = request.options;
  const guard = new AbortController();
  const stop = () => guard.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const cancel = clock.timer(
    () => guard.abort(new DeadlineError('total_timeout', messages.limiterTimeout(timeout.total))),
    leftMs,
  );
  const began = clock.now();
  try {
    if (signal?.aborted) stop();
    await limiter?.acquire(guard.signal);
  } finally {
    cancel();
    signal?.removeEventListener('abort', stop);
  }
  const waitedMs = clock.now() - began;
  if (waitedMs <= 0) return;
  const { id, operation, url } = request;
  settings.log.info?.('held back by the limiter', { operation, waitedMs, url });
  if (channels.wait.hasSubscribers) channels.wait.publish({ id, operation, waitedMs });
}

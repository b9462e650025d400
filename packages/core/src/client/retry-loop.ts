import { CallsError, TimeoutError } from '../errors/calls-error.ts';
import { sleep } from '../http/clock.ts';
import { retryDelay } from '../http/retry.ts';
import { channels } from '../observe/channels.ts';
import type { Ask, Asked } from './ask.ts';
import type { Settings } from './read-options.ts';

/** Tries until one attempt holds, nothing more can help, or the time of the whole call is up. */
export async function retryLoop<T>(
  settings: Settings,
  ask: Ask<T>,
  attemptOnce: (attempt: number, leftMs: number) => Promise<Omit<Asked<T>, 'attempts'>>,
): Promise<Asked<T>> {
  const { clock, limiter, timeout } = settings;
  const end = clock.now() + timeout.total;
  for (let attempt = 1; ; attempt += 1) {
    if (limiter) await passLimiter(settings, ask, end - clock.now());
    let outcome: 'ok' | 'limited' | 'failed' = 'failed';
    let wait: number;
    try {
      const { value, answer } = await attemptOnce(attempt, end - clock.now());
      outcome = 'ok';
      return { value, answer, attempts: attempt };
    } catch (error) {
      if (!(error instanceof CallsError)) throw error;
      wait = retryDelay(settings.retry, attempt, error.retryAfterMs, settings.random);
      if (error.code === 'rate_limited') {
        outcome = 'limited';
        limiter?.pause(wait);
      }
      if (!error.isRetryable || attempt >= settings.retry.attempts) throw error;
      if (clock.now() + wait >= end) throw comeBackLater(error, clock.now(), wait);
      if (channels.retry.hasSubscribers) {
        const { id, operation, url } = ask;
        channels.retry.publish({ id, operation, url, attempt, waitMs: wait, error: error.code });
      }
    } finally {
      limiter?.release(outcome);
    }
    await sleep(clock, wait, ask.signal);
  }
}

/** A wait that cannot fit into the total deadline is not begun: the caller learns at once when to come back. */
function comeBackLater(error: CallsError, now: number, wait: number): CallsError {
  // The last time a Date can hold; servers may ask for more.
  const when = new Date(Math.min(now + wait, 8.64e15)).toISOString();
  const hint = `The next attempt would be due in ${Math.ceil(wait / 1000)} s, past the total deadline; come back after ${when}.`;
  return Object.assign(error, { hint, retryAfterMs: error.retryAfterMs ?? wait });
}

/** Waits for the limiter, within the signal and the total deadline. */
async function passLimiter(settings: Settings, ask: Ask<unknown>, leftMs: number): Promise<void> {
  const { clock, limiter, timeout } = settings;
  const guard = new AbortController();
  const stop = () => guard.abort(ask.signal?.reason);
  ask.signal?.addEventListener('abort', stop, { once: true });
  const cancel = clock.timer(() => {
    const message = `The limiter did not let the request start within the total deadline of ${timeout.total} ms.`;
    guard.abort(
      new TimeoutError('total_timeout', message, {
        hint: 'Raise timeout.total or the limits, or send less at once.',
      }),
    );
  }, leftMs);
  const asked = clock.now();
  try {
    if (ask.signal?.aborted) stop();
    await limiter?.acquire(guard.signal);
  } finally {
    cancel();
    ask.signal?.removeEventListener('abort', stop);
  }
  const waitedMs = clock.now() - asked;
  if (waitedMs > 0 && channels.wait.hasSubscribers)
    channels.wait.publish({ id: ask.id, operation: ask.operation, waitedMs });
}

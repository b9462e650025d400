import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ResponseError, TimeoutError } from '../errors/calls-error.ts';
import { type BodyPool, smallestPooled } from './body-pool.ts';
import type { Clock } from './clock.ts';
import { networkError } from './network-error.ts';

/** One request as it goes out. Headers are a flat list: name, value, name, value. */
export interface Outgoing {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: string[];
  readonly body?: string;
}

/** One whole answer, its body still encoded. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What one attempt may take. */
export interface Limits {
  readonly attemptMs: number;
  readonly idleMs: number;
  /** Time left of the whole call, and what it was at the beginning. */
  readonly leftMs: number;
  readonly totalMs: number;
  readonly maxBodyBytes: number;
  readonly bodies: BodyPool;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one request and collects the whole answer. One timer watches all deadlines; an abort or a passed deadline
 * rejects at once and closes the socket.
 */
export function exchange(dispatcher: Dispatcher, request: Outgoing, limits: Limits): Promise<Answer> {
  const { clock, signal } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const started = clock.now();
    let heard = started;
    let controller: Dispatcher.DispatchController | undefined;
    let failure: unknown;
    let done = false;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let chunks: Buffer[] = [];
    let whole: Buffer | undefined;
    let size = 0;

    const finish = () => {
      done = true;
      stopWatch();
      signal?.removeEventListener('abort', onAbort);
    };
    const joined = () => {
      if (whole !== undefined) return whole.subarray(0, size);
      return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
    };
    const fail = (error: unknown) => {
      if (done) return;
      finish();
      failure = error;
      chunks = [];
      reject(error);
      controller?.abort(asError(error));
    };
    const onAbort = () => fail(signal?.reason);
    const watch = () => {
      const now = clock.now();
      const late = passed(now - started, now - heard, limits);
      if (late) fail(late);
      else stopWatch = clock.timer(watch, nextCheck(now - started, now - heard, limits));
    };
    let stopWatch = clock.timer(watch, nextCheck(0, 0, limits));
    signal?.addEventListener('abort', onAbort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        heard = clock.now();
        if (done) given.abort(asError(failure));
      },
      onResponseStart(_, code, fields) {
        heard = clock.now();
        status = code;
        headers = fields;
        const length = Number(fields['content-length']);
        if (length > limits.maxBodyBytes) fail(tooLarge(limits.maxBodyBytes));
        else if (length >= smallestPooled) whole = limits.bodies.take(length);
      },
      onResponseData(_, chunk) {
        heard = clock.now();
        // A chunk that is copied at once dies young; kept until the end it would have to be moved first.
        if (whole !== undefined && size + chunk.length > whole.length) {
          chunks.push(whole.subarray(0, size));
          whole = undefined;
        }
        if (whole === undefined) chunks.push(chunk);
        else chunk.copy(whole, size);
        size += chunk.length;
        if (size > limits.maxBodyBytes) fail(tooLarge(limits.maxBodyBytes));
      },
      onResponseEnd() {
        if (done) return;
        finish();
        resolve({ status, headers, body: joined() });
      },
      onResponseError(_, error) {
        // An abort of our own comes back here, too.
        if (!done) fail(networkError(error, request.origin, status !== 0));
      },
    };
    try {
      dispatcher.dispatch(request, handler);
    } catch (error) {
      // Only a dispatcher of somebody's own throws here; the timer must not outlive it.
      fail(networkError(error, request.origin, false));
    }
  });
}

/** A signal may be aborted with anything; the transport wants an error. */
const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error('stopped'));

function nextCheck(spent: number, silent: number, { attemptMs, idleMs, leftMs }: Limits): number {
  return Math.max(1, Math.min(attemptMs - spent, leftMs - spent, idleMs - silent));
}

function passed(spent: number, silent: number, limits: Limits): TimeoutError | undefined {
  const { attemptMs, idleMs, leftMs, totalMs } = limits;
  if (spent >= leftMs)
    return new TimeoutError(
      'total_timeout',
      `The call was not done within its total deadline of ${totalMs} ms.`,
      {
        hint: 'Ask for fewer rows, or raise timeout.total.',
      },
    );
  if (spent >= attemptMs)
    return new TimeoutError('attempt_timeout', `The answer was not complete within ${attemptMs} ms.`, {
      isRetryable: true,
      hint: 'Ask for fewer rows, or raise timeout.attempt.',
    });
  if (silent >= idleMs)
    return new TimeoutError('idle_timeout', `The server sent nothing for ${idleMs} ms.`, {
      isRetryable: true,
      hint: 'The server or a proxy before it may be stuck; raise timeout.idle if it is only slow.',
    });
  return undefined;
}

/** Also thrown when a body grows past the cap while it is unpacked. */
export function tooLarge(maxBodyBytes: number): ResponseError {
  return new ResponseError('body_too_large', `The answer is larger than the cap of ${maxBodyBytes} bytes.`, {
    hint: 'Ask for fewer rows, or raise maxBodyBytes.',
  });
}

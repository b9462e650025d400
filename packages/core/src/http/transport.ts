import type { IncomingHttpHeaders } from 'node:http';
import { DeadlineError, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { type BodyPool, smallestPooled } from './body-pool.ts';
import type { Clock } from './clock.ts';
import {
  type DispatchController,
  forAllVersions,
  type HttpRequest,
  type RequestDispatcher,
  type ResponseHandler,
} from './dispatch.ts';
import { networkError } from './network-error.ts';

/** One complete response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Limits of one attempt. */
export interface Limits {
  readonly attemptMs: number;
  readonly idleMs: number;
  /** What is left of the total deadline. */
  readonly leftMs: number;
  /** The total deadline. */
  readonly totalMs: number;
  readonly maxBodyBytes: number;
  readonly bodies: BodyPool;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one request and collects the complete response. One timer watches all deadlines; an abort or a passed deadline
 * rejects at once and closes the socket.
 */
export function send(
  dispatcher: RequestDispatcher,
  request: HttpRequest,
  limits: Limits,
): Promise<HttpResponse> {
  const { clock, signal } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const started = clock.now();
    let lastData = started;
    let controller: DispatchController | undefined;
    let failure: unknown;
    let isDone = false;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let chunks: Buffer[] = [];
    let whole: Buffer | undefined;
    let size = 0;

    const finish = () => {
      isDone = true;
      stopWatch();
      signal?.removeEventListener('abort', onAbort);
    };
    const joined = () => {
      if (whole !== undefined) return whole.subarray(0, size);
      return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
    };
    const fail = (error: unknown) => {
      if (isDone) return;
      finish();
      failure = error;
      chunks = [];
      reject(error);
      controller?.abort(asError(error));
    };
    const onAbort = () => fail(signal?.reason);
    const watch = () => {
      const now = clock.now();
      const late = passed(now - started, now - lastData, limits);
      if (late) fail(late);
      else stopWatch = clock.timer(watch, nextCheck(now - started, now - lastData, limits));
    };
    let stopWatch = clock.timer(watch, nextCheck(0, 0, limits));
    signal?.addEventListener('abort', onAbort, { once: true });

    const handler: ResponseHandler = {
      onRequestStart(given) {
        controller = given;
        lastData = clock.now();
        if (isDone) given.abort(asError(failure));
      },
      onResponseStart(_, code, fields) {
        lastData = clock.now();
        status = code;
        headers = fields;
        const length = Number(fields['content-length']);
        if (length > limits.maxBodyBytes) fail(tooLarge(limits.maxBodyBytes));
        else if (length >= smallestPooled) whole = limits.bodies.take(length);
      },
      onResponseData(_, chunk) {
        lastData = clock.now();
        // A chunk that is copied at once can be collected early; one that is kept to the end would have to be moved first.
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
        if (isDone) return;
        finish();
        resolve({ status, headers, body: joined() });
      },
      onResponseError(_, error) {
        // Our own abort is reported here, too.
        if (!isDone) fail(networkError(error, request.origin, status !== 0));
      },
    };
    try {
      dispatcher.dispatch(request, forAllVersions(handler));
    } catch (error) {
      // Only a dispatcher passed by the user throws here; the timer must not outlive it.
      fail(networkError(error, request.origin, false));
    }
  });
}

/** A signal may be aborted with anything; the transport wants an error. */
const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error('stopped'));

function nextCheck(spent: number, silent: number, { attemptMs, idleMs, leftMs }: Limits): number {
  return Math.max(1, Math.min(attemptMs - spent, leftMs - spent, idleMs - silent));
}

function passed(spent: number, silent: number, limits: Limits): DeadlineError | undefined {
  const { attemptMs, idleMs, leftMs, totalMs } = limits;
  const retry = { isRetryable: true };
  if (spent >= leftMs) return new DeadlineError('total_timeout', messages.totalTimeout(totalMs));
  if (spent >= attemptMs)
    return new DeadlineError('attempt_timeout', messages.attemptTimeout(attemptMs), retry);
  if (silent >= idleMs) return new DeadlineError('idle_timeout', messages.idleTimeout(idleMs), retry);
  return undefined;
}

/** Also thrown when a body grows past the limit while it is decoded. */
export function tooLarge(maxBodyBytes: number): ResponseError {
  return new ResponseError('body_too_large', messages.tooLarge(maxBodyBytes));
}

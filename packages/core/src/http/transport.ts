import type { IncomingHttpHeaders } from 'node:http';
import { DeadlineError, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import type { Clock } from '../time/clock.ts';
import type { DispatchController, HttpRequest, RequestDispatcher, ResponseHandler } from './dispatch.ts';
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
  const { signal, maxBodyBytes } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let controller: DispatchController | undefined;
    let begun: Omit<HttpResponse, 'body'> | undefined;
    let failure: Error | undefined;
    let isDone = false;
    const body = collectBody();
    const finish = () => {
      isDone = true;
      deadlines.stop();
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (error: unknown) => {
      if (isDone) return;
      finish();
      failure = error instanceof Error ? error : new Error('stopped');
      reject(error);
      controller?.abort(failure);
    };
    const onAbort = () => fail(signal?.reason);
    const deadlines = watchDeadlines(limits, fail);
    signal?.addEventListener('abort', onAbort, { once: true });
    const handler: ResponseHandler = {
      onRequestStart(given) {
        controller = given;
        deadlines.heard();
        if (failure) given.abort(failure);
      },
      onResponseStart(_, status, headers) {
        deadlines.heard();
        begun = { status, headers };
        if (Number(headers['content-length']) > maxBodyBytes) fail(tooLarge(maxBodyBytes));
      },
      onResponseData(_, chunk) {
        deadlines.heard();
        if (!isDone && body.add(chunk) > maxBodyBytes) fail(tooLarge(maxBodyBytes));
      },
      onResponseEnd() {
        if (isDone) return;
        if (begun === undefined) return fail(networkError(undefined, request.origin, false));
        finish();
        resolve({ ...begun, body: body.whole() });
      },
      // An abort of our own is reported here, too.
      onResponseError: (_, error) => fail(networkError(error, request.origin, begun !== undefined)),
    };
    try {
      dispatcher.dispatch(request, handler);
    } catch (error) {
      // Only a dispatcher passed by the user throws here; the timer must not outlive it.
      fail(networkError(error, request.origin, false));
    }
  });
}

/** Collects the parts of a body. */
function collectBody() {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    /** Adds a part; the size so far. */
    add(chunk: Buffer): number {
      chunks.push(chunk);
      size += chunk.length;
      return size;
    },
    /** The body in memory of its own: a dispatcher may use that of its parts again. */
    whole: (): Buffer => Buffer.concat(chunks, size),
  };
}

/** Calls `onLate` once a deadline has passed. */
function watchDeadlines(limits: Limits, onLate: (error: DeadlineError) => void) {
  const { clock } = limits;
  const started = clock.now();
  let lastData = started;
  const watch = () => {
    const now = clock.now();
    const late = passed(now - started, now - lastData, limits);
    if (late) onLate(late);
    else cancel = clock.timer(watch, nextCheck(now - started, now - lastData, limits));
  };
  let cancel = clock.timer(watch, nextCheck(0, 0, limits));
  return {
    /** The server has sent something. */
    heard(): void {
      lastData = clock.now();
    },
    stop: () => cancel(),
  };
}

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

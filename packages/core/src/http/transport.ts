import type { IncomingHttpHeaders } from 'node:http';
import { DeadlineError, type ErrorWords, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import type { Clock } from '../time/clock.ts';
import { minute } from '../time/naive.ts';
import type { DispatchController, HttpRequest, RequestDispatcher, ResponseHandler } from './dispatch.ts';
import { isLookingUp } from './lookup.ts';
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
    const deadlines = watchDeadlines(limits, new URL(request.origin).hostname, fail);
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
        const length = Number(headers['content-length']);
        if (length > maxBodyBytes) fail(tooLarge(maxBodyBytes));
        else if (length > 0) body.expect(length);
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

/** Memory is set aside for bodies up to this length, which is more than a page has: what a server says of a body may be wrong. */
const mostExpected = 16 * 2 ** 20;

/**
 * Collects the parts of a body in memory of its own: a dispatcher may use that of its parts again. Where the server has said
 * how long the body is, each part is copied as it comes, so that no part waits for the others.
 */
function collectBody() {
  let expected = 0;
  let memory: Buffer | null = null;
  let filled = 0;
  let size = 0;
  const others: Buffer[] = [];
  return {
    /** The server says that so many bytes come. */
    expect(length: number): void {
      if (length <= mostExpected) expected = length;
    },
    /** Adds a part; the size so far. */
    add(chunk: Buffer): number {
      memory ??= Buffer.allocUnsafeSlow(expected);
      size += chunk.length;
      if (size <= memory.length) filled += chunk.copy(memory, filled);
      else others.push(chunk);
      return size;
    },
    whole(): Buffer {
      const begun = memory?.subarray(0, filled) ?? Buffer.alloc(0);
      return size === memory?.length ? begun : Buffer.concat([begun, ...others], size);
    },
  };
}

/** Calls `onLate` once a deadline has passed. */
function watchDeadlines(limits: Limits, hostname: string, onLate: (error: DeadlineError) => void) {
  const { clock } = limits;
  const started = clock.now();
  let lastData = started;
  const watch = () => {
    const now = clock.now();
    const late = passed(now - started, now - lastData, limits, hostname);
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

/** Checked at least once a minute: without any deadline, this timer keeps the process alive while a name is looked up. */
function nextCheck(spent: number, silent: number, { attemptMs, idleMs, leftMs }: Limits): number {
  return Math.max(1, Math.min(attemptMs - spent, leftMs - spent, idleMs - silent, minute));
}

function passed(
  spent: number,
  silent: number,
  { attemptMs, idleMs, leftMs, totalMs }: Limits,
  hostname: string,
): DeadlineError | undefined {
  const end = (limit: 'idle' | 'attempt' | 'total', words: ErrorWords, isRetryable: boolean) =>
    isLookingUp(hostname)
      ? new DeadlineError('timeout', messages.lookupTimeout(hostname), { limit: 'connect', isRetryable })
      : new DeadlineError('timeout', words, { limit, isRetryable });
  if (spent >= leftMs) return end('total', messages.totalTimeout(totalMs), false);
  if (spent >= attemptMs) return end('attempt', messages.attemptTimeout(attemptMs), true);
  if (silent >= idleMs) return end('idle', messages.idleTimeout(idleMs), true);
  return undefined;
}

/** Also thrown when a body grows past the limit while it is decoded. */
export function tooLarge(maxBodyBytes: number): ResponseError {
  return new ResponseError('body_too_large', messages.tooLarge(maxBodyBytes));
}

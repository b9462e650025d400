import { channel } from 'node:diagnostics_channel';
import { CallsError, type ErrorCode } from '../errors/calls-error.ts';
import type { Clock } from '../http/clock.ts';

/** What the client does: list calls, get one call, count calls, list SMS numbers. */
export type Operation = 'list' | 'get' | 'count' | 'sms';

/** Published on `call-attribution:request` when the client begins to send a request, and when it is done with it. */
export interface RequestEvent {
  /** When the event was published. */
  readonly phase: 'start' | 'end';
  /** The same object in both phases: a key for a WeakMap of spans. */
  readonly id: object;
  /** What the client does. */
  readonly operation: Operation;
  /** URL without secrets. */
  readonly url: string;
  /** How many times the request was sent. */
  readonly attempts?: number;
  /** HTTP status of the last response. */
  readonly status?: number;
  /** Milliseconds from start to end, with all attempts and waits. */
  readonly durationMs?: number;
  /** Code of the error it ended with; `aborted` when the signal was aborted. */
  readonly error?: ErrorCode | 'aborted';
}

/** Published on `call-attribution:attempt` after each attempt. */
export interface AttemptEvent {
  /** The id of the request. */
  readonly id: object;
  /** What the client does. */
  readonly operation: Operation;
  /** URL without secrets. */
  readonly url: string;
  /** Number of the attempt, counted from 1. */
  readonly attempt: number;
  /** Milliseconds of this attempt. */
  readonly durationMs: number;
  /** HTTP status, if there was a response. */
  readonly status?: number;
  /** Size of the decoded body. */
  readonly bytes?: number;
  /** Code of the error it failed with; `aborted` when the signal was aborted. */
  readonly error?: ErrorCode | 'aborted';
}

/** Published on `call-attribution:retry` before the client waits and sends the request again. */
export interface RetryEvent {
  /** The id of the request. */
  readonly id: object;
  /** What the client does. */
  readonly operation: Operation;
  /** URL without secrets. */
  readonly url: string;
  /** Number of the attempt that failed, counted from 1. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly waitMs: number;
  /** Code of the error the attempt failed with. */
  readonly error: ErrorCode;
}

/** Published on `call-attribution:wait` when the limiter has held a request back. */
export interface WaitEvent {
  /** The id of the request. */
  readonly id: object;
  /** What the client does. */
  readonly operation: Operation;
  /** Milliseconds that the request was held back. */
  readonly waitedMs: number;
}

/** Published on `call-attribution:page` for each page that passed its checks. */
export interface PageEvent {
  /** URL without secrets. */
  readonly url: string;
  /** Rows requested. */
  readonly rows: number;
  /** Number of the page, counted from 0. */
  readonly page: number;
  /** Records of the page. */
  readonly count: number;
  /** Records of the list; null when the server does not say. */
  readonly total: number | null;
  /** The server sent fewer rows than requested, although it has more. */
  readonly clamped: boolean;
}

/** The diagnostics channels of this package. Without a subscriber no event object is made. */
export const channels = {
  request: channel('call-attribution:request'),
  attempt: channel('call-attribution:attempt'),
  retry: channel('call-attribution:retry'),
  wait: channel('call-attribution:wait'),
  page: channel('call-attribution:page'),
} as const;

/** Runs a request between its start event and its end event. */
export async function tracedRequest<T extends { attempts: number; response: { status: number } }>(
  request: { readonly id: object; readonly operation: Operation; readonly url: string },
  clock: Clock,
  run: () => Promise<T>,
): Promise<T> {
  const { id, operation, url } = request;
  const began = clock.now();
  const publish = (event: Omit<RequestEvent, 'id' | 'operation' | 'url'>) =>
    channels.request.publish({ id, operation, url, ...event } satisfies RequestEvent);
  publish({ phase: 'start' });
  const end = (rest: Partial<RequestEvent>) =>
    publish({ phase: 'end', durationMs: clock.now() - began, ...rest });
  try {
    const result = await run();
    end({ attempts: result.attempts, status: result.response.status });
    return result;
  } catch (error) {
    if (!(error instanceof CallsError)) end({ error: 'aborted' });
    else {
      const { attempts, status, code } = error;
      end({
        error: code,
        ...(attempts === undefined ? {} : { attempts }),
        ...(status === undefined ? {} : { status }),
      });
    }
    throw error;
  }
}

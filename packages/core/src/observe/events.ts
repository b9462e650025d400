import { channel } from 'node:diagnostics_channel';
import { CallsError } from '../errors/calls-error.ts';
import type { ErrorCode } from '../errors/codes.ts';
import type { Clock } from '../http/clock.ts';
import { createTracing, type TraceContext } from '../tracing/index.ts';

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
  /** HTTP status, if there was a response. */
  readonly status?: number;
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

/**
 * The message of the tracing channels `tracing:call-attribution:request:*`: one request with all its attempts. What is optional is
 * there once the request has ended.
 */
export interface RequestTrace extends TraceContext {
  /** What the client does. */
  readonly operation: Operation;
  /** HTTP method. */
  readonly method: string;
  /** URL without secrets. */
  readonly url: string;
  /** Host name of the server. */
  readonly address: string;
  /** Its port. */
  readonly port: number;
  /** How many times the request was sent. */
  attempts?: number;
  /** HTTP status of the last response. */
  status?: number;
}

/**
 * The message of the tracing channels `tracing:call-attribution:page:*`: one page of a list with its checks. What is optional is
 * there once the page has passed them.
 */
export interface PageTrace extends TraceContext {
  /** Rows requested. */
  readonly rows: number;
  /** Number of the page, counted from 0. */
  readonly page: number;
  /** Records of the page. */
  count?: number;
  /** Records of the list; null when the server does not say. */
  total?: number | null;
}

const requestTracing = createTracing<RequestTrace>('request');

/** The tracing channels of pages. */
export const pageTracing = createTracing<PageTrace>('page');

/** The diagnostics channels of this package. Without a subscriber no event object is made. */
export const channels = {
  request: channel('call-attribution:request'),
  attempt: channel('call-attribution:attempt'),
  retry: channel('call-attribution:retry'),
  wait: channel('call-attribution:wait'),
  page: channel('call-attribution:page'),
} as const;

/** What the events of a request say of it. */
interface ObservedRequest {
  readonly id: object;
  readonly operation: Operation;
  readonly url: string;
  readonly http: { readonly method: string; readonly origin: string };
}

interface ObservedResponse {
  readonly attempts: number;
  readonly response: { readonly status: number };
}

/** Runs a request, and publishes how it goes where somebody listens. */
export function observeRequest<T extends ObservedResponse>(
  request: ObservedRequest,
  clock: Clock,
  send: () => Promise<T>,
): Promise<T> {
  const run = requestTracing.isActive() ? () => inTrace(request, send) : send;
  return channels.request.hasSubscribers ? betweenEvents(request, clock, run) : run();
}

function inTrace<T extends ObservedResponse>(
  { operation, url, http: { method, origin } }: ObservedRequest,
  send: () => Promise<T>,
): Promise<T> {
  const { protocol, hostname, port } = new URL(origin);
  const context: RequestTrace = {
    operation,
    method,
    url,
    address: hostname,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  };
  return requestTracing.run(context, send, (outcome) => {
    if ('value' in outcome) {
      context.attempts = outcome.value.attempts;
      context.status = outcome.value.response.status;
    } else if (outcome.error instanceof CallsError) {
      const { attempts, status } = outcome.error;
      if (attempts !== undefined) context.attempts = attempts;
      if (status !== undefined) context.status = status;
    }
  });
}

/** Runs a request between its start event and its end event. */
async function betweenEvents<T extends ObservedResponse>(
  request: ObservedRequest,
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

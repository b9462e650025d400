import { channel } from 'node:diagnostics_channel';
import type { ErrorCode } from '../errors/calls-error.ts';

/** What the client was asked to do. */
export type Operation = 'list' | 'get' | 'count' | 'sms';

/** Published on `call-attribution:request` when a call to the client begins to ask the server, and when it is over. */
export interface RequestEvent {
  readonly phase: 'start' | 'end';
  /** The same object in both phases: a key for a WeakMap of spans. */
  readonly id: object;
  readonly operation: Operation;
  /** Address without secrets. */
  readonly url: string;
  readonly attempts?: number;
  readonly status?: number;
  readonly durationMs?: number;
  /** Code of the error it ended with; `aborted` for a signal. */
  readonly error?: ErrorCode | 'aborted';
}

/** Published on `call-attribution:attempt` after each attempt. */
export interface AttemptEvent {
  readonly id: object;
  readonly operation: Operation;
  readonly url: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly status?: number;
  /** Bytes of the body as unpacked. */
  readonly bytes?: number;
  readonly error?: ErrorCode | 'aborted';
}

/** Published on `call-attribution:retry` before the client waits and tries again. */
export interface RetryEvent {
  readonly id: object;
  readonly operation: Operation;
  readonly url: string;
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: ErrorCode;
}

/** Published on `call-attribution:wait` when the limiter has held a request back. */
export interface WaitEvent {
  readonly id: object;
  readonly operation: Operation;
  readonly waitedMs: number;
}

/** Published on `call-attribution:page` for each page that passed its checks. */
export interface PageEvent {
  readonly url: string;
  readonly rows: number;
  readonly start: number;
  readonly count: number;
  readonly total: number | null;
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

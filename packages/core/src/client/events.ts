// What can be observed of a client. Operations are tracing channels of node:diagnostics_channel, and what the client notices is on a
// plain one. Each message names its client; none holds a key, a record or what a caller's data could be in.
import { channel } from 'node:diagnostics_channel';
import type { ErrorCode } from '../errors/codes.ts';
import { createTracing, type TraceContext } from '../tracing/index.ts';
import type { Client } from './client.ts';
import type { ClientReport } from './options.ts';

/** What the client does: list calls, get one call, count calls, list SMS numbers. */
export type Operation = 'list' | 'get' | 'count' | 'sms';

/** What each message of the tracing channels of a client has. */
export interface ClientTrace extends TraceContext {
  /** The client that does it. */
  readonly client: Client;
  /** Code of the error that it failed with; `aborted` when the signal was aborted. Set once it has ended. */
  code?: ErrorCode | 'aborted';
}

/**
 * The message of the tracing channels `tracing:call-attribution:request:*`: one request with all its attempts. What is optional is
 * there once the request has ended.
 */
export interface RequestTrace extends ClientTrace {
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
 * The message of the tracing channels `tracing:call-attribution:attempt:*`: one attempt of a request, with reading and checking of
 * the response. What is optional is there once it has ended.
 */
export interface AttemptTrace extends ClientTrace {
  /** What the client does. */
  readonly operation: Operation;
  /** URL without secrets. */
  readonly url: string;
  /** Number of the attempt, counted from 1. */
  readonly attempt: number;
  /** HTTP status, if there was a response. */
  status?: number;
  /** Size of the decoded body. */
  bytes?: number;
}

/** The message of the tracing channels `tracing:call-attribution:wait:*`: a request that waits. */
export interface WaitTrace extends ClientTrace {
  /** What the client does. */
  readonly operation: Operation;
  /** URL without secrets. */
  readonly url: string;
  /** For the limiter to let it start, or for the time of the next attempt. */
  readonly reason: 'limiter' | 'retry';
  /** How many times the request was sent before. */
  readonly attempts: number;
  /** Milliseconds until the next attempt. */
  readonly waitMs?: number;
  /** Code of the error that the attempt before failed with. */
  readonly after?: string;
  /** HTTP status of that attempt, if there was a response. */
  readonly status?: number;
}

/** The message of the channel `call-attribution:report`: something that a client noticed. */
export interface ReportEvent {
  /** The client that noticed it. */
  readonly client: Client;
  /** What it noticed. */
  readonly report: ClientReport;
}

/** Publishes requests. */
export const requestTracing = createTracing<RequestTrace>('request');

/** Publishes attempts. */
export const attemptTracing = createTracing<AttemptTrace>('attempt');

/** Publishes waits. */
export const waitTracing = createTracing<WaitTrace>('wait');

/** Publishes what clients notice. */
export const reports = channel('call-attribution:report');

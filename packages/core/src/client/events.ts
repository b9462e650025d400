// What can be observed of a client. Operations are tracing channels of node:diagnostics_channel,
// and what the client notices is on a plain one. Each message names its client; none holds a key, a
// record or what a caller's data could be in. Its log has the same.
import { channel } from 'node:diagnostics_channel';
import { CallsError } from '../errors/calls-error.ts';
import type { ErrorCode } from '../errors/codes.ts';
import { redact } from '../errors/redact.ts';
import type { Log } from '../log/logger.ts';
import {
  createTracing,
  safeCaller,
  type TraceContext,
  type TraceOutcome,
} from '../tracing/index.ts';
import type { Client } from './client.ts';
import type { ClientReport, Settings } from './options.ts';

/** What the client does: list calls, get one call, count calls, list SMS numbers. */
export type Operation = 'list' | 'get' | 'count' | 'sms';

/** What each message of the tracing channels of a client has. */
export interface ClientTrace extends TraceContext {
  /** The client that does it. */
  readonly client: Client;
  /** What the client does. */
  readonly operation: Operation;
  /** URL without secrets. */
  readonly url: string;
  /**
   * Code of the error that it failed with; `aborted` when the signal was aborted. Set once it has
   * ended.
   */
  code?: ErrorCode | 'aborted';
}

/**
 * The message of the tracing channels `tracing:call-attribution:request:*`: one request with all
 * its attempts. What is optional is there once the request has ended.
 */
export interface RequestTrace extends ClientTrace {
  /** HTTP method. */
  readonly method: string;
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
 * The message of the tracing channels `tracing:call-attribution:attempt:*`: one attempt of a
 * request, with reading and checking of the response. What is optional is there once it has ended.
 */
export interface AttemptTrace extends ClientTrace {
  /** Number of the attempt, counted from 1. */
  readonly attempt: number;
  /** HTTP status, if there was a response. */
  status?: number;
  /** Size of the decoded body. */
  bytes?: number;
}

/** The message of the tracing channels `tracing:call-attribution:wait:*`: a request that waits. */
export interface WaitTrace extends ClientTrace {
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
const reports = channel('call-attribution:report');

const reportMessages = {
  record: 'a record is not as documented',
  clamped: 'the server sends smaller pages than requested',
  total_moved: 'the list changes while it is read',
  repeated_calls: 'calls of the page before came again and were dropped',
  plain_http: 'keys are sent without encryption: the URL begins with http://',
} as const satisfies Record<ClientReport['type'], string>;

/** Names of unknown fields come from the server; a phone number as a name must not reach a log. */
const plainName = /^[A-Za-z_][\w.-]{0,63}$/;

/** A server that invents a new field name for every record must not fill the memory. */
const mostNames = 1000;

/**
 * What tells the log, the callback and the channel what a client notices: a problem of a field
 * once, and not once for each record.
 */
export function reporter(
  client: Client,
  { log, onReport }: Settings,
): (report: ClientReport) => void {
  const safely = safeCaller('onReport');
  const reported = new Set<string>();
  return (noticed) => {
    let report = noticed;
    if (report.type === 'record') {
      const key = `${report.kind} ${report.field}`;
      if (reported.has(key) || reported.size >= mostNames) return;
      reported.add(key);
      if (!plainName.test(report.field)) report = { ...report, field: '[unprintable name]' };
    }

    const { type, ...rest } = report;

    // A server may call a field what it likes.
    log.warn?.(
      reportMessages[type],
      'field' in rest ? { ...rest, field: redact(rest.field) } : rest,
    );
    if (onReport) safely(() => onReport(report));
    if (reports.hasSubscribers) reports.publish({ client, report } satisfies ReportEvent);
  };
}

/** Notes the code of the error that an operation ended with. */
export function noteFailure(context: ClientTrace, outcome: TraceOutcome<unknown>): void {
  if ('error' in outcome)
    context.code = outcome.error instanceof CallsError ? outcome.error.code : 'aborted';
}

/**
 * Logs how a request failed. What the program ended itself is not a failure, and `not_found` is
 * often expected.
 */
export function logFailure(
  log: Log,
  { operation, url, durationMs, error, code }: RequestTrace,
): void {
  const ms = whole(durationMs);
  if (error instanceof CallsError && code !== 'aborted') {
    const { code, status, requestId, attempts } = error;
    const fields = { operation, code, status, requestId: shownId(requestId), attempts, ms, url };
    if (code === 'not_found') log.info?.('not found', fields);
    else log.error?.('request failed', fields);
  } else if (code !== undefined) log.debug?.('request aborted', { operation, url, ms });
}

/** Milliseconds as a log shows them. */
export const whole = (ms = 0): number => Math.round(ms);

const uuidOrHash = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.*[a-f])[0-9a-f]{16,64})$/i;

/**
 * An id as it may be shown. One that is a phone number must not get into a log; digits of a UUID
 * are kept.
 */
const shownId = (id: string | undefined): string | undefined =>
  id === undefined || uuidOrHash.test(id) ? id : redact(id);

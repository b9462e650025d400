import { subscribe } from 'node:diagnostics_channel';
import { CallsError } from '../errors/calls-error.ts';
import { redact } from '../errors/redact.ts';
import type { Log } from '../log/logger.ts';
import { safeCaller, type TraceOutcome } from '../tracing/index.ts';
import type { Client } from './client.ts';
import type { AttemptTrace, ClientTrace, ReportEvent, RequestTrace, WaitTrace } from './events.ts';
import type { ClientReport } from './options.ts';

interface OfClient {
  readonly client: Client;
}

/**
 * What passes the events of one channel to the listeners of single clients. The channel gets one subscriber, with the first listener,
 * however many clients there are; a listener goes with its client.
 */
function listenersOn<Event extends OfClient>(channel: string) {
  const listeners = new WeakMap<OfClient['client'], (event: Event) => void>();
  let isSubscribed = false;
  return (client: Client, listener: (event: Event) => void): void => {
    const earlier = listeners.get(client);
    listeners.set(
      client,
      earlier === undefined
        ? listener
        : (event) => {
            earlier(event);
            listener(event);
          },
    );
    if (isSubscribed) return;
    isSubscribed = true;
    subscribe(channel, (message) => {
      // Only this package publishes there.
      const event = message as Event;
      listeners.get(event.client)?.(event);
    });
  };
}

const onReports = listenersOn<ReportEvent>('call-attribution:report');
const onRequestEnd = listenersOn<RequestTrace>('tracing:call-attribution:request:asyncEnd');
const onAttemptEnd = listenersOn<AttemptTrace>('tracing:call-attribution:attempt:asyncEnd');
const onWaitStart = listenersOn<WaitTrace>('tracing:call-attribution:wait:start');
const onWaitEnd = listenersOn<WaitTrace>('tracing:call-attribution:wait:asyncEnd');

/** Subscribes `onReport` to what its client notices. */
export function subscribeCallback(client: Client, onReport: (report: ClientReport) => void): void {
  const safely = safeCaller('onReport');
  onReports(client, ({ report }) => safely(() => onReport(report)));
}

/** Subscribes a log to the events of its client, each level to those that it writes. */
export function subscribeLog(client: Client, log: Log): void {
  const { debug, info, warn, error } = log;
  if (warn)
    onReports(client, ({ report: { type, ...rest } }) => {
      // A server may call a field what it likes.
      warn(reportMessages[type], 'field' in rest ? { ...rest, field: redact(rest.field) } : rest);
    });
  if (debug)
    onAttemptEnd(client, ({ operation, attempt, status, code, durationMs, bytes, url }) =>
      debug('attempt', { operation, attempt, status, error: code, ms: whole(durationMs), bytes, url }),
    );
  if (info)
    onWaitEnd(client, ({ operation, reason, durationMs, url, code }) => {
      const waitedMs = whole(durationMs);
      if (reason === 'limiter' && waitedMs > 0 && code === undefined)
        info('held back by the limiter', { operation, waitedMs, url });
    });
  if (info || warn)
    onWaitStart(client, ({ operation, reason, attempts, after, status, waitMs, url }) => {
      // A server that asks for a pause is at work; other errors are worth a look.
      const write = after === 'rate_limited' ? info : warn;
      if (reason === 'retry')
        write?.('retry', { operation, attempt: attempts, error: after, status, waitMs, url });
    });
  if (error) onRequestEnd(client, (event) => logFailure(log, event));
}

/** Logs how a request failed. What the program ended itself is not a failure, and `not_found` is often expected. */
function logFailure(log: Log, { operation, url, durationMs, error, code }: RequestTrace): void {
  const ms = whole(durationMs);
  if (error instanceof CallsError && code !== 'aborted') {
    const { code, status, requestId, attempts } = error;
    const fields = { operation, code, status, requestId: shownId(requestId), attempts, ms, url };
    if (code === 'not_found') log.info?.('not found', fields);
    else log.error?.('request failed', fields);
  } else if (code !== undefined) log.debug?.('request aborted', { operation, url, ms });
}

const whole = (ms = 0): number => Math.round(ms);

const uuidOrHash = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.*[a-f])[0-9a-f]{16,64})$/i;

/** An id as it may be shown. One that is a phone number must not get into a log or a trace; digits of a UUID are kept. */
function shownId(id: string): string;
/** The same for an id that may be missing. */
function shownId(id: string | undefined): string | undefined;
function shownId(id: string | undefined): string | undefined {
  return id === undefined || uuidOrHash.test(id) ? id : redact(id);
}

const reportMessages = {
  record: 'a record is not as documented',
  clamped: 'the server sends smaller pages than requested',
  total_moved: 'the list changes while it is read',
  repeated_calls: 'calls of the page before came again and were dropped',
  plain_http: 'keys are sent without encryption: the URL begins with http://',
} as const satisfies Record<ClientReport['type'], string>;

/** Notes the code of the error that an operation ended with. */
export function noteFailure(context: ClientTrace, outcome: TraceOutcome<unknown>): void {
  if ('error' in outcome) context.code = outcome.error instanceof CallsError ? outcome.error.code : 'aborted';
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@call-attribution/core';
import {
  type Fault,
  FaultSyntaxError,
  type Later,
  mergeFaults,
  type PlannedResponse,
  type RequestKind,
  responseInstead,
  sendResponse,
} from '@call-attribution/core/testing';
import { durationMillis } from '@call-attribution/core/time';
import type { Intercept, ReplyChanges } from '@call-attribution/service';
import { captureResponse } from './capture-response.ts';
import type { FaultBook } from './fault-book.ts';
import { type Journal, withoutSecrets } from './journal.ts';

/** Name of the request header that asks for faults on one request. */
const faultHeader = 'x-sandbox-faults';

const callsPath = /\/v[23]\/user\/bid-management(?:\/([^/]*))?$/;

/** Applies the faults of each API request and writes it into the journal; other requests pass unchanged. */
export function createIntercept(book: FaultBook, journal: Journal, clock: Pick<Clock, 'now'>): Intercept {
  return (request, response, next) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const kind = kindOf(path);
    if (kind === null) {
      next();
      return;
    }
    const key = keyOf(request, query);
    let faults: readonly Fault[] = [];
    response.once('close', () => {
      journal.add({
        at: clock.now(),
        method: request.method ?? '',
        path,
        query: withoutSecrets(query),
        key: shownKey(request, query),
        status: response.headersSent ? response.statusCode : null,
        complete: response.writableFinished,
        faults: faults.map(nameOf),
      });
    });
    const later = timersOf(response);
    try {
      faults = book.choose({ kind, key, header: headerOf(request, faultHeader) });
    } catch (error) {
      if (!(error instanceof FaultSyntaxError)) throw error;
      sendResponse(unreadableHeader(error), {}, response, later);
      return;
    }
    const fault = mergeFaults(faults);
    const go = () => carryOut(fault, request, response, next, later);
    if (fault.latency === undefined) go();
    else later(go, durationMillis(fault.latency, 'latency'));
  };
}

const nothing: PlannedResponse = { status: 200, headers: {}, body: Buffer.alloc(0) };

function carryOut(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  next: (changes?: ReplyChanges) => void,
  later: Later,
): void {
  if (fault.reset || fault.silent || fault.notHttp || responseInstead(fault) !== undefined) {
    sendResponse(nothing, fault, response, later);
    return;
  }
  if (damages.some((name) => fault[name] !== undefined)) {
    // These faults change the bytes of the body, which therefore must not be compressed before.
    if (recodings.some((name) => fault[name] !== undefined)) delete request.headers['accept-encoding'];
    captureResponse(response, (right) => sendResponse(right, fault, response, later));
  }
  next(changesFor(fault));
}

const recodings = ['encoding', 'bomb', 'brokenUtf8', 'quietCut'] as const;
const damages = [...recodings, 'range', 'contentType', 'cut', 'stall', 'drip'] as const;

function changesFor({ clamp, shift, single, count }: Fault): ReplyChanges {
  return {
    ...(clamp === undefined ? {} : { clampRows: clamp }),
    ...(shift === undefined ? {} : { shift }),
    ...(single === undefined ? {} : { singleAs: single }),
    ...(count === undefined ? {} : { countAs: count }),
  };
}

/** Timers that end with the response. */
function timersOf(response: ServerResponse): Later {
  const timers = new Set<NodeJS.Timeout>();
  response.once('close', () => {
    for (const timer of timers) clearTimeout(timer);
  });
  return (run, ms) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
  };
}

function kindOf(path: string): RequestKind | null {
  if (path.endsWith('/ibp_api.php')) return 'sms';
  const match = callsPath.exec(path);
  if (!match) return null;
  if (!match[1]) return 'list';
  return match[1] === 'count' && path.includes('/v2/') ? 'count' : 'single';
}

/** The key by which faults are chosen: the access key or the bearer token. */
function keyOf(request: IncomingMessage, query: string): string | null {
  return (
    accessKeyOf(request, query) ?? /^bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null
  );
}

const accessKeyOf = (request: IncomingMessage, query: string): string | null =>
  headerOf(request, 'access_key') ?? new URLSearchParams(query).get('access_key');

/** What the journal says of the key, in which a token stays a secret. */
function shownKey(request: IncomingMessage, query: string): string | null {
  const key = accessKeyOf(request, query);
  if (key !== null) return key.slice(0, 64);
  return request.headers.authorization === undefined ? null : 'bearer';
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return (Array.isArray(value) ? value.join('; ') : value) ?? null;
}

function nameOf(fault: Fault): string {
  const conditions = new Set(['on', 'after', 'times', 'every', 'share']);
  return Object.entries(fault)
    .filter(([name]) => !conditions.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

function unreadableHeader({ code, message }: FaultSyntaxError): PlannedResponse {
  const problem = {
    title: 'Bad Request',
    status: 400,
    code,
    detail: `Header ${faultHeader}: ${message}.`,
  };
  return {
    status: 400,
    headers: { 'content-type': 'application/problem+json' },
    body: Buffer.from(JSON.stringify(problem)),
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import {
  type Fault,
  type Later,
  mergeFaults,
  type PlannedResponse,
  type RequestKind,
  responseInstead,
  sendResponse,
} from '@call-attribution/core/testing';
import { durationMillis } from '@call-attribution/core/time';
import type { Intercept, ReplyChanges } from '@call-attribution/service';
import type { FaultBook } from './fault-book.ts';
import { type Journal, withoutSecrets } from './journal.ts';

/** Name of the request header that asks for faults on one request. */
const faultHeader = 'x-sandbox-faults';

const callsPath = /\/v[23]\/user\/bid-management(?:\/([^/]*))?$/;

/**
 * Applies the faults of each API request and writes it into the journal; other requests pass
 * unchanged.
 */
export function createIntercept(
  book: FaultBook,
  journal: Journal,
  clock: Pick<Clock, 'now'>,
): Intercept {
  return async (request, response, next) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const kind = kindOf(path);
    if (kind === null) return next();
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

    try {
      faults = book.choose({ kind, key, header: headerOf(request, faultHeader) });
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const detail = `Header ${faultHeader}: ${error.message}.`;
      const problem = { title: 'Bad Request', status: 400, code: 'fault_syntax', detail };
      const headers = { 'content-type': 'application/problem+json' };
      return Response.json(problem, { status: 400, headers });
    }

    const fault = mergeFaults(faults);
    const later = timersOf(response);
    const { latency } = fault;
    if (latency !== undefined)
      await new Promise<void>((done) => later(done, durationMillis(latency, 'latency')));
    const isInstead =
      fault.reset || fault.silent || fault.notHttp || responseInstead(fault) !== undefined;
    if (!isInstead && damages.every((name) => fault[name] === undefined))
      return next(changesFor(fault));
    const right = isInstead ? nothing : await planned(await next(changesFor(fault)));
    sendResponse(right, fault, response, later);
    return null;
  };
}

const nothing: PlannedResponse = { status: 200, headers: {}, body: Buffer.alloc(0) };

const planned = async (response: Response): Promise<PlannedResponse> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: Buffer.from(await response.arrayBuffer()),
});

/** These faults change the bytes of the body, which therefore must not be compressed before. */
const recodings = ['encoding', 'bomb', 'brokenUtf8', 'quietCut'] as const;
const damages = [...recodings, 'range', 'contentType', 'cut', 'stall', 'drip'] as const;

function changesFor(fault: Fault): ReplyChanges {
  const { clamp, shift, single, count } = fault;
  return {
    ...(recodings.some((name) => fault[name] !== undefined) ? { isPlain: true } : {}),
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
    accessKeyOf(request, query) ??
    /^bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ??
    null
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

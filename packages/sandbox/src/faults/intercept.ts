import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Intercept, ReplyChanges } from '@call-attribution/service';
import { type AnswerPlan, planAnswer } from './answer-plan.ts';
import { endEarly } from './early-end.ts';
import { type Fault, FaultSyntaxError, type RequestKind } from './fault.ts';
import type { FaultBook } from './fault-book.ts';
import { type Journal, withoutSecrets } from './journal.ts';

/** Name of the request header that carries faults for this one request. */
export const faultHeader = 'x-sandbox-faults';

const calls = /\/v[23]\/user\/bid-management(?:\/([^/]*))?$/;

/** Meets each API request with its faults and writes it into the journal; other requests pass untouched. */
export function createIntercept(book: FaultBook, journal: Journal, now: () => number): Intercept {
  return (request, response, next) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const kind = kindOf(path);
    if (kind === null) {
      next();
      return;
    }
    const key = keyOf(request, query);
    let faults: readonly Fault[] = [];
    let plan: AnswerPlan;
    try {
      faults = book.choose({ kind, key, header: headerOf(request, faultHeader) });
      plan = planAnswer(faults);
    } catch (error) {
      if (!(error instanceof FaultSyntaxError)) throw error;
      plan = { ...planAnswer([]), instead: refusal(error) };
    }
    response.once('close', () => {
      journal.add({
        at: now(),
        method: request.method ?? '',
        path,
        query: withoutSecrets(query),
        key: key === null ? null : key.slice(0, 64),
        status: response.headersSent ? response.statusCode : null,
        complete: response.writableFinished,
        faults: faults.map(nameOf),
      });
    });
    if (plan.delay === 0) carryOut(plan, response, next);
    else {
      const timer = setTimeout(() => carryOut(plan, response, next), plan.delay);
      response.once('close', () => clearTimeout(timer));
    }
  };
}

function carryOut(plan: AnswerPlan, response: ServerResponse, next: (changes?: ReplyChanges) => void): void {
  if (plan.reset) {
    response.destroy();
    return;
  }
  if (plan.body) endEarly(response, plan.body);
  if (plan.instead === null) {
    next(plan.changes);
    return;
  }
  const { status, headers, body } = plan.instead;
  response.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

function kindOf(path: string): RequestKind | null {
  if (path.endsWith('/ibp_api.php')) return 'sms';
  const match = calls.exec(path);
  if (!match) return null;
  if (!match[1]) return 'list';
  return match[1] === 'count' && path.includes('/v2/') ? 'count' : 'single';
}

function keyOf(request: IncomingMessage, query: string): string | null {
  const bearer = /^bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return headerOf(request, 'access_key') ?? bearer ?? new URLSearchParams(query).get('access_key');
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

function refusal(error: FaultSyntaxError) {
  const problem = {
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    code: error.code,
    detail: `Header ${faultHeader}: ${error.message}.`,
  };
  return {
    status: 400,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify(problem),
  };
}

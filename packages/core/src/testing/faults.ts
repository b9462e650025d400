import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Call } from '../record/generated/calls.ts';
import type { PlannedAnswer } from './plan-answer.ts';

/** One way to misbehave. Queue it with `server.next(...)`; or write your own. */
export interface Fault {
  /** Changes what is served before the request is answered. */
  before?(calls: Call[]): void;
  /** Changes the answer. */
  change?(answer: PlannedAnswer, request: { readonly url: string; readonly now: number }): PlannedAnswer;
  /** Sends the answer in its own way. `later` is a timer that ends with the server. */
  send?(answer: PlannedAnswer, response: ServerResponse, later: (run: () => void, ms: number) => void): void;
}

const page =
  '<!doctype html><html><head><title>Sign in</title></head><body><form>Password</form></body></html>';

function begin({ status, headers, body }: PlannedAnswer, response: ServerResponse): void {
  response.writeHead(status, { ...headers, 'content-length': body.length });
}

/** Another status, headers or body in place of the right ones. */
const replace = (status: number, body = '', headers: Readonly<Record<string, string>> = {}): Fault => ({
  change: () => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(body),
  }),
});

const header = (name: string, value: string): Fault => ({
  change: (answer) => ({ ...answer, headers: { ...answer.headers, [name]: value } }),
});

const body = (change: (body: Buffer) => Buffer): Fault => ({
  change: (answer) => ({ ...answer, body: change(answer.body) }),
});

const packed = (coding: string, pack: (body: Buffer) => Buffer): Fault => ({
  change: (answer) => ({
    ...answer,
    headers: { ...answer.headers, 'content-encoding': coding },
    body: pack(answer.body),
  }),
});

/** Content-Range with its numbers changed. */
const range = (change: (first: number, last: number, total: number) => string | undefined): Fault => ({
  change(answer) {
    const { 'content-range': told = '', ...rest } = answer.headers;
    const [, first = 0, last = 0, total = 0] = (/(\d+)-(\d+)\/(\d+)/.exec(told) ?? []).map(Number);
    const changed = change(first, last, total);
    return { ...answer, headers: changed === undefined ? rest : { ...rest, 'content-range': changed } };
  },
});

/** The ways to misbehave that come with the kit. */
export const faults = {
  replace,
  header,
  body,
  range,
  /** Behaves; to let a request through before a queued fault. */
  none: (): Fault => ({}),
  /** Any status, with an error in JSON. */
  status: (status: number, headers: Readonly<Record<string, string>> = {}): Fault =>
    replace(status, JSON.stringify({ error: `status ${status}` }), headers),
  /** 429 with Retry-After in seconds. */
  rateLimited: (seconds: number): Fault =>
    replace(429, '{"error":"slow down"}', { 'retry-after': String(seconds) }),
  /** 429 with Retry-After as a date, so many seconds from now. */
  rateLimitedUntil: (seconds: number): Fault => ({
    change: (_, { now }) => ({
      status: 429,
      headers: {
        'content-type': 'application/json',
        date: new Date(now).toUTCString(),
        'retry-after': new Date(now + seconds * 1000).toUTCString(),
      },
      body: Buffer.from('{"error":"slow down"}'),
    }),
  }),
  /** A login page with status 200. */
  html: (status = 200): Fault => replace(status, page, { 'content-type': 'text/html; charset=utf-8' }),
  /** The right body under another type. */
  contentType: (type: string): Fault => header('content-type', type),
  /** An error with status 200. */
  errorBody: (error = 'invalid session'): Fault => replace(200, JSON.stringify({ error })),
  /** The legacy failure: status 200, `<result>failed</result>`. */
  smsFailed: (why = 'Invalid keys'): Fault =>
    replace(
      200,
      `<?xml version="1.0"?><response><result>failed</result><result_description>${why}</result_description></response>`,
      { 'content-type': 'text/xml' },
    ),
  /** The connection is closed before any answer. */
  reset: (): Fault => ({ send: (_, response) => void response.socket?.destroy() }),
  /** The connection is closed after a part of the body. */
  cutBody: (share = 0.5): Fault => ({
    send(answer, response, later) {
      begin(answer, response);
      response.write(answer.body.subarray(0, Math.floor(answer.body.length * share)));
      later(() => response.socket?.destroy(), 5);
    },
  }),
  /** The body is cut, and the length is told so that nothing seems missing. */
  cutQuietly: (share = 0.5): Fault => body((bytes) => bytes.subarray(0, Math.floor(bytes.length * share))),
  /** Nothing is ever answered. */
  silence: (): Fault => ({ send: () => {} }),
  /** Headers and a part of the body, then nothing more. */
  stall: (share = 0.5): Fault => ({
    send(answer, response) {
      begin(answer, response);
      response.write(answer.body.subarray(0, Math.floor(answer.body.length * share)));
    },
  }),
  /** The body comes in small pieces. */
  drip: (bytes: number, everyMs: number): Fault => ({
    send(answer, response, later) {
      begin(answer, response);
      let at = 0;
      const step = () => {
        if (response.destroyed) return;
        response.write(answer.body.subarray(at, at + bytes));
        at += bytes;
        if (at < answer.body.length) later(step, everyMs);
        else response.end();
      };
      step();
    },
  }),
  /** Bytes that are no HTTP. */
  notHttp: (): Fault => ({ send: (_, response) => void response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n') }),
  /** Sends the request elsewhere. */
  redirect: (location: string, status = 302): Fault => replace(status, '', { location }),
  gzip: (): Fault => packed('gzip', gzipSync),
  br: (): Fault => packed('br', (bytes) => brotliCompressSync(bytes)),
  /** A packed body that is cut inside. */
  cutGzip: (): Fault => packed('gzip', (bytes) => gzipSync(bytes).subarray(0, -20)),
  /** Small on the wire, large when unpacked. */
  bomb: (bytes: number): Fault => packed('gzip', () => gzipSync(Buffer.alloc(bytes, 0x20))),
  /** A name in a body is no UTF-8 any more. */
  brokenUtf8: (): Fault =>
    body((bytes) => Buffer.concat([bytes.subarray(0, 4), Buffer.from([0xff]), bytes.subarray(4)])),
  noRange: (): Fault => range(() => undefined),
  /** Another page than the one asked for, as a wrong cache gives it. */
  wrongPage: (): Fault => range((first, last, total) => `${first + 7}-${last + 7}/${total + 7}`),
  /** The range tells of one call more than the body has. */
  rangeTooLong: (): Fault => range((first, last, total) => `${first}-${last + 1}/${total + 1}`),
  /** New calls appear at the beginning of the list. */
  insertFirst: (...fresh: readonly Call[]): Fault => ({ before: (calls) => void calls.unshift(...fresh) }),
  /** Calls at the beginning of the list disappear. */
  removeFirst: (count: number): Fault => ({ before: (calls) => void calls.splice(0, count) }),
} as const;

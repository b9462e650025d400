import type { ServerResponse } from 'node:http';
import type { RetryPolicy } from '../http/retry.ts';
import type { Call } from '../record/generated/calls.ts';
import type { Duration } from '../time/duration.ts';
import type { Fault } from './fault.ts';
import type { Later, PlannedResponse } from './send-response.ts';

/** A fault of the hostile server: one of the vocabulary, or code of a test's own. */
export interface HostileFault extends Fault {
  /** Changes the calls that are served, before the request is handled. */
  before?(calls: Call[]): void;
  /** Changes the response. */
  change?(
    response: PlannedResponse,
    request: { readonly url: string; readonly now: number },
  ): PlannedResponse;
  /** Sends the response in its own way. `later` sets a timer that ends with the server. */
  send?(planned: PlannedResponse, response: ServerResponse, later: Later): void;
}

/** The default number of attempts with waits of a few milliseconds, for tests. */
export const fastRetry: RetryPolicy = { attempts: 4, baseDelay: 1, maxDelay: 4 };

/** Short names for faults. Those that are plain data can be given to a sandbox too. */
export const faults = {
  /** Another status, body or headers in place of the right ones. */
  replace: (status: number, body = '', headers: Readonly<Record<string, string>> = {}): HostileFault => ({
    change: () => ({
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
    }),
  }),
  /** Another value of one header. */
  header: (name: string, value: string): HostileFault => ({
    change: (response) => ({ ...response, headers: { ...response.headers, [name]: value } }),
  }),
  /** A changed body. */
  body: (change: (body: Buffer) => Buffer): HostileFault => ({
    change: (response) => ({ ...response, body: change(response.body) }),
  }),
  /** Content-Range with its numbers changed; without it when `change` returns undefined. */
  range: (change: (first: number, last: number, total: number) => string | undefined): HostileFault => ({
    change(response) {
      const { 'content-range': sent = '', ...rest } = response.headers;
      const [, first = 0, last = 0, total = 0] = (/(\d+)-(\d+)\/(\d+)/.exec(sent) ?? []).map(Number);
      const changed = change(first, last, total);
      return { ...response, headers: changed === undefined ? rest : { ...rest, 'content-range': changed } };
    },
  }),
  /** Nothing wrong; lets a request pass before a queued fault. */
  none: (): Fault => ({}),
  /** This status, with an error in JSON. */
  status: (status: number, headers: Readonly<Record<string, string>> = {}): Fault => ({ status, headers }),
  /** 429 with Retry-After in seconds. */
  rateLimited: (seconds: number): Fault => ({ status: 429, retryAfter: String(seconds) }),
  /** 429 with Retry-After as a date, so many seconds from now. */
  rateLimitedUntil: (seconds: number): HostileFault => ({
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
  /** A login page. */
  html: (status = 200): Fault => ({ html: true, status }),
  /** The right body with another Content-Type. */
  contentType: (contentType: string): Fault => ({ contentType }),
  /** Status 200 with an error in the body. */
  errorBody: (errorBody = 'invalid session'): Fault => ({ errorBody }),
  /** The failure of the SMS listing: status 200, `<result>failed</result>`. */
  smsFailed: (smsFailed = 'Invalid keys'): Fault => ({ smsFailed }),
  /** The connection closes without a response. */
  reset: (): Fault => ({ reset: true }),
  /** The connection closes after a part of the body. */
  cutBody: (cut = 0.5): Fault => ({ cut }),
  /** The body is cut, with a Content-Length that fits. */
  cutQuietly: (quietCut = 0.5): Fault => ({ quietCut }),
  /** There is never a response. */
  silence: (): Fault => ({ silent: true }),
  /** The head and a part of the body, then nothing more. */
  stall: (stall = 0.5): Fault => ({ stall }),
  /** The body comes in small pieces. */
  drip: (bytes: number, every: Duration): Fault => ({ drip: bytes, dripEvery: every }),
  /** Bytes that are not HTTP. */
  notHttp: (): Fault => ({ notHttp: true }),
  /** The client is sent to another URL. */
  redirect: (redirect: string, status = 302): Fault => ({ redirect, status }),
  /** A body compressed with gzip. */
  gzip: (): Fault => ({ encoding: 'gzip' }),
  /** A body compressed with Brotli. */
  br: (): Fault => ({ encoding: 'br' }),
  /** A compressed body that lacks its end. */
  cutGzip: (): Fault => ({ encoding: 'cut-gzip' }),
  /** A body that is small on the wire and large when it is unpacked. */
  bomb: (bytes: number): Fault => ({ bomb: bytes }),
  /** A byte in the body that UTF-8 does not have. */
  brokenUtf8: (): Fault => ({ brokenUtf8: true }),
  /** A page without Content-Range. */
  noRange: (): Fault => ({ range: 'none' }),
  /** Another page than the one requested, as a wrong cache sends it. */
  wrongPage: (): Fault => ({ range: 'other-page' }),
  /** A range with one call more than the body has. */
  rangeTooLong: (): Fault => ({ range: 'too-long' }),
  /** New calls appear at the beginning of the list. */
  insertFirst: (...added: readonly Call[]): HostileFault => ({
    before: (calls) => void calls.unshift(...added),
  }),
  /** Calls at the beginning of the list disappear. */
  removeFirst: (count: number): HostileFault => ({ before: (calls) => void calls.splice(0, count) }),
} as const;

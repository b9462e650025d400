import type { ServerResponse } from 'node:http';
import type { RetryPolicy } from '../http/retry.ts';
import type { Call } from '../record/generated/calls.ts';
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

/** Faults that need code of the test's own; the others are data. */
export const faults = {
  /** Another status, body or headers in place of the right ones. */
  replace: (status: number, body = '', headers: Readonly<Record<string, string>> = {}): HostileFault => ({
    change: () => ({
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
    }),
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
} as const;

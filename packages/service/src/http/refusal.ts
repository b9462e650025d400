import { STATUS_CODES } from 'node:http';
import type { Problem } from '@call-attribution/query-dsl';
import type { Reply } from './exchange.ts';

/** What a refusal may say in addition to its message. */
export interface RefusalDetails {
  /** The query parameter or header that is wrong. */
  readonly parameter?: string;
  /** Where in `q` the mistake is, and how to fix it. */
  readonly filter?: Problem;
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A request that is refused: thrown by a route, sent as `application/problem+json`.
 *
 * @example
 * throw new Refusal(400, 'missing_parameter', 'The parameter key is missing.', { parameter: 'key' });
 */
export class Refusal extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** Stable name of the reason. */
  readonly code: string;
  /** What else the problem document says. */
  readonly details: RefusalDetails;

  constructor(status: number, code: string, detail: string, details: RefusalDetails = {}) {
    // A response to whoever sent the request, of which there may be many: its stack is for nobody, and takes time.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(detail);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** The refusal as it is sent. */
export function problemReply(refusal: Refusal, requestId: string): Reply {
  const { parameter, filter, headers = {} } = refusal.details;
  const body = {
    title: STATUS_CODES[refusal.status] ?? 'Error',
    status: refusal.status,
    code: refusal.code,
    detail: refusal.message,
    ...(parameter === undefined ? {} : { parameter }),
    ...(filter === undefined ? {} : { pointer: pointerTo(filter) }),
    requestId,
  };
  return {
    status: refusal.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify(body),
  };
}

function pointerTo({ code, start, end, expected, suggestions, fix }: Problem) {
  return { code, start, end, expected, suggestions, ...(fix === undefined ? {} : { fix }) };
}

import { STATUS_CODES } from 'node:http';
import {
  CallsError,
  type CodeTable,
  codeTable,
  type ErrorKind,
  nameErrors,
} from '@call-attribution/core/errors';
import type { Problem } from '@call-attribution/query-dsl';
import { type ProblemEntry, type RefusalCode, refusalCodes } from './problems.ts';

/** What a refusal may say in addition to its message. */
export interface RefusalDetails {
  /** The query parameter or header that is wrong. */
  readonly parameter?: string | undefined;
  /** Where in `q` the mistake is, and how to fix it. */
  readonly filter?: Problem | undefined;
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function kindOf(status: number): ErrorKind {
  if (status === 401 || status === 403) return 'keys';
  if (status === 429 || status === 503) return 'busy';
  return status === 500 ? 'bug' : 'usage';
}

/**
 * A request that is refused: thrown by a route, sent as `application/problem+json`.
 *
 * @example
 * throw new Refusal('missing_parameter', 'The parameter key is missing.', { parameter: 'key' });
 */
export class Refusal extends CallsError<RefusalCode> {
  static override readonly codes: CodeTable = Object.assign(
    {},
    ...Object.entries<ProblemEntry>(refusalCodes).map(([code, [status, words]]) =>
      codeTable({ [kindOf(status)]: { [code]: words } }),
    ),
  );
  /** The HTTP status, which follows from the code. */
  declare readonly status: number;
  /** What else the problem document says. */
  readonly details: RefusalDetails;

  static {
    nameErrors(Refusal, 'Refusal');
  }

  constructor(code: RefusalCode, detail: string, details: RefusalDetails = {}) {
    const [status] = refusalCodes[code];
    // A response to whoever sent the request, of which there may be many: its stack is for nobody, and takes time.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(code, detail, { status });
    Error.stackTraceLimit = stackTraceLimit;
    this.details = details;
  }
}

/** The refusal as it is sent. */
export function problemOf(refusal: Refusal, requestId?: string): Response {
  const { parameter, filter, headers } = refusal.details;
  const body = {
    title: STATUS_CODES[refusal.status] ?? 'Error',
    status: refusal.status,
    code: refusal.code,
    detail: refusal.message,
    ...(parameter === undefined ? {} : { parameter }),
    ...(filter === undefined ? {} : { pointer: pointerTo(filter) }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  return new Response(JSON.stringify(body), {
    status: refusal.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  });
}

function pointerTo({ code, start, end, expected, suggestions, fix }: Problem) {
  return { code, start, end, expected, suggestions, ...(fix === undefined ? {} : { fix }) };
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `Refusal` of service. */
    Refusal: Refusal;
  }
}

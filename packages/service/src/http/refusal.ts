import { STATUS_CODES } from 'node:http';
import {
  CallsError,
  type CodeTable,
  codeTable,
  type ErrorKind,
  nameErrors,
} from '@call-attribution/core/errors';
import type { Problem } from '@call-attribution/query-dsl';

// All problems that the service reports: the status of each, what it means, and then what to do.
// Responses, the OpenAPI document and docs/errors.md follow from this table.

/** The status of a problem, and the two sentences about it. */
export type ProblemEntry = readonly [status: number, words: string];

/** Those of the API. */
export const apiProblems = {
  host_header: [400, 'The header Host is given twice. Send it once.'],
  malformed_url: [400, 'The URL or the header Host cannot be read. Encode the URL.'],
  repeated_header: [400, 'A header is given twice. Send it once.'],
  repeated_parameter: [400, 'A parameter is given twice. Send it once.'],
  unknown_parameter: [400, 'There is no such parameter. Use one of those that the message lists.'],
  malformed_parameter: [400, 'A parameter does not have its form. The message says which that is.'],
  parameter_out_of_range: [
    400,
    'A parameter is too small or too large. Use a value within the limits of the message.',
  ],
  malformed_encoding: [400, 'Part of the URL is not percent-encoded UTF-8. Encode it.'],
  invalid_filter: [
    400,
    'The filter cannot be read. The pointer says where, and has a fix when there is one.',
  ],
  unexpected_body: [400, 'A GET request has a body. Send it without one.'],
  two_credentials: [400, 'The request has keys and a bearer token. Send one of the two.'],
  missing_credentials: [401, 'The request has no credentials. Send keys or a bearer token.'],
  malformed_authorization: [
    401,
    'The header Authorization cannot be read. Write it as `Bearer <token>`.',
  ],
  invalid_credentials: [401, 'The service does not know these credentials. Check them.'],
  account_disabled: [403, 'The account has been disabled. Ask who runs the service.'],
  unknown_path: [404, 'There is nothing at this path. Check it.'],
  unknown_record: [404, 'The account has no call with this sid. Check the sid and the version.'],
  method_not_allowed: [405, 'The path accepts other methods. The header Allow lists them.'],
  url_too_long: [414, 'The URL is too long. Send a shorter filter.'],
  too_many_requests: [429, 'The key made too many requests. Wait as long as Retry-After says.'],
  internal_error: [500, 'The service failed. Its log has the cause under the request id.'],
  store_unavailable: [503, 'The database does not respond. Try again as Retry-After says.'],
  closing: [
    503,
    'The service is mounted in a server and has been closed. Send the request to another one.',
  ],
} as const satisfies Readonly<Record<string, ProblemEntry>>;

/**
 * Those of everything else. The listing of SMS numbers writes its own into XML, with status 200.
 */
const otherProblems = {
  missing_parameter: [400, 'A parameter is missing. Add it.'],
  form_too_long: [400, 'A form is too long. Send only the parameters of the API.'],
  form_lost: [
    400,
    'A parser of the application has read the form. Mount the service before the parser.',
  ],
  unknown_form: [400, 'The body is not a form. Send it as application/x-www-form-urlencoded.'],
  unknown_action: [400, 'The action of the SMS listing does not exist. Use sms.get_numbers.'],
  unknown_field: [400, 'There is no such field. Use a name from the field table.'],
  missing_password: [401, 'A feed or the page needs a password. Send it with HTTP Basic.'],
  wrong_password: [401, 'The user name or the password is wrong. Check both.'],
  other_site: [
    403,
    'A form of another website was sent here. Open the page itself, and sign in there.',
  ],
  strange_host: [
    403,
    'The header Host names another server. Use the name that the service is served under.',
  ],
  too_many_tries: [
    429,
    'The address sends too many passwords at once. Wait as long as Retry-After says.',
  ],
  out_of_range: [
    400,
    'A value is too small or too large. Use a value within the limits of the message.',
  ],
  file_unavailable: [
    503,
    'A file of outcomes of a feed or a report, or of spend of a report, is missing, cannot be read or used, or is being written. Try again later; the detail says what is wrong.',
  ],
  fault_syntax: [400, 'A fault cannot be read. The message says what was expected.'],
} as const satisfies Readonly<Record<string, ProblemEntry>>;

/** All of them. */
const refusalCodes = { ...apiProblems, ...otherProblems };

/** Codes of `Refusal`: what the `code` of a problem document of the service may be. */
export type RefusalCode = keyof typeof refusalCodes;

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

    // A response to whoever sent the request, of which there may be many: its stack is for nobody,
    // and takes time.
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
  const { code, start, end, expected, suggestions, fix } = filter ?? {};
  const body = {
    title: STATUS_CODES[refusal.status] ?? 'Error',
    status: refusal.status,
    code: refusal.code,
    detail: refusal.message,
    parameter,
    pointer: filter && { code, start, end, expected, suggestions, fix },
    requestId,
  };
  return new Response(JSON.stringify(body), {
    status: refusal.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  });
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `Refusal` of service. */
    Refusal: Refusal;
  }
}

/**
 * An answer that files of spend or outcomes are read for. What is wrong with one of them is no fault
 * of whoever asks.
 */
export async function fromFiles<T>(answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (!CallsError.is(error) || error instanceof Refusal || error.kind !== 'usage') throw error;
    throw fileUnavailable(error.summary);
  }
}

/** A file that cannot be used now, and may be in a minute. */
export const fileUnavailable = (detail: string): Refusal =>
  new Refusal('file_unavailable', detail, { headers: { 'retry-after': '60' } });

import { STATUS_CODES } from 'node:http';
import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';
import type { Problem } from '@call-attribution/query-dsl';

/** What a refusal may say in addition to its message. */
export interface RefusalDetails {
  /** The query parameter or header that is wrong. */
  readonly parameter?: string | undefined;
  /** Where in `q` the mistake is, and how to fix it. */
  readonly filter?: Problem | undefined;
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const refusalCodes = codeTable({
  host_header: 'The header Host is given twice. Send it once.',
  malformed_url: 'The URL or the header Host cannot be read. Encode the URL.',
  strange_host: 'The header Host names another server. Use the name that the service is served under.',
  repeated_header: 'A header is given twice. Send it once.',
  repeated_parameter: 'A parameter is given twice. Send it once.',
  missing_parameter: 'A parameter is missing. Add it.',
  unknown_parameter: 'There is no such parameter. Use one of those that the message lists.',
  malformed_parameter: 'A parameter does not have its form. The message says which that is.',
  unknown_field: 'There is no such field. Use a name from the field table.',
  too_many_calls:
    'The account has more calls than the page may keep in memory. Raise `page.maxCalls`, or serve a warehouse.',
  parameter_out_of_range:
    'A parameter is too small or too large. Use a value within the limits of the message.',
  out_of_range: 'A value is too small or too large. Use a value within the limits of the message.',
  malformed_encoding: 'Part of the URL is not percent-encoded UTF-8. Encode it.',
  invalid_filter: 'The filter cannot be read. The pointer says where, and has a fix when there is one.',
  url_too_long: 'The URL is too long. Send a shorter filter.',
  unexpected_body: 'A GET request has a body. Send it without one.',
  method_not_allowed: 'The path accepts other methods. The header Allow lists them.',
  unknown_path: 'There is nothing at this path. Check it.',
  unknown_record: 'The account has no call with this sid. Check the sid and the version.',
  missing_credentials: 'The request has no credentials. Send keys or a bearer token.',
  malformed_authorization: 'The header Authorization cannot be read. Write it as `Bearer <token>`.',
  two_credentials: 'The request has keys and a bearer token. Send one of the two.',
  invalid_credentials: 'The service does not know these credentials. Check them.',
  account_disabled: 'The account has been disabled. Ask who runs the service.',
  missing_password: 'A feed needs a user name and a password. Send them with HTTP Basic.',
  wrong_password: 'The user name or the password of a feed is wrong. Check both.',
  too_many_tries: 'There were too many wrong passwords. Wait as long as Retry-After says.',
  too_many_requests: 'The key made too many requests. Wait as long as Retry-After says.',
  form_too_long: 'A form is too long. Send only the parameters of the API.',
  form_lost: 'A parser of the application has read the form. Mount the service before the parser.',
  closing: 'The service is mounted in a server and has been closed. Send the request to another one.',
  unknown_form: 'The body is not a form. Send it as application/x-www-form-urlencoded.',
  unknown_action: 'The action of the SMS listing does not exist. Use sms.get_numbers.',
  fault_syntax: 'A fault cannot be read. The message says what was expected.',
  store_unavailable: 'The database does not respond. Try again as Retry-After says.',
  internal_error: 'The service failed. Its log has the cause under the request id.',
});

/** Codes of `Refusal`: what the `code` of a problem document of the service may be. */
export type RefusalCode = keyof typeof refusalCodes;

/**
 * A request that is refused: thrown by a route, sent as `application/problem+json`.
 *
 * @example
 * throw new Refusal(400, 'missing_parameter', 'The parameter key is missing.', { parameter: 'key' });
 */
export class Refusal extends CallsError<RefusalCode> {
  static override readonly codes: CodeTable = refusalCodes;
  /** The HTTP status. */
  declare readonly status: number;
  /** What else the problem document says. */
  readonly details: RefusalDetails;

  static {
    nameErrors(Refusal, 'Refusal');
  }

  constructor(status: number, code: RefusalCode, detail: string, details: RefusalDetails = {}) {
    // A response to whoever sent the request, of which there may be many: its stack is for nobody, and takes time.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(code, detail, { status, isRetryable: status === 429 || status >= 500 });
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

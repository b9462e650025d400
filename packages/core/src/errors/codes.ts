// The codes of the errors of this package, by class: what each means, and then what to do about it.
// An error without other words says just that, and docs/errors.md is generated from these tables.
import { codeTable } from './code-table.ts';

/** What the codes of `ConfigurationError` mean. */
export const configurationErrors = codeTable({
  usage: {
    invalid_option:
      'An option, argument, setting or file is missing, or has a wrong type, value or name. The message says what it may be; nothing was sent.',
    missing_package:
      'An optional package is needed and not installed. Install the package that the message names.',
  },
  keys: {
    invalid_credentials:
      'A key or token is missing, malformed, or of another kind than the request takes. Pass `auth`, or set `CALLS_ACCESS_KEY` and `CALLS_SECRET_KEY`, or `CALLS_BEARER_TOKEN`.',
  },
  bug: {
    client_closed: 'The client or its dispatcher has been closed. Create a new client.',
  },
});

/** What the codes of `HttpError` mean. */
export const httpErrors = codeTable({
  usage: {
    not_found:
      'The server has nothing at this URL, or the account no call with this sid (status 404). Check the sid, its account, and that the base URL ends before `/v2` or `/v3`.',
    redirect_refused:
      'The server redirected the request to another server, which must not get the credentials (status 301 to 308). Set the base URL to the final URL.',
  },
  keys: {
    unauthorized:
      'The server does not accept the credentials, or does not allow this with them (status 401 or 403). Check that they are right, not expired, and of the kind that the version expects.',
  },
  busy: {
    rate_limited:
      'The server asks the client to slow down (status 429). Wait for `retryAfterMs`, or set a limiter.',
  },
  away: {
    server_error:
      'The server failed (status 408 or 500 to 599; 503 is of the kind busy). Try again later; give the `requestId` to its support.',
  },
  data: {
    bad_request:
      "The server refused the request (another status from 400 to 499). Check the filter, `rows` and the page against the server's reason.",
  },
});

/** What the codes of `ConnectionError` mean. */
export const connectionErrors = codeTable({
  away: {
    connection_failed:
      'There was no complete response: no such host, nobody there, no trusted TLS, no HTTP, or an end in the middle. Check the server and the base URL.',
    proxy_failed:
      'The proxy of the environment cannot be reached, refuses its credentials (status 407), or does not connect. Check its URL in `HTTPS_PROXY` or `HTTP_PROXY`; `NO_PROXY` names hosts that are reached without it.',
  },
});

/** What the codes of `DeadlineError` mean. */
export const deadlineErrors = codeTable({
  away: {
    timeout:
      'A deadline of `timeout` passed; `limit` says which. If the server is only slow, request fewer rows or raise that deadline.',
  },
});

/** What the codes of `ResponseError` mean. */
export const responseErrors = codeTable({
  data: {
    invalid_json:
      'The body is cut or damaged, or is not JSON. A proxy may have cut it; send the request again, or request fewer rows.',
    body_too_large:
      'The response is larger than `maxBodyBytes`. Request fewer rows, or raise `maxBodyBytes`.',
    invalid_record:
      "A record does not match the table of fields. `records: 'report'` keeps such records and reports them.",
    wrong_page:
      'The server sent another page than requested, fewer rows, or a `Content-Range` that does not fit. A cache or a proxy may have responded; the message says what differs.',
    list_moved:
      'The list changed while it was read, or ended before its total. Read it again, or use `createCallStream` of node-stream.',
  },
  away: {
    wrong_content_type:
      'Got an HTML page or another type where data was expected. A login page or a proxy may have responded; check the base URL.',
    unexpected_shape:
      'The response has another shape than the API describes. Check that the base URL points to the API.',
    error_body:
      "The status is good, but the body is an error. Read the server's reason in the message; check credentials and parameters.",
  },
});

/**
 * Stable names of what can go wrong in this package. New ones may be added; these keep their
 * meaning.
 */
export type ErrorCode = keyof (typeof configurationErrors &
  typeof httpErrors &
  typeof connectionErrors &
  typeof deadlineErrors &
  typeof responseErrors);

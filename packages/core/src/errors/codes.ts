// The codes of the errors of this package, by class: what each means, and then what to do about it. An error without other words says
// just that, messages.ts takes its hints from here, and docs/errors.md is generated from these tables.
import { codeTable } from './code-table.ts';

/** What the codes of `ConfigurationError` mean. */
export const configurationErrors = codeTable({
  usage: {
    invalid_option:
      'An option has a wrong type or value, or a name that does not exist. The message names the option and what it may be; correct it.',
    invalid_argument:
      'An argument of a call cannot be used. The message says what was expected; nothing was sent.',
    invalid_settings:
      'Settings from the environment or a configuration file are missing or wrong. The message lists all of them; set them.',
    missing_legacy_url:
      'The SMS listing has a URL of its own, and none was given. Pass `legacyBaseUrl`, the URL before /ibp_api.php.',
    missing_package:
      'An optional package is needed and not installed. Install the package that the message names.',
  },
  keys: {
    missing_auth:
      'The client has no credentials. Pass `auth`, or set `CALLS_ACCESS_KEY` and `CALLS_SECRET_KEY`, or `CALLS_BEARER_TOKEN`.',
    auth_mismatch:
      'The kind of credentials does not fit the version or the request. Use a bearer token for v2, and keys for v3 and the SMS listing.',
    invalid_credentials:
      'A key or token is empty or has characters that no key has. Copy it again, without quotes and line ends.',
  },
  bug: {
    client_closed: 'The client or its dispatcher has been closed. Create a new client.',
    sender_failed:
      'What sends the requests, the function passed as `fetch` or the dispatcher, has a mistake in its program. The `cause` has its frames; correct it.',
  },
});

/** Codes of `ConfigurationError`. */
export type ConfigurationErrorCode = keyof typeof configurationErrors;

/** What the codes of `InputError` mean. */
export const inputErrors = codeTable({
  usage: {
    invalid_input:
      'A file that a person wrote is not JSON, or has a name or a value that cannot be used. The message says where, and what is expected there.',
  },
});

/** Codes of `InputError`. */
export type InputErrorCode = keyof typeof inputErrors;

/** What the codes of `HttpError` mean. */
export const httpErrors = codeTable({
  usage: {
    not_found:
      'The server has nothing at this URL (status 404). Check the sid, and that the base URL ends before `/v2` or `/v3`.',
    redirect_refused:
      'The server redirected the request to another server, which must not get the credentials (status 301 to 308). Set the base URL to the final URL.',
  },
  keys: {
    unauthorized:
      'The server does not accept the credentials (status 401). Check that they are right, not expired, and of the kind that the version expects.',
    forbidden:
      'The server does not allow this with these credentials (status 403). Ask whoever manages the account for access.',
  },
  busy: {
    rate_limited:
      'The server asks the client to slow down (status 429). Wait for `retryAfterMs`, or set a limiter.',
  },
  away: {
    server_error:
      'The server failed (status 500 to 599). Try again later; give the `requestId` to its support.',
    request_timeout: 'The server gave up waiting for the request (status 408). Send it again.',
    proxy_refused:
      'A proxy refused: its credentials are wrong or missing (status 407), or it does not connect to the server. Check the URL in `HTTPS_PROXY` or `HTTP_PROXY`.',
  },
  data: {
    bad_request:
      "The server refused the request as malformed (status 400). Check the filter, `rows` and the page against the server's reason.",
    request_rejected:
      'The server rejected the request (another status from 400 to 499). Check the parameters of the request.',
  },
});

/** Codes of `HttpError`. */
export type HttpErrorCode = keyof typeof httpErrors;

/** What the codes of `ConnectionError` mean. */
export const connectionErrors = codeTable({
  away: {
    dns_failed: 'The host name was not found. Check the spelling of the base URL, and the network.',
    connection_failed: 'There was no response. Check that the server is running, and the base URL.',
    connection_lost:
      'The connection ended in the middle of a response. Send the request again; fewer rows may help.',
    protocol_error:
      'The other side does not speak HTTP/1.1. Check the port, and whether the base URL should be https.',
    tls_failed:
      'No trusted TLS connection could be made. Check the certificate, and whether the base URL should be http.',
    proxy_failed:
      'No connection to the proxy of the environment. Check that it runs, and its URL in `HTTPS_PROXY` or `HTTP_PROXY`; `NO_PROXY` names hosts that are reached without it.',
  },
});

/** Codes of `ConnectionError`. */
export type ConnectionErrorCode = keyof typeof connectionErrors;

/** What the codes of `DeadlineError` mean. */
export const deadlineErrors = codeTable({
  away: {
    connect_timeout: 'No connection was made in time. Check that the server is running, and the base URL.',
    idle_timeout:
      'The server sent nothing for `timeout.idle`. The server or a proxy may be stuck; raise `timeout.idle` if the server is only slow.',
    attempt_timeout:
      'The response was not complete within `timeout.attempt`. Request fewer rows, or raise `timeout.attempt`.',
    total_timeout:
      'The call with all its attempts did not finish within `timeout.total`. Request fewer rows, or raise `timeout.total`.',
  },
});

/** Codes of `DeadlineError`. */
export type DeadlineErrorCode = keyof typeof deadlineErrors;

/** What the codes of `ResponseError` mean. */
export const responseErrors = codeTable({
  data: {
    not_found:
      'The account has no call with this sid. Check the sid, and that the credentials belong to its account.',
    invalid_json:
      'The body is cut, or is not JSON. A proxy may have cut it; send the request again, or request fewer rows.',
    invalid_xml: 'The SMS listing is not the XML that was expected. Check `legacyBaseUrl`.',
    bad_encoding:
      'The content encoding is damaged or was not requested. Try `compress: false`, and check the proxies on the way.',
    body_too_large:
      'The response is larger than `maxBodyBytes`. Request fewer rows, or raise `maxBodyBytes`.',
    invalid_record:
      "A record does not match the table of fields. Use `records: 'report'` to keep such records and have the problems reported.",
    wrong_page:
      'The server sent another page than the one requested. A cache may have responded; the message says what differs.',
    range_mismatch:
      '`Content-Range` and the body do not agree. A proxy may have cut or cached the response; send the request again.',
    page_clamped:
      'The server sends fewer rows than requested, so its page is another part of the list. Request the number of rows that the message names.',
    list_short: 'The list ended before its total. It may have changed while it was read; read it again.',
    list_moved:
      'The list changed too much while it was read. Read it again, or read it with `createCallStream` of node-stream.',
    count_unreadable:
      'The server gave no total that can be read. Read the list and count its records instead.',
    sms_failed:
      "The SMS listing reported a failure. Read the server's reason in the message; check the keys.",
    sms_count_mismatch: 'The SMS listing has another number of entries than it says. Send the request again.',
  },
  away: {
    html_page:
      'Got an HTML page where data was expected. A login page or a proxy may have responded; check the base URL.',
    wrong_content_type:
      'The response is of another type than JSON. Check that the base URL points to the API.',
    unexpected_shape:
      'The response has another shape than the API describes. Check that the base URL points to the API.',
    error_body:
      "The status is good, but the body is an error. Read the server's reason in the message; check credentials and parameters.",
  },
});

/** Codes of `ResponseError`. */
export type ResponseErrorCode = keyof typeof responseErrors;

/** Stable names of what can go wrong in this package. New ones may be added; these keep their meaning. */
export type ErrorCode =
  | ConfigurationErrorCode
  | InputErrorCode
  | HttpErrorCode
  | ConnectionErrorCode
  | DeadlineErrorCode
  | ResponseErrorCode;

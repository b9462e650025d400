// The codes of the errors of this package, by class. Each comment says what the code means and then what to do about it;
// docs/errors.md is generated from them.

/** Codes of `ConfigurationError`. */
export type ConfigurationErrorCode =
  /** An option has a wrong type or value, or a name that does not exist. The message names the option and what it may be; correct it. */
  | 'invalid_option'
  /** An argument of a call cannot be used. The message says what was expected; nothing was sent. */
  | 'invalid_argument'
  /** Settings from the environment or a configuration file are missing or wrong. The message lists all of them; set them. */
  | 'invalid_settings'
  /** The client has no credentials. Pass `auth`, or set `CALLS_ACCESS_KEY` and `CALLS_SECRET_KEY`, or `CALLS_BEARER_TOKEN`. */
  | 'missing_auth'
  /** The kind of credentials does not fit the version or the request. Use a bearer token for v2, and keys for v3 and the SMS listing. */
  | 'auth_mismatch'
  /** A key or token is empty or has characters that no key has. Copy it again, without quotes and line ends. */
  | 'invalid_credentials'
  /** The SMS listing needs a URL of its own. Set `legacyBaseUrl`. */
  | 'missing_legacy_url'
  /** An optional package is needed and not installed. Install the package that the message names. */
  | 'missing_package'
  /** The client or its dispatcher has been closed. Create another client, or close this one later. */
  | 'client_closed';

/** Codes of `InputError`. */
export type InputErrorCode =
  /** A file that a person wrote is not JSON, or has a name or a value that cannot be used. The message says where, and what is expected there. */
  'invalid_input';

/** Codes of `HttpError`. */
export type HttpErrorCode =
  /** The server refused the request as malformed (status 400). Check the filter, `rows` and the page against the server's reason. */
  | 'bad_request'
  /** The server does not accept the credentials (status 401). Check that they are right, not expired, and of the kind that the version expects. */
  | 'unauthorized'
  /** The server does not allow this with these credentials (status 403). Ask whoever manages the account for access. */
  | 'forbidden'
  /** The server has nothing at this URL (status 404). Check the sid, and that the base URL ends before `/v2` or `/v3`. */
  | 'not_found'
  /** The server asks the client to slow down (status 429). Wait for `retryAfterMs`, or set a limiter. */
  | 'rate_limited'
  /** The server gave up waiting for the request (status 408). Send it again. */
  | 'request_timeout'
  /** The server rejected the request with another status from 400 to 499. Read the server's reason in the message. */
  | 'request_rejected'
  /** The server failed (status 500 to 599). Try again later; give the `requestId` to its support. */
  | 'server_error'
  /** The server redirected the request to another server, which must not get the credentials. Set the base URL to the final URL. */
  | 'redirect_refused'
  /** A proxy refused: its credentials are wrong or missing (status 407), or it does not connect to the server. Check the URL in `HTTPS_PROXY` or `HTTP_PROXY`. */
  | 'proxy_refused';

/** Codes of `ConnectionError`. */
export type ConnectionErrorCode =
  /** The host name was not found. Check the spelling of the base URL, and the network. */
  | 'dns_failed'
  /** There was no response. Check that the server is running, and the base URL. */
  | 'connection_failed'
  /** The connection ended in the middle of a response. Send the request again; fewer rows may help. */
  | 'connection_lost'
  /** The other side does not speak HTTP/1.1. Check the port, and whether the base URL should be https. */
  | 'protocol_error'
  /** No trusted TLS connection could be made. Check the certificate, and whether the base URL should be http. */
  | 'tls_failed'
  /** No connection to the proxy of the environment. Check that it runs, and its URL in `HTTPS_PROXY` or `HTTP_PROXY`; `NO_PROXY` names hosts that are reached without it. */
  | 'proxy_failed';

/** Codes of `DeadlineError`. */
export type DeadlineErrorCode =
  /** No connection was made within the connect deadline. Check that the server is running, and the base URL. */
  | 'connect_timeout'
  /** The server sent nothing for `timeout.idle`. Raise it if the server is only slow. */
  | 'idle_timeout'
  /** The response was not complete within `timeout.attempt`. Request fewer rows, or raise it. */
  | 'attempt_timeout'
  /** The call with all its attempts did not finish within `timeout.total`. Request fewer rows, or raise it. */
  | 'total_timeout';

/** Codes of `ResponseError`. */
export type ResponseErrorCode =
  /** The account has no call with this sid. Check the sid, and that the credentials belong to its account. */
  | 'not_found'
  /** The response is of another type than JSON. Check that the base URL points to the API. */
  | 'wrong_content_type'
  /** Got an HTML page where data was expected. A login page or a proxy may have responded; check the base URL. */
  | 'html_page'
  /** The body is cut, or is not JSON. A proxy may have cut it; send the request again, or request fewer rows. */
  | 'invalid_json'
  /** The SMS listing is not the XML that was expected. Check `legacyBaseUrl`. */
  | 'invalid_xml'
  /** The content encoding is damaged or was not requested. Try `compress: false`, and check the proxies on the way. */
  | 'bad_encoding'
  /** The response is larger than `maxBodyBytes`. Request fewer rows, or raise it. */
  | 'body_too_large'
  /** The response has another shape than the API describes. Check that the base URL points to the API. */
  | 'unexpected_shape'
  /** The status is good, but the body is an error. Read the server's reason in the message; check credentials and parameters. */
  | 'error_body'
  /** A record does not match the table of fields. Use `records: 'report'` to keep such records and have the problems reported. */
  | 'invalid_record'
  /** The server sent another page than the one requested. A cache may have responded; the message says what differs. */
  | 'wrong_page'
  /** `Content-Range` and the body do not agree. A proxy may have cut or cached the response; send the request again. */
  | 'range_mismatch'
  /** The server sends fewer rows than requested, so its page is another part of the list. Request the number of rows that the message names. */
  | 'page_clamped'
  /** The list ended before its total. It may have changed while it was read; read it again. */
  | 'list_short'
  /** The list changed too much while it was read. Read it again, or read it with `createCallStream` of node-stream. */
  | 'list_moved'
  /** The server gave no total that can be read. Read the list and count its records instead. */
  | 'count_unreadable'
  /** The SMS listing reported a failure. Read the server's reason in the message; check the keys. */
  | 'sms_failed'
  /** The SMS listing has another number of entries than it says. Send the request again. */
  | 'sms_count_mismatch';

/** Stable names of what can go wrong in this package. New ones may be added; these keep their meaning. */
export type ErrorCode =
  | ConfigurationErrorCode
  | InputErrorCode
  | HttpErrorCode
  | ConnectionErrorCode
  | DeadlineErrorCode
  | ResponseErrorCode;

/** Stable names of what can go wrong. New ones may be added; these keep their meaning. */
export type ErrorCode =
  | 'invalid_option'
  | 'invalid_argument'
  | 'invalid_settings'
  | 'missing_auth'
  | 'auth_mismatch'
  | 'invalid_credentials'
  | 'missing_legacy_url'
  | 'client_closed'
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'rate_limited'
  | 'request_timeout'
  | 'request_rejected'
  | 'server_error'
  | 'redirect_refused'
  | 'dns_failed'
  | 'connection_failed'
  | 'connection_lost'
  | 'protocol_error'
  | 'tls_failed'
  | 'connect_timeout'
  | 'idle_timeout'
  | 'attempt_timeout'
  | 'total_timeout'
  | 'wrong_content_type'
  | 'html_page'
  | 'invalid_json'
  | 'invalid_xml'
  | 'bad_encoding'
  | 'body_too_large'
  | 'unexpected_shape'
  | 'error_body'
  | 'invalid_record'
  | 'wrong_page'
  | 'range_mismatch'
  | 'page_clamped'
  | 'list_short'
  | 'list_moved'
  | 'count_unreadable'
  | 'sms_failed'
  | 'sms_count_mismatch';

/** What an error says. */
export interface ErrorWords {
  /** What happened. */
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
}

/** What an error knows besides its code and its words. None of it holds a secret or a caller's data. */
export interface ErrorDetails {
  /** Could the same request succeed when it is sent again? */
  readonly isRetryable?: boolean;
  /** HTTP status of the response, if there was one. */
  readonly status?: number;
  /** Request id from the server, for its support. */
  readonly requestId?: string;
  /** How many times the request was sent. */
  readonly attempts?: number;
  /** URL of the request, without secrets. */
  readonly url?: string;
  /** Beginning of the response body, at most 400 characters and redacted. */
  readonly body?: string;
  /** What to do next. */
  readonly hint?: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * The base of all errors that this package throws on purpose. `code` is stable; no part holds a secret or a caller's data.
 *
 * @example
 * try {
 *   await client.getCall(sid);
 * } catch (error) {
 *   if (error instanceof CallsError && error.code === 'not_found') return null;
 *   throw error;
 * }
 */
export class CallsError extends Error {
  /** Stable name of what went wrong. */
  readonly code: ErrorCode;
  /** Could the same request succeed when it is sent again? */
  readonly isRetryable: boolean;
  /** HTTP status of the response, if there was one. */
  declare readonly status?: number;
  /** Request id from the server, for its support. */
  declare readonly requestId?: string;
  /** How many times the request was sent. */
  declare readonly attempts?: number;
  /** URL of the request, without secrets. */
  declare readonly url?: string;
  /** Beginning of the response body, at most 400 characters and redacted. */
  declare readonly body?: string;
  /** What to do next. */
  declare readonly hint?: string;
  /** How long the server asked to wait, in milliseconds. */
  declare readonly retryAfterMs?: number;

  /** @param words the message, or the message and a hint. */
  constructor(code: ErrorCode, words: string | ErrorWords, details: ErrorDetails = {}) {
    const { message, ...hint } = typeof words === 'string' ? { message: words } : words;
    const { cause, isRetryable = false, ...rest } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.isRetryable = isRetryable;
    Object.assign(this, hint, rest);
  }

  /** Plain form for structured logs. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, isRetryable, status, requestId, attempts, url, body, hint, retryAfterMs } =
      this;
    return { name, code, message, isRetryable, status, requestId, attempts, url, body, hint, retryAfterMs };
  }
}

// Names are on the prototypes, so that logs do not show them among an error's own properties.
Object.defineProperty(CallsError.prototype, 'name', {
  value: 'CallsError',
  configurable: true,
  writable: true,
});

/** An option or an argument is wrong; nothing was sent. */
export class ConfigurationError extends CallsError {
  static {
    named(ConfigurationError, 'ConfigurationError');
  }
}

/** The server responded with a status that is not success. */
export class HttpError extends CallsError {
  static {
    named(HttpError, 'HttpError');
  }
}

/** There was no complete response: the connection could not be made, or was lost. */
export class NetworkError extends CallsError {
  static {
    named(NetworkError, 'NetworkError');
  }
}

/** A deadline passed. */
export class TimeoutError extends CallsError {
  static {
    named(TimeoutError, 'TimeoutError');
  }
}

/** A response came with a good status, but it is not what was requested. */
export class ResponseError extends CallsError {
  static {
    named(ResponseError, 'ResponseError');
  }
}

function named(type: { prototype: object }, value: string): void {
  Object.defineProperty(type.prototype, 'name', { value, configurable: true, writable: true });
}

/** Stable names of what can go wrong; new ones may be added, these keep their meaning. */
export type ErrorCode =
  | 'invalid_option'
  | 'invalid_argument'
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

/** What an error may tell beside its message. Whoever fills it in has taken out secrets and personal data before. */
export interface ErrorDetails {
  /** Could the same request, sent again, work? */
  readonly isRetryable?: boolean;
  /** HTTP status of the answer, where there was one. */
  readonly status?: number;
  /** Request id the server gave, for its support. */
  readonly requestId?: string;
  /** How many times the request was sent. */
  readonly attempts?: number;
  /** Address asked, without secrets. */
  readonly url?: string;
  /** Beginning of the answer, bounded and redacted. */
  readonly body?: string;
  /** What to do next. */
  readonly hint?: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Every error this package makes by itself. `code` is stable; no secret and no caller's data is in any part of it. */
export class CallsError extends Error {
  readonly code: ErrorCode;
  readonly isRetryable: boolean;
  declare readonly status?: number;
  declare readonly requestId?: string;
  declare readonly attempts?: number;
  declare readonly url?: string;
  declare readonly body?: string;
  declare readonly hint?: string;
  declare readonly retryAfterMs?: number;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, isRetryable = false, ...rest } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.isRetryable = isRetryable;
    Object.assign(this, rest);
  }

  /** Plain form for structured logs. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, isRetryable, status, requestId, attempts, url, body, hint, retryAfterMs } =
      this;
    return { name, code, message, isRetryable, status, requestId, attempts, url, body, hint, retryAfterMs };
  }
}

// Names live on the prototypes, so that they do not show up among an error's own properties in logs.
Object.defineProperty(CallsError.prototype, 'name', {
  value: 'CallsError',
  configurable: true,
  writable: true,
});

/** The client or a call to it was set up wrong; nothing was sent. */
export class ConfigurationError extends CallsError {
  static {
    named(ConfigurationError, 'ConfigurationError');
  }
}

/** The server answered with a status that is not success. */
export class HttpError extends CallsError {
  static {
    named(HttpError, 'HttpError');
  }
}

/** No whole answer came: the connection could not be made or was lost. */
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

/** An answer came with a good status, but it is not what was asked for. */
export class ResponseError extends CallsError {
  static {
    named(ResponseError, 'ResponseError');
  }
}

function named(type: { prototype: object }, value: string): void {
  Object.defineProperty(type.prototype, 'name', { value, configurable: true, writable: true });
}

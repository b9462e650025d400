import { bodyExcerpt } from '../errors/body-excerpt.ts';
import { type ErrorCode, type ErrorDetails, HttpError } from '../errors/calls-error.ts';
import { askedDelay } from './retry.ts';
import type { Answer } from './transport.ts';

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'request_timeout',
  429: 'rate_limited',
};

const said: Partial<Record<ErrorCode, string>> = {
  bad_request: 'The server refused the request as malformed',
  unauthorized: 'The server does not know these credentials',
  forbidden: 'The server does not allow this with these credentials',
  not_found: 'The server has nothing at this address',
  request_timeout: 'The server gave up waiting for the request',
  rate_limited: 'The server asks to slow down',
  server_error: 'The server failed',
  request_rejected: 'The server rejected the request',
  redirect_refused: 'The server sent the request elsewhere',
};

/** The error for an answer whose status is not success. `authHint` says which credentials this request carried. */
export function statusError(answer: Answer, now: number, authHint: string): HttpError {
  const { status, headers, body } = answer;
  const code =
    codes[status] ??
    (status >= 500 ? 'server_error' : status < 400 ? 'redirect_refused' : 'request_rejected');
  const isRetryable = status === 408 || status === 429 || status >= 500;
  const details: Record<string, unknown> = { isRetryable, status };
  if (body.length > 0) details.body = bodyExcerpt(body);
  const hint = hintFor(code, status, authHint);
  if (hint) details.hint = hint;
  const asked = isRetryable ? askedDelay(headers, now) : undefined;
  if (asked !== undefined) details.retryAfterMs = asked;
  return new HttpError(code, `${said[code]} (status ${status}).`, details as ErrorDetails);
}

function hintFor(code: ErrorCode, status: number, authHint: string): string | undefined {
  if (code === 'unauthorized' || code === 'forbidden') return authHint;
  if (code === 'bad_request') return 'The body may name the parameter; check the filter, rows and start.';
  if (code === 'not_found') return 'Check the sid, or that the base URL is the one before /v2 or /v3.';
  if (code === 'redirect_refused')
    return 'Keys are only sent to the server they were given for; set the base URL to the final address.';
  if (status === 414 || status === 431) return 'The filter is too long for this server; split it.';
  return undefined;
}

import { bodyExcerpt, serverReason } from '../errors/body-excerpt.ts';
import { type CallsError, ConnectionError, HttpError } from '../errors/calls-error.ts';
import type { HttpErrorCode } from '../errors/codes.ts';
import { type AuthKind, messages } from '../errors/messages.ts';
import { requestedDelay } from './retry.ts';
import type { HttpResponse } from './transport.ts';

const codes: Readonly<Record<number, HttpErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'not_found',
  408: 'server_error',
  429: 'rate_limited',
};

function codeOfClass(status: number): HttpErrorCode {
  if (status >= 500) return 'server_error';
  return status < 400 ? 'redirect_refused' : 'bad_request';
}

/**
 * The error for a response whose status is not success.
 *
 * @param auth which credentials the request carried, for the hint when they are refused.
 */
export function statusError(
  { status, headers, body }: HttpResponse,
  now: number,
  auth: AuthKind,
): CallsError {
  if (status === 407)
    return new ConnectionError('proxy_failed', messages.status('proxy_failed', status, auth, undefined), {
      status,
      isRetryable: false,
    });
  const code = codes[status] ?? codeOfClass(status);
  const isRetryable = status === 408 || status === 429 || status >= 500;
  const retryAfterMs = isRetryable ? requestedDelay(headers, now) : undefined;
  return new HttpError(code, messages.status(code, status, auth, serverReason(body)), {
    isRetryable,
    status,
    // An overloaded server asks for the same as one that counts requests.
    ...(status === 503 ? { kind: 'busy' } : {}),
    ...(body.length > 0 ? { body: bodyExcerpt(body) } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

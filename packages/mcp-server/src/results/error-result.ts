import { CallsError } from '@call-attribution/core';
import { type Failure, ToolError } from '../arguments/tool-error.ts';
import { cleanText, cutText } from '../untrusted/clean.ts';

const nextByCode: Readonly<Record<string, string>> = {
  missing_auth:
    'Tell the user to set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) where this server is started.',
  unauthorized: 'Tell the user to check the API keys that this server is started with; --check tries them.',
  forbidden: 'Tell the user that the API keys of this server do not allow this.',
  bad_request: 'Check the filter with check_filter, or use from and to in place of q.',
  rate_limited: 'Wait, then repeat the call; a narrower from/to needs fewer requests.',
  page_clamped: 'Repeat the call with a smaller rows.',
  missing_legacy_url: 'Tell the user to set CALLS_LEGACY_BASE_URL where this server is started.',
};

/** Puts any error into the words an agent can act on. */
export function failureOf(
  tool: string,
  error: unknown,
  timedOut: boolean,
  seconds: number,
): Failure | undefined {
  if (error instanceof ToolError) return error.failure;
  if (timedOut) {
    return {
      what: `${tool} failed`,
      why: `It took longer than ${seconds} seconds.`,
      next: 'Narrow from/to, or ask for fewer rows.',
      retry: 'The same call may work later, when the API answers faster.',
    };
  }
  if (!(error instanceof CallsError)) return undefined;
  const status = error.status === undefined ? '' : ` (HTTP ${error.status})`;
  const request =
    error.requestId === undefined ? '' : ` Request id: ${cutText(cleanText(error.requestId), 80)}.`;
  return {
    what: `${tool} failed${status}`,
    why: `${cutText(cleanText(error.message), 400)}${request}`,
    next:
      error.code === 'not_found' && tool === 'get_call'
        ? 'Look the sid up with list_calls; a call of another account cannot be read.'
        : (nextByCode[error.code] ?? error.hint ?? 'Tell the user what failed.'),
    retry: retryText(error),
    ...(error.code === 'not_found' ? { isMissing: true as const } : {}),
  };
}

function retryText(error: CallsError): string {
  if (!error.isRetryable) return 'No: the same call would fail again.';
  if (error.retryAfterMs === undefined) return 'Yes, in a few seconds; the server has retried already.';
  return `Yes, after ${Math.ceil(error.retryAfterMs / 1000)} seconds.`;
}

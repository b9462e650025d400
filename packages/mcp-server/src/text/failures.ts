import type { CallsError, Version } from '@call-attribution/core';
import { quotable } from './untrusted.ts';

// Why a tool call failed, as facts; and the one place that puts these facts into sentences for agents.

/** What went wrong with a tool call. */
export type Problem =
  | {
      readonly code: 'unknown_tool';
      readonly name: string;
      readonly nearest: string | undefined;
      readonly tools: readonly string[];
    }
  | { readonly code: 'not_an_object'; readonly tool: string; readonly accepted: readonly string[] }
  | {
      readonly code: 'unknown_argument';
      readonly name: string;
      readonly nearest: string | undefined;
      readonly tool: string;
      readonly accepted: readonly string[];
    }
  | {
      readonly code: 'invalid_argument';
      readonly path: string;
      readonly reason: string;
      readonly tool: string;
      readonly accepted: readonly string[];
    }
  | { readonly code: 'two_filters' }
  | {
      readonly code: 'invalid_filter';
      readonly message: string;
      readonly frame: string;
      readonly fixed: string | undefined;
    }
  | { readonly code: 'empty_range'; readonly start: string; readonly end: string }
  | { readonly code: 'invalid_time'; readonly argument: string; readonly hasZone: boolean }
  | {
      readonly code: 'unknown_field';
      readonly name: string;
      readonly nearest: string | undefined;
      readonly groups: readonly string[];
    }
  | {
      readonly code: 'field_of_other_version';
      readonly name: string;
      readonly version: Version;
      readonly groups: readonly string[];
    }
  | { readonly code: 'foreign_cursor' }
  | { readonly code: 'cursor_of_other_size'; readonly cursorRows: number; readonly rows: number }
  | { readonly code: 'missing_settings'; readonly problems: readonly string[] }
  | { readonly code: 'no_client'; readonly reason: string }
  | { readonly code: 'api_error'; readonly tool: string; readonly error: CallsError }
  | { readonly code: 'timed_out'; readonly tool: string; readonly seconds: number }
  | { readonly code: 'cancelled'; readonly tool: string }
  | { readonly code: 'unexpected'; readonly tool: string };

/** What an agent reads about a failed tool call. */
export interface Failure {
  readonly what: string;
  readonly why: string;
  /** The call to make next, or what to tell the user. */
  readonly next: string;
  /** Whether the same call can succeed later. */
  readonly retry: string;
}

/** Thrown by tools. It becomes a tool result with `isError`, which agents read, not a protocol error, which they do not. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    const { what, why } = describe(problem);
    super(`${what}: ${why}`);
    this.problem = problem;
  }
}

/** The text of the result that reports a problem. */
export function failureText(problem: Problem): string {
  const { what, why, next, retry } = describe(problem);
  return `${what}.\nWhy: ${why}\nNext: ${next}\nRetry: ${retry}`;
}

function describe(problem: Problem): Failure {
  switch (problem.code) {
    case 'unknown_tool':
      return {
        what: `There is no tool "${quotable(problem.name)}"`,
        why:
          problem.nearest === undefined ? 'No tool has a similar name.' : `Did you mean ${problem.nearest}?`,
        next: `The tools are ${problem.tools.join(', ')}.`,
        retry: 'Only with another name.',
      };
    case 'not_an_object':
      return invalid('The arguments must be one JSON object.', accepts(problem));
    case 'unknown_argument':
      return invalid(
        `There is no argument "${quotable(problem.name)}".${didYouMean(problem.nearest)}`,
        accepts(problem),
      );
    case 'invalid_argument':
      return invalid(
        `${problem.path === '' ? '' : `"${problem.path}": `}${problem.reason}`,
        accepts(problem),
      );
    case 'two_filters':
      return invalid(
        'q cannot be combined with from, to, min_talk_minutes or include_call_extensions.',
        'Put everything into q, or leave q out.',
      );
    case 'invalid_filter':
      return invalid(
        `q is not a valid filter. ${problem.message}\n${problem.frame}`,
        `${problem.fixed === undefined ? '' : `If this is what you mean, use "${problem.fixed}". `}check_filter explains q; calls://filters has the grammar.`,
      );
    case 'empty_range':
      return invalid(
        `The range is empty: it starts at ${problem.start} and ends before ${problem.end}.`,
        'Give a "to" that is later than "from".',
      );
    case 'invalid_time':
      return invalid(
        `"${problem.argument}" is not a valid date or time.${problem.hasZone ? ' Times here have no time zone.' : ''}`,
        `Write ${problem.argument} as YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, like 2026-11-01 or 2026-11-01 08:30:00.`,
      );
    case 'unknown_field':
      return invalid(
        `There is no field "${quotable(problem.name)}".${didYouMean(problem.nearest)}`,
        fieldHelp(problem.groups),
      );
    case 'field_of_other_version':
      return invalid(
        `The field "${quotable(problem.name)}" does not exist in ${problem.version} of the API.`,
        fieldHelp(problem.groups),
      );
    case 'foreign_cursor':
      return cursorFailure('It was made for another filter, tool or API version, or it was changed.');
    case 'cursor_of_other_size':
      return cursorFailure(
        `It was made with rows=${problem.cursorRows}, but this call has rows=${problem.rows}.`,
      );
    case 'missing_settings':
      return {
        what: notSetUp,
        why: problem.problems.join(' '),
        next: 'Tell the user to set these environment variables where this server is started, and to restart it.',
        retry: 'Not before that.',
      };
    case 'no_client':
      return {
        what: notSetUp,
        why: quotable(problem.reason, 400),
        next: 'Tell the user what is missing where this server is started.',
        retry: 'Not before that.',
      };
    case 'api_error':
      return apiFailure(problem.tool, problem.error);
    case 'timed_out':
      return {
        what: `${problem.tool} failed`,
        why: `It took longer than ${problem.seconds} seconds.`,
        next: 'Narrow from/to, or ask for fewer rows.',
        retry: 'The same call may work later, when the API responds faster.',
      };
    case 'cancelled':
      return {
        what: `${problem.tool} failed`,
        why: 'The call was cancelled.',
        next: 'Call it again if the result is still needed.',
        retry: 'Yes.',
      };
    case 'unexpected':
      return {
        what: `${problem.tool} failed`,
        why: 'An unexpected error. The log of this server has the details.',
        next: 'Tell the user to look at the stderr output of this server.',
        retry: 'Once; it may help.',
      };
  }
}

const notSetUp = 'The server is not set up yet';

const didYouMean = (name: string | undefined): string =>
  name === undefined ? '' : ` Did you mean "${name}"?`;

function accepts({ tool, accepted }: { tool: string; accepted: readonly string[] }): string {
  return accepted.length === 0 ? `${tool} takes no arguments.` : `${tool} takes: ${accepted.join(', ')}.`;
}

function fieldHelp(groups: readonly string[]): string {
  return `Use field names or the groups ${groups.join(', ')}. The resource calls://fields lists every field.`;
}

function invalid(why: string, next: string): Failure {
  return { what: 'The arguments are not valid', why, next, retry: 'Only with other arguments.' };
}

function cursorFailure(why: string): Failure {
  return {
    what: 'The cursor does not belong to this call',
    why,
    next: 'Repeat the arguments of the call that returned the cursor and add only the cursor, or start again without one.',
    retry: 'Only with other arguments.',
  };
}

const nextByCode: Readonly<Record<string, string>> = {
  missing_auth:
    'Tell the user to set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) where this server is started.',
  unauthorized: 'Tell the user to check the API keys of this server; its option --check tests them.',
  forbidden: 'Tell the user that the API keys of this server do not allow this.',
  bad_request: 'Check the filter with check_filter, or use from and to instead of q.',
  rate_limited: 'Wait, then repeat the call; a narrower from/to needs fewer requests.',
  page_clamped: 'Repeat the call with a smaller rows.',
  missing_legacy_url: 'Tell the user to set CALLS_LEGACY_BASE_URL where this server is started.',
};

function apiFailure(tool: string, error: CallsError): Failure {
  const status = error.status === undefined ? '' : ` (HTTP ${error.status})`;
  const request = error.requestId === undefined ? '' : ` Request id: ${quotable(error.requestId, 80)}.`;
  return {
    what: `${tool} failed${status}`,
    why: `${quotable(error.message, 400)}${request}`,
    next:
      error.code === 'not_found' && tool === 'get_call'
        ? 'Look the sid up with list_calls; calls of other accounts cannot be read.'
        : (nextByCode[error.code] ?? error.hint ?? 'Tell the user what failed.'),
    retry: retryText(error),
  };
}

function retryText(error: CallsError): string {
  if (!error.isRetryable) return 'No: the same call would fail again.';
  if (error.retryAfterMs === undefined) return 'Yes, in a few seconds; the server has already retried.';
  return `Yes, after ${Math.ceil(error.retryAfterMs / 1000)} seconds.`;
}

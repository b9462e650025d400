import type { CallsError } from '@call-attribution/core';
import { redactMessage } from '../privacy/patterns.ts';
import { quotable } from '../privacy/untrusted.ts';
import { stateOfCopy } from './mirror.ts';
import type { Problem } from './problem.ts';

// The one place that puts the facts of a failed tool call into sentences for agents.

/** What an agent reads about a failed tool call. */
export interface Failure {
  /** What failed. Left out for wrong arguments: what is wrong with them, and the right ones, is all there is to say. */
  readonly what?: string;
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
    super(what === undefined ? why : `${what}: ${why}`);
    this.problem = problem;
  }
}

/** The text of the result that reports a problem: one line for wrong arguments, four lines for everything else. */
export function failureText(problem: Problem): string {
  const { what, why, next, retry } = describe(problem);
  if (what === undefined) return `${why} ${next}`.trim();
  return `${what}.\nWhy: ${why}\nNext: ${next}\nRetry: ${retry}`;
}

type Code = Problem['code'];
type ProblemOf<C extends Code> = {
  [Each in C]: Extract<Problem, { readonly code: Each }> & { readonly code: Each };
}[C];

const failures: { readonly [C in Code]: (problem: ProblemOf<C>) => Failure } = {
  unknown_tool: (problem) =>
    invalid(
      `There is no tool "${quotable(problem.name)}".${problem.nearest === undefined ? '' : ` Did you mean ${problem.nearest}?`}`,
      `The tools are ${problem.tools.join(', ')}.`,
    ),
  not_an_object: (problem) => invalid('The arguments must be one JSON object.', accepts(problem)),
  unknown_argument: (problem) =>
    invalid(
      `There is no argument "${quotable(problem.name)}".${didYouMean(problem.nearest)}`,
      accepts(problem),
    ),
  invalid_argument: (problem) => invalid(argumentText(problem), accepts(problem)),
  invalid_where: (problem) =>
    invalid(
      `${problem.argument}: ${problem.message}`,
      problem.corrected === undefined
        ? problem.frame
        : `Use ${problem.argument}=${JSON.stringify(problem.corrected)}.`,
    ),
  no_call: (problem) => invalid(`There is no call "${quotable(problem.sid)}".`, noCall),
  two_periods: () => invalid('period cannot be combined with from and to.', 'Give period, or from and to.'),
  invalid_question: (problem) => invalid(quotable(problem.message, 400), ''),
  masked_field: (problem) =>
    invalid(
      `${problem.field} holds personal data, which cannot be searched for.`,
      `Compare personal fields with a mask from another answer, such as ani = 'phone-000000000000', or with IS NULL.`,
    ),
  needs_mirror: (problem) =>
    invalid(
      `${problem.what} needs a local copy of the calls, which this server does not keep.`,
      'Ask without it, or tell the user to start the server with --mirror.',
    ),
  mirror_not_ready: (problem) =>
    problem.state.code === 'failed'
      ? invalid(
          `${problem.what} needs the local copy, but ${stateOfCopy(problem.state)}.`,
          'Ask without it, or tell the user.',
        )
      : invalid(
          `${problem.what} needs all calls, and ${stateOfCopy(problem.state)}.`,
          'Repeat the call then, or ask without it.',
        ),
  copy_failed: (problem) => ({
    what: 'The local copy of the calls cannot be read',
    why: quotable(problem.reason, 400),
    next: problem.mayPass ? 'Repeat the call, with a shorter period if it fails again.' : 'Tell the user.',
    retry: problem.mayPass ? 'Yes.' : 'Not before the user has looked at it.',
  }),
  unknown_name: (problem) =>
    invalid(
      `There is no ${problem.what} "${quotable(problem.name)}".${didYouMean(problem.nearest)}`,
      problem.nearest === undefined ? `Use one of ${problem.known.slice(0, 20).join(', ')}.` : '',
    ),
  group_of_fields: (problem) =>
    invalid(
      `"${problem.name}" is the name of several fields, and calls are grouped by one.`,
      `Use one of ${problem.known.slice(0, 12).join(', ')}.`,
    ),
  empty_range: (problem) =>
    invalid(
      `The range is empty: it starts at ${problem.start} and ends before ${problem.end}.`,
      problem.swapped ?? 'Give a "to" that is later than "from".',
    ),
  invalid_time: (problem) =>
    invalid(
      `${problem.argument}="${quotable(problem.text, 40)}" is not a date or time that exists.${problem.hasZone ? ' Times here have no time zone.' : ''}`,
      problem.nearest === undefined
        ? /^(?:period|compare)$/.test(problem.argument)
          ? 'Write one such as last month, last 28 days, 2026-Q3, 2026-10 or 2026-10-01..2026-10-15.'
          : `Write ${problem.argument} as YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, like 2026-11-01 or 2026-11-01 08:30:00.`
        : `Use ${problem.argument}="${problem.nearest}".`,
    ),
  unknown_zone: (problem) =>
    invalid(
      `There is no time zone "${quotable(problem.zone)}".${didYouMean(problem.nearest)}`,
      problem.nearest === undefined ? 'Use an IANA name such as America/New_York or UTC.' : '',
    ),
  unknown_field: (problem) =>
    invalid(
      `There is no field "${quotable(problem.name)}".${didYouMean(problem.nearest)}`,
      fieldHelp(problem.groups),
    ),
  field_of_other_version: (problem) =>
    invalid(
      `The field "${quotable(problem.name)}" does not exist in ${problem.version} of the API.`,
      fieldHelp(problem.groups),
    ),
  foreign_cursor: () =>
    cursorFailure('It was made for another filter, tool or API version, or it was changed.'),
  cursor_of_other_size: (problem) =>
    cursorFailure(`It was made with rows=${problem.cursorRows}, but this call has rows=${problem.rows}.`),
  missing_settings: (problem) => ({
    what: notSetUp,
    why: problem.problems.join(' '),
    next: 'Tell the user to set these environment variables where this server is started, and to restart it.',
    retry: 'Not before that.',
  }),
  no_client: (problem) => ({
    what: notSetUp,
    why: quotable(problem.reason, 400),
    next: 'Tell the user what is missing where this server is started.',
    retry: 'Not before that.',
  }),
  api_error: (problem) => apiFailure(problem.tool, problem.error),
  timed_out: (problem) => ({
    what: `${problem.tool} failed`,
    why: `It took longer than ${problem.seconds} seconds.`,
    next: 'Narrow from/to, or ask for fewer rows.',
    retry: 'The same call may work later, when the API responds faster.',
  }),
  cancelled: (problem) => ({
    what: `${problem.tool} failed`,
    why: 'The call was cancelled.',
    next: 'Call it again if the result is still needed.',
    retry: 'Yes.',
  }),
  custom_tool: (problem) => ({
    what: `${problem.tool} failed`,
    why: quotable(redactMessage(problem.reason), 400),
    next: 'Correct the arguments if the reason says so; otherwise tell the user.',
    retry: 'Once; it may help.',
  }),
  unexpected: (problem) => ({
    what: `${problem.tool} failed`,
    why: 'An unexpected error. The log of this server has the details.',
    next: 'Tell the user to look at the stderr output of this server.',
    retry: 'Once; it may help.',
  }),
};

function describe<C extends Code>(problem: ProblemOf<C>): Failure {
  return failures[problem.code](problem);
}

/** What a schema says of an argument. That of a custom tool may have whole sentences of its own. */
function argumentText({ path, what, hint }: Extract<Problem, { code: 'invalid_argument' }>): string {
  const place = path === '' ? '' : `"${path}"${/^[a-z]/.test(what) ? ' ' : ': '}`;
  const sentence = `${place}${quotable(what, 400).replace(/\.$/, '')}.`;
  return hint === undefined ? sentence : `${sentence} ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`;
}

const noCall = 'Look the sid up with list_calls; calls of other accounts cannot be read.';

const notSetUp = 'The server is not set up yet';

const didYouMean = (name: string | undefined): string =>
  name === undefined ? '' : ` Did you mean "${name}"?`;

function accepts({ tool, accepted }: { tool: string; accepted: readonly string[] }): string {
  return accepted.length === 0 ? `${tool} takes no arguments.` : `${tool} takes: ${accepted.join(', ')}.`;
}

function fieldHelp(groups: readonly string[]): string {
  return groups.includes('summary')
    ? `Use field names or the groups ${groups.join(', ')}; describe_data lists every field.`
    : `Use a field${groups.length === 0 ? '' : ` or ${groups.join(', ')}`}; describe_data lists every field.`;
}

function invalid(why: string, next: string): Failure {
  return { why, next, retry: 'Only with other arguments.' };
}

function cursorFailure(why: string): Failure {
  return {
    why: `The cursor does not belong to this call. ${why}`,
    next: 'Repeat the arguments of the call that returned the cursor and add only the cursor, or start again without one.',
    retry: 'Only with other arguments.',
  };
}

const stuck =
  'Tell the user that the API does not respond right now. The option --check of this server tests the connection; CALLS_BASE_URL names the API.';
const slow =
  'Narrow from/to or ask for fewer rows. If that is as slow, tell the user that the API responds too slowly right now.';

const nextByCode: Readonly<Record<string, string>> = {
  missing_auth:
    'Tell the user to set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) where this server is started.',
  unauthorized: 'Tell the user to check the API keys of this server; its option --check tests them.',
  forbidden: 'Tell the user that the API keys of this server do not allow this.',
  bad_request: 'Use from, to and calls alone, to see which argument it was.',
  idle_timeout: stuck,
  connect_timeout: stuck,
  attempt_timeout: slow,
  total_timeout: slow,
  rate_limited: 'Wait, then repeat the call; a narrower from/to needs fewer requests.',
  page_clamped: 'Repeat the call with a smaller rows.',
  missing_legacy_url: 'Tell the user to set CALLS_LEGACY_BASE_URL where this server is started.',
};

function apiFailure(tool: string, error: CallsError): Failure {
  const status = error.status === undefined ? '' : ` (HTTP ${error.status})`;
  const request = error.requestId === undefined ? '' : ` Request id: ${quotable(error.requestId, 80)}.`;
  return {
    what: `${tool} failed${status}`,
    why: `${quotable(redactMessage(error.summary, error.url), 400)}${request}`,
    next:
      error.code === 'not_found' && tool === 'get_call'
        ? noCall
        : (nextByCode[error.code] ?? error.hint ?? 'Tell the user what failed.'),
    retry: retryText(error),
  };
}

function retryText(error: CallsError): string {
  if (!error.isRetryable) return 'No: the same call would fail again.';
  if (error.retryAfterMs === undefined) return 'Yes, in a few seconds; the server has already retried.';
  return `Yes, after ${Math.ceil(error.retryAfterMs / 1000)} seconds.`;
}

import type { CallsError, Version } from '@call-attribution/core';
import { InvalidCondition, QuestionError } from '@call-attribution/questions';
import { redactMessage, scrub } from '../privacy/scrub.ts';
import { quotable } from '../privacy/text.ts';

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

type Text = string | undefined;
type Names = readonly string[];

/** Each problem: its facts, and what they mean for an agent. */
const failures = {
  unknown_tool: ({ name, nearest, tools }: { name: string; nearest: Text; tools: Names }) =>
    invalid(
      `There is no tool "${quotable(name)}".${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`,
      `The tools are ${tools.join(', ')}.`,
    ),
  not_an_object: (taken: Taken) => invalid('The arguments must be one JSON object.', accepts(taken)),
  unknown_argument: ({ name, nearest, ...taken }: Taken & { name: string; nearest: Text }) =>
    invalid(`There is no argument "${quotable(name)}".${didYouMean(nearest)}`, accepts(taken)),
  /** What a schema says of an argument. That of a custom tool may have whole sentences of its own. */
  invalid_argument: ({
    path,
    what,
    hint,
    ...taken
  }: Taken & { path: string; what: string; hint?: string }) => {
    const colon = /^[a-z]/.test(what) ? '' : ':';
    const place = path === '' ? '' : `"${path}"${colon} `;
    const sentence = `${place}${quotable(what, 400).replace(/\.$/, '')}.`;
    const more = hint === undefined ? '' : ` ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`;
    return invalid(`${sentence}${more}`, accepts(taken));
  },
  invalid_where: (found: { argument: string; message: string; frame: string; corrected: Text }) =>
    invalid(
      `${found.argument}: ${found.message}`,
      found.corrected === undefined ? found.frame : `Use ${withCondition(found.argument, found.corrected)}.`,
    ),
  /** An account that may have the call cannot be read. */
  call_not_known: ({ sid, error, others }: { sid: string; error: ToolError; others: Names }) => {
    const { what, ...rest } = describe(error.problem);
    const verb = others.length === 1 ? 'does' : 'do';
    const place = others.length === 0 ? '' : ` ${others.join(', ')} ${verb} not have it.`;
    return {
      ...rest,
      what: `It is not known whether there is a call "${quotable(sid)}"`,
      why: `${what}: ${rest.why}${place}`,
    };
  },
  call_not_found: ({ error }: { error: CallsError }) => ({
    ...apiFailure('get_call', error),
    next: 'Look the sid up with list_calls; calls of other accounts cannot be read.',
  }),
  invalid_question: ({ message }: { message: string }) => invalid(quotable(message, 400), ''),
  hidden_field: ({ field, see }: { field: string; see: 'shown' | 'pseudonym' | 'hidden' }) =>
    invalid(
      `${field} cannot be compared with that: personal data is hidden.`,
      {
        hidden: `Ask ${field} IS NULL or ${field} IS NOT NULL; --reveal of this server shows its values.`,
        pseudonym: `Compare it with a pseudonym of another answer, such as ${field} = 'phone-000000000000'.`,
        shown: 'Numbers, e-mail and IP addresses in its values are not there to be found.',
      }[see],
    ),
  copy_failed: ({ reason, mayPass }: { reason: string; mayPass: boolean }) => ({
    what: 'The local copy of the calls cannot be read',
    why: quotable(reason, 400),
    next: mayPass ? 'Repeat the call, with a shorter period if it fails again.' : 'Tell the user.',
    retry: mayPass ? 'Yes.' : 'Not before the user has looked at it.',
  }),
  unknown_name: (found: { what: string; name: string; nearest: Text; known: Names }) =>
    invalid(
      `There is no ${found.what} "${quotable(found.name)}".${didYouMean(found.nearest)}`,
      found.nearest === undefined ? `Use one of ${found.known.slice(0, 20).join(', ')}.` : '',
    ),
  group_of_fields: ({ name, known }: { name: string; known: Names }) =>
    invalid(
      `"${name}" is the name of several fields, and calls are grouped by one.`,
      `Use one of ${known.slice(0, 12).join(', ')}.`,
    ),
  unknown_field: ({ name, nearest, groups }: { name: string; nearest: Text; groups: Names }) =>
    invalid(`There is no field "${quotable(name)}".${didYouMean(nearest)}`, fieldHelp(groups)),
  derived_field: ({ name }: { name: string }) =>
    invalid(
      `A call has no "${quotable(name)}": it follows from other fields.`,
      'analyze_calls groups by it, where and measures take it, describe_data describes it.',
    ),
  field_of_other_version: ({ name, version, groups }: { name: string; version: Version; groups: Names }) =>
    invalid(`The field "${quotable(name)}" does not exist in ${version} of the API.`, fieldHelp(groups)),
  foreign_cursor: (_: object) =>
    cursorFailure('It was made for another filter, tool or API version, or it was changed.'),
  missing_settings: ({ problems }: { problems: Names }) => ({
    what: notSetUp,
    why: problems.join(' '),
    next: 'Tell the user to set these environment variables where this server is started, or to run calls init, and to restart it.',
    retry: 'Not before that.',
  }),
  no_client: ({ reason, account }: { reason: string; account?: string }) => ({
    what: account === undefined ? notSetUp : `The account ${account} is not set up yet`,
    why: quotable(reason, 400),
    next: 'Tell the user what is missing where this server is started.',
    retry: 'Not before that.',
  }),
  api_error: ({ tool, error }: { tool: string; error: CallsError }) => apiFailure(tool, error),
  rows_missing: ({ tool, said }: { tool: string; said: string }) => ({
    what: `${tool} wrote no file`,
    why: `Not all rows could be read. ${said}`,
    next: 'Repeat the call with a shorter period, or with the accounts that can be read.',
    retry: 'Yes, when the API responds again.',
  }),
  timed_out: ({ tool, seconds }: { tool: string; seconds: number }) => ({
    what: `${tool} failed`,
    why: `It took longer than ${seconds} seconds.`,
    next: 'Narrow from/to, or ask for fewer rows.',
    retry: 'The same call may work later, when the API responds faster.',
  }),
  cancelled: ({ tool }: { tool: string }) => ({
    what: `${tool} failed`,
    why: 'The call was cancelled.',
    next: 'Call it again if the result is still needed.',
    retry: 'Yes.',
  }),
  custom_tool: ({ tool, reason }: { tool: string; reason: string }) => ({
    what: `${tool} failed`,
    why: quotable(redactMessage(reason), 400),
    next: 'Correct the arguments if the reason says so; otherwise tell the user.',
    retry: 'Once; it may help.',
  }),
  unexpected: ({ tool }: { tool: string }) => ({
    what: `${tool} failed`,
    why: 'An unexpected error. The log of this server has the details.',
    next: 'Tell the user to look at the stderr output of this server.',
    retry: 'Once; it may help.',
  }),
};

type Failures = typeof failures;
type Code = keyof Failures;

/** What went wrong with a tool call: a code, and the facts that its sentences need. */
export type Problem = {
  [C in Code]: { readonly code: C } & Readonly<Parameters<Failures[C]>[0]>;
}[Code];

/** Names of arguments where questions have options. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['groupBy', 'group_by'],
  ['topPer', 'top_per'],
  ['inZone', 'time_zone'],
  ['timeZone', 'CALLS_TIME_ZONE'],
]);

/** The problem of an error of a tool or of a question; null for any other. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof ToolError) return error.problem;
  if (error instanceof InvalidCondition) {
    const { message, frame, corrected } = error.problem;
    return { code: 'invalid_where', argument: error.argument, message, frame, corrected };
  }
  if (!(error instanceof QuestionError)) return null;
  const words = error.said.map((part) =>
    typeof part === 'string' ? part : (renamed.get(part.option) ?? part.option),
  );
  return { code: 'invalid_question', message: words.join('') };
}

function describe({ code, ...facts }: Problem): Failure {
  const say: (facts: never) => Failure = failures[code];
  return say(facts as never);
}

/** An argument, or the measure `count(condition)`, with another condition. */
const withCondition = (argument: string, condition: string): string => {
  const measure = /^(\w+)\(/.exec(argument)?.[1];
  return measure === undefined ? `${argument}=${JSON.stringify(condition)}` : `${measure}(${condition})`;
};

const notSetUp = 'The server is not set up yet';

const didYouMean = (name: string | undefined): string =>
  name === undefined ? '' : ` Did you mean "${name}"?`;

/** A tool, and the arguments that it takes. */
interface Taken {
  readonly tool: string;
  readonly accepted: Names;
}

function accepts({ tool, accepted }: Taken): string {
  return accepted.length === 0 ? `${tool} takes no arguments.` : `${tool} takes: ${accepted.join(', ')}.`;
}

function fieldHelp(groups: readonly string[]): string {
  if (groups.includes('summary'))
    return `Use field names or the groups ${groups.join(', ')}; describe_data lists every field.`;
  const more = groups.length === 0 ? '' : ` or ${groups.join(', ')}`;
  return `Use a field${more}; describe_data lists every field.`;
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
  invalid_credentials:
    'Tell the user to set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) where this server is started.',
  unauthorized: 'Tell the user to check the API keys of this server; its option --check tests them.',
  bad_request: 'Use from, to and calls alone, to see which argument it was.',
  rate_limited: 'Wait, then repeat the call; a narrower from/to needs fewer requests.',
};

function nextOf({ code, limit, hint, status }: CallsError): string {
  if (status === 403) return 'Tell the user that the API keys of this server do not allow this.';
  if (code === 'timeout') return limit === 'idle' || limit === 'connect' ? stuck : slow;
  return nextByCode[code] ?? hint ?? 'Tell the user what failed.';
}

function apiFailure(tool: string, error: CallsError): Failure {
  const status = error.status === undefined ? '' : ` (HTTP ${error.status})`;
  const request =
    error.requestId === undefined ? '' : ` Request id: ${scrub(quotable(error.requestId, 80))}.`;
  return {
    what: `${tool} failed${status}`,
    why: `${quotable(redactMessage(error.summary, error.url), 400)}${request}`,
    next: nextOf(error),
    retry: retryText(error),
  };
}

function retryText(error: CallsError): string {
  if (!error.isRetryable) return 'No: the same call would fail again.';
  if (error.retryAfterMs === undefined) return 'Yes, in a few seconds; the server has already retried.';
  return `Yes, after ${Math.ceil(error.retryAfterMs / 1000)} seconds.`;
}

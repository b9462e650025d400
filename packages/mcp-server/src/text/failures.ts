import type { CallsError } from '@call-attribution/core';
import { scrub } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl';
import {
  type ConditionProblem,
  InvalidCondition,
  QuestionError,
} from '@call-attribution/questions';
import { quotable, redactMessage } from '../privacy/text.ts';

/** What an agent reads about a failed tool call. */
export interface Words {
  /**
   * What failed. Null for wrong arguments: what is wrong with them, and the right ones, is all
   * there is to say.
   */
  readonly what: string | null;
  readonly why: string;
  /** The call to make next, or what to tell the user. */
  readonly next: string;
  /** Whether the same call can succeed later. */
  readonly retry: string;
}

/**
 * Thrown by tools. It becomes a tool result with `isError`, which agents read, not a protocol
 * error, which they do not.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** What programs that trace calls see. */
  readonly code: string;
  readonly words: Words;

  constructor(code: string, words: Words) {
    super(words.what === null ? words.why : `${words.what}: ${words.why}`);
    this.code = code;
    this.words = words;
  }

  /** The text of the result: one line for wrong arguments, four lines for everything else. */
  get text(): string {
    const { what, why, next, retry } = this.words;
    return what === null
      ? `${why} ${next}`.trim()
      : `${what}.\nWhy: ${why}\nNext: ${next}\nRetry: ${retry}`;
  }

  /** The same on one line. */
  get line(): string {
    return this.text.replaceAll('\n', ' ');
  }
}

/** An error about wrong arguments. */
export const invalid = (code: string, why: string, next = ''): ToolError =>
  new ToolError(code, { what: null, why, next, retry: '' });

/** An error about a question that cannot be asked. */
export const invalidQuestion = (message: string): ToolError =>
  invalid('invalid_question', quotable(message, 400));

/** An error about a name that none of `names` is: "There is no report" and the like, with the nearest. */
export const unknownName = (none: string, name: string, names: readonly string[]): ToolError =>
  invalid(
    'unknown_name',
    `${none} "${quotable(name)}".${didYouMean(nearest(name, names))}`,
    names.length === 0
      ? 'The configuration file names none.'
      : `Use one of ${names.slice(0, 20).join(', ')}.`,
  );

export const didYouMean = (name: string | undefined): string =>
  name === undefined ? '' : ` Did you mean "${name}"?`;

/** A condition that cannot be read, with the one that was meant. */
export function invalidWhere(
  argument: string,
  { code, message, frame, corrected }: ConditionProblem,
): ToolError {
  // An argument, or a measure such as `count(condition)`.
  const measure = /^(\w+)\(/.exec(argument)?.[1];
  const written =
    measure === undefined ? `${argument}=${JSON.stringify(corrected)}` : `${measure}(${corrected})`;
  const channel = code === 'api_filter' ? ', and calls="all" for inc_gce:1' : '';
  return invalid(
    'invalid_where',
    `${argument}: ${message}`,
    corrected === undefined ? `\n${frame}` : `Use ${written}${channel}.`,
  );
}

/** Names of arguments where questions have options. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['groupBy', 'group_by'],
  ['topPer', 'top_per'],
  ['inZone', 'time_zone'],
  ['timeZone', 'CALLS_TIME_ZONE'],
]);

/** The error of a tool that an error of a tool or of a question is; null for any other. */
export function toolErrorOf(error: unknown): ToolError | null {
  if (error instanceof ToolError) return error;
  if (error instanceof InvalidCondition) return invalidWhere(error.argument, error.problem);
  if (!(error instanceof QuestionError)) return null;
  const words = error.said.map((part) =>
    typeof part === 'string' ? part : (renamed.get(part.option) ?? part.option),
  );
  return invalidQuestion(words.join(''));
}

const nextByCode: Readonly<Record<string, string>> = {
  invalid_credentials:
    'Tell the user to set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) where this server is started.',
  unauthorized:
    'Tell the user to check the API keys of this server; its option --check tests them.',
  bad_request: 'Use from, to and calls alone, to see which argument it was.',
  rate_limited: 'Wait, then repeat the call; a narrower from/to needs fewer requests.',
};

function nextOf({ code, limit, hint, status }: CallsError): string {
  if (status === 403) return 'Tell the user that the API keys of this server do not allow this.';
  if (code !== 'timeout') return nextByCode[code] ?? hint ?? 'Tell the user what failed.';
  return limit === 'idle' || limit === 'connect'
    ? 'Tell the user that the API does not respond right now. The option --check of this server tests the connection; CALLS_BASE_URL names the API.'
    : 'Narrow from/to or ask for fewer rows. If that is as slow, tell the user that the API responds too slowly right now.';
}

/** What failed (a tool, or an account), because the API did. */
export function apiError(failed: string, error: CallsError, next = nextOf(error)): ToolError {
  const { status, requestId, isRetryable, retryAfterMs, summary, url } = error;
  const request = requestId === undefined ? '' : ` Request id: ${scrub(quotable(requestId, 80))}.`;
  let retry = 'No: the same call would fail again.';
  if (isRetryable && retryAfterMs !== undefined)
    retry = `Yes, after ${Math.ceil(retryAfterMs / 1000)} seconds.`;
  else if (isRetryable) retry = 'Yes, in a few seconds; the server has already retried.';

  return new ToolError('api_error', {
    what: `${failed} failed${status === undefined ? '' : ` (HTTP ${status})`}`,
    why: `${quotable(redactMessage(summary, url), 400)}${request}`,
    next,
    retry,
  });
}

/** An account, or the only one, whose client cannot be made. */
export const noClient = (reason: string, account = ''): ToolError =>
  new ToolError('no_client', {
    what:
      account === '' ? 'The server is not set up yet' : `The account ${account} is not set up yet`,
    why: quotable(reason, 400),
    next: 'Tell the user what is missing where this server is started.',
    retry: 'Not before that.',
  });

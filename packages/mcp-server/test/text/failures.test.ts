import { HttpError } from '@call-attribution/core';
import { describe, expect, it } from 'vitest';
import { failureText, type Problem, ToolError } from '../../src/text/failures.ts';

const accepted = ['rows', 'cursor'];
const groups = ['summary', 'all'];
const notFound = new HttpError('not_found', 'There is no such call.', { status: 404 });
const limited = new HttpError('rate_limited', 'Too many requests.', {
  status: 429,
  isRetryable: true,
  retryAfterMs: 1500,
});

/** Wrong arguments: one line. */
const wrong: readonly [Problem, text: string][] = [
  [
    { code: 'unknown_tool', name: 'list_call', nearest: 'list_calls', tools: ['list_calls'] },
    'There is no tool "list_call". Did you mean list_calls? The tools are list_calls.',
  ],
  [
    { code: 'not_an_object', tool: 'list_calls', accepted },
    'The arguments must be one JSON object. list_calls takes: rows, cursor.',
  ],
  [
    { code: 'unknown_argument', name: 'row', nearest: 'rows', tool: 'list_calls', accepted },
    'There is no argument "row". Did you mean "rows"? list_calls takes: rows, cursor.',
  ],
  [
    { code: 'invalid_argument', path: 'rows', what: 'must be a number', tool: 'list_calls', accepted: [] },
    '"rows" must be a number. list_calls takes no arguments.',
  ],
  [
    {
      code: 'invalid_argument',
      path: 'calls',
      what: 'must be website or all, not "websit"',
      hint: 'did you mean website?',
      tool: 'list_calls',
      accepted,
    },
    '"calls" must be website or all, not "websit". Did you mean website? list_calls takes: rows, cursor.',
  ],
  [
    {
      code: 'invalid_argument',
      path: 'dnis',
      what: 'No such number.',
      tool: 'branch_of',
      accepted: ['dnis'],
    },
    '"dnis": No such number. branch_of takes: dnis.',
  ],
  [
    { code: 'no_call', sid: 'S1' },
    'There is no call "S1". Look the sid up with list_calls; calls of other accounts cannot be read.',
  ],
  [
    {
      code: 'invalid_where',
      argument: 'where',
      message: 'There is no field stat.',
      frame: 'x\n^',
      corrected: "state = 'TX'",
    },
    `where: There is no field stat. Use where="state = 'TX'".`,
  ],
  [
    { code: 'unknown_field', name: 'ads\u202E x', nearest: undefined, groups },
    'There is no field "ads x". Use field names or the groups summary, all; describe_data lists every field.',
  ],
  [
    { code: 'field_of_other_version', name: 'city', version: 'v2', groups },
    'The field "city" does not exist in v2 of the API. Use field names or the groups summary, all; describe_data lists every field.',
  ],
  [
    { code: 'needs_mirror', what: 'where' },
    'where needs a local copy of the calls, which this server does not keep. Ask without it, or tell the user to start the server with --mirror.',
  ],
  [
    {
      code: 'mirror_not_ready',
      what: 'where',
      state: { code: 'loading', done: 12_000, total: 60_000, seconds: 9 },
    },
    'where needs all calls, and the local copy is loading (12,000 of at least 60,000 calls, at least 9 s left). Repeat the call then, or ask without it.',
  ],
  [
    { code: 'mirror_not_ready', what: 'where', state: { code: 'failed', reason: 'The disk is full.' } },
    'where needs the local copy, but the local copy cannot be used: The disk is full. Ask without it, or tell the user.',
  ],
  [
    { code: 'foreign_cursor' },
    'The cursor does not belong to this call. It was made for another filter, tool or API version, or it was changed. Repeat the arguments of the call that returned the cursor and add only the cursor, or start again without one.',
  ],
  [
    { code: 'cursor_of_other_size', cursorRows: 25, rows: 50 },
    'The cursor does not belong to this call. It was made with rows=25, but this call has rows=50. Repeat the arguments of the call that returned the cursor and add only the cursor, or start again without one.',
  ],
];

const problems: readonly [Problem, what: string, why: string, next: string, retry: string][] = [
  [
    { code: 'missing_settings', problems: ['CALLS_BASE_URL is missing.', 'CALLS_ACCESS_KEY is missing.'] },
    'The server is not set up yet.',
    'CALLS_BASE_URL is missing. CALLS_ACCESS_KEY is missing.',
    'Tell the user to set these environment variables where this server is started, and to restart it.',
    'Not before that.',
  ],
  [
    { code: 'no_client', reason: 'no key' },
    'The server is not set up yet.',
    'no key',
    'Tell the user what is missing where this server is started.',
    'Not before that.',
  ],
  [
    { code: 'api_error', tool: 'get_call', error: notFound },
    'get_call failed (HTTP 404).',
    'There is no such call.',
    'Look the sid up with list_calls; calls of other accounts cannot be read.',
    'No: the same call would fail again.',
  ],
  [
    { code: 'api_error', tool: 'list_calls', error: limited },
    'list_calls failed (HTTP 429).',
    'Too many requests.',
    'Wait, then repeat the call; a narrower from/to needs fewer requests.',
    'Yes, after 2 seconds.',
  ],
  [
    { code: 'timed_out', tool: 'list_calls', seconds: 45 },
    'list_calls failed.',
    'It took longer than 45 seconds.',
    'Narrow from/to, or ask for fewer rows.',
    'The same call may work later, when the API responds faster.',
  ],
  [
    { code: 'cancelled', tool: 'list_calls' },
    'list_calls failed.',
    'The call was cancelled.',
    'Call it again if the result is still needed.',
    'Yes.',
  ],
  [
    { code: 'unexpected', tool: 'list_calls' },
    'list_calls failed.',
    'An unexpected error. The log of this server has the details.',
    'Tell the user to look at the stderr output of this server.',
    'Once; it may help.',
  ],
];

describe('failureText', () => {
  it.each(wrong.map(([problem, text]) => [problem.code, problem, text] as const))(
    'says in one line what is wrong with the arguments and what is right: %s',
    (_code, problem, text) => {
      expect(failureText(problem)).toBe(text);
      expect(text.startsWith(new ToolError(problem).message)).toBe(true);
    },
  );

  it.each(problems.map(([problem, ...lines]) => [problem.code, problem, lines] as const))(
    'says what failed, why, what to do next and whether to retry: %s',
    (_code, problem, [what, why, next, retry]) => {
      expect(failureText(problem)).toBe(`${what}\nWhy: ${why}\nNext: ${next}\nRetry: ${retry}`);
      expect(new ToolError(problem).message).toBe(`${what.slice(0, -1)}: ${why}`);
    },
  );
});

it.each(['303 • 555 • 0120', '(303) 555-0120', '%2B1%20303%20555%200120', 'jane@shop.example'])(
  'an error of the API that says %s does not show it',
  (personal) => {
    const error = new HttpError('bad_request', `The server refused the request: ${personal}`, {
      status: 400,
    });
    const text = failureText({ code: 'api_error', tool: 'list_calls', error });
    expect(text).toContain('The server refused the request: [');
    expect(text).not.toMatch(/555|jane/);
  },
);

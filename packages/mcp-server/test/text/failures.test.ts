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

const problems: readonly [Problem, what: string, why: string, next: string, retry: string][] = [
  [
    { code: 'unknown_tool', name: 'list_call', nearest: 'list_calls', tools: ['list_calls'] },
    'There is no tool "list_call".',
    'Did you mean list_calls?',
    'The tools are list_calls.',
    'Only with another name.',
  ],
  [
    { code: 'not_an_object', tool: 'list_calls', accepted },
    'The arguments are not valid.',
    'The arguments must be one JSON object.',
    'list_calls takes: rows, cursor.',
    'Only with other arguments.',
  ],
  [
    { code: 'unknown_argument', name: 'row', nearest: 'rows', tool: 'list_calls', accepted },
    'The arguments are not valid.',
    'There is no argument "row". Did you mean "rows"?',
    'list_calls takes: rows, cursor.',
    'Only with other arguments.',
  ],
  [
    { code: 'invalid_argument', path: 'rows', reason: 'Too small', tool: 'list_calls', accepted: [] },
    'The arguments are not valid.',
    '"rows": Too small',
    'list_calls takes no arguments.',
    'Only with other arguments.',
  ],
  [
    { code: 'two_filters' },
    'The arguments are not valid.',
    'q cannot be combined with from, to, min_talk_minutes or include_call_extensions.',
    'Put everything into q, or leave q out.',
    'Only with other arguments.',
  ],
  [
    { code: 'invalid_filter', message: 'Expected a field.', frame: 'x\n^', fixed: 'talk_minutes:[2 TO 5]' },
    'The arguments are not valid.',
    'q is not a valid filter. Expected a field.\nx\n^',
    'If this is what you mean, use "talk_minutes:[2 TO 5]". check_filter explains q; calls://filters has the grammar.',
    'Only with other arguments.',
  ],
  [
    { code: 'empty_range', start: '2026-11-02 00:00:00', end: '2026-11-02 00:00:00' },
    'The arguments are not valid.',
    'The range is empty: it starts at 2026-11-02 00:00:00 and ends before 2026-11-02 00:00:00.',
    'Give a "to" that is later than "from".',
    'Only with other arguments.',
  ],
  [
    { code: 'invalid_time', argument: 'to', hasZone: true },
    'The arguments are not valid.',
    '"to" is not a valid date or time. Times here have no time zone.',
    'Write to as YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, like 2026-11-01 or 2026-11-01 08:30:00.',
    'Only with other arguments.',
  ],
  [
    { code: 'unknown_field', name: 'ads\u202E x', nearest: undefined, groups },
    'The arguments are not valid.',
    'There is no field "ads x".',
    'Use field names or the groups summary, all. The resource calls://fields lists every field.',
    'Only with other arguments.',
  ],
  [
    { code: 'field_of_other_version', name: 'city', version: 'v2', groups },
    'The arguments are not valid.',
    'The field "city" does not exist in v2 of the API.',
    'Use field names or the groups summary, all. The resource calls://fields lists every field.',
    'Only with other arguments.',
  ],
  [
    { code: 'foreign_cursor' },
    'The cursor does not belong to this call.',
    'It was made for another filter, tool or API version, or it was changed.',
    'Repeat the arguments of the call that returned the cursor and add only the cursor, or start again without one.',
    'Only with other arguments.',
  ],
  [
    { code: 'cursor_of_other_size', cursorRows: 25, rows: 50 },
    'The cursor does not belong to this call.',
    'It was made with rows=25, but this call has rows=50.',
    'Repeat the arguments of the call that returned the cursor and add only the cursor, or start again without one.',
    'Only with other arguments.',
  ],
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
  it.each(problems.map(([problem, ...lines]) => [problem.code, problem, lines] as const))(
    'says what failed, why, what to do next and whether to retry: %s',
    (_code, problem, [what, why, next, retry]) => {
      expect(failureText(problem)).toBe(`${what}\nWhy: ${why}\nNext: ${next}\nRetry: ${retry}`);
      expect(new ToolError(problem).message).toBe(`${what.slice(0, -1)}: ${why}`);
    },
  );
});

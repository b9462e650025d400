import { createClient } from '@call-attribution/core';
import { callTool, createServer } from '@call-attribution/mcp-server';
import { answerQuestion, type Question, QuestionError } from '@call-attribution/questions';
import { afterAll, expect, test } from 'vitest';
import { openStage } from './stage.ts';

// A mistake in a question is told in the same words, wherever the question is asked: only the
// options have the names of the place.

const stage = openStage();
const server = createServer(createClient({ env: stage.env }));
afterAll(() => server.close());

const october = { from: '2026-10-01', to: '2026-10-31' };

test.each<[string, Question, string]>([
  ['an unknown group', { groupBy: ['campain'] }, 'Did you mean campaign?'],
  ['the same group twice', { groupBy: ['day', 'day'] }, 'groupBy names day twice.'],
  ['too many groups', { groupBy: ['campaign', 'keyword', 'day', 'hour', 'city'] }, '4 at most'],
  ['an unknown measure', { measures: ['missd'] }, 'Did you mean missed?'],
  ['the same measure twice', { measures: ['calls', 'calls'] }, 'measures names calls twice.'],
  ['an unknown order', { groupBy: ['day'], order: 'callz' }, 'Did you mean calls?'],
  ['what is no period', { period: 'last fortnight' }, "such as 'yesterday', 'last month'"],
  ['a day that does not exist', { period: '2026-02-30' }, 'Did you mean 2026-02-28?'],
  [
    'a period that ends before it begins',
    { period: '2026-10-02 to 2026-10-01' },
    'the earlier time first',
  ],
  ['a period and its start', { period: '2026-10', from: '2026-10-01' }, 'leave out'],
  ['what is no time', { from: 'sometimes' }, 'Write one such as 2026-11-20'],
  [
    'a start that does not exist',
    { from: '2026-09-31 12:00:00' },
    'Did you mean 2026-09-30 12:00:00?',
  ],
  [
    'a time with a zone',
    { to: '2026-10-01T10:00:00Z' },
    'no time zone. Did you mean 2026-10-01 10:00:00?',
  ],
  ['a fraction of a second', { to: '2026-10-01 10:00:00.5' }, 'Did you mean 2026-10-01 10:00:00?'],
  [
    'ends that are swapped',
    { from: '2026-10-02', to: '2026-10-01' },
    'Did you mean from 2026-10-01 and to',
  ],
  [
    'an end at the start',
    { from: '2026-10-02 09:00', to: '2026-10-02 09:00' },
    'includes that day',
  ],
  ['nothing to compare', { compare: 'previous' }, 'needs a period with both ends'],
  [
    'an unknown period to compare with',
    { ...october, compare: 'soon' },
    "Write 'previous', 'year', or a period",
  ],
  ['a condition that ends too early', { where: 'talk_minutes >' }, 'where: '],
  ['an unknown field in a condition', { where: 'citty = 3' }, 'Did you mean city?'],
  ['a text where a number belongs', { where: "talk_minutes = 'a'" }, 'is compared with a number'],
])('%s is refused in one sentence', async (_, question, said) => {
  const error = await answerQuestion(question, []).catch((reason: unknown) => reason);
  if (!(error instanceof QuestionError)) throw new TypeError('The question was answered.');
  expect(plain(error.summary)).toContain(said);

  const { groupBy, measures, ...others } = question;
  const options = { by: groupBy?.join(','), measures: measures?.join(','), ...others };
  const typed = Object.entries(options).flatMap(([name, text]) =>
    text === undefined ? [] : [`--${name}`, String(text)],
  );
  const { code, stdout, stderr } = await stage.quick(['report', ...typed]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(plain(stderr)).toContain(plain(error.summary));

  const asked = { group_by: groupBy, measures, ...others };
  const { isError, content } = await callTool(
    server,
    'analyze_calls',
    JSON.parse(JSON.stringify(asked)),
  );
  expect(isError).toBe(true);
  expect(plain(content[0]?.text ?? '')).toContain(plain(error.summary));
});

/** Without what tells the names of options on one surface from those on another. */
const plain = (text: string): string =>
  text
    .replace(/`|--(?=[a-z])/g, '')
    .replace(/^(calls: )?by\b|group_by/gm, '$1groupBy')
    .replace(/\s+/g, ' ');

import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { drawFrame, matcher, parse } from '@call-attribution/query-dsl';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conditionText, selectedBy } from '../src/conditions/filter.ts';
import { answerQuestion, parseCondition, quote } from '../src/index.ts';

/**
 * What is wrong with a condition: the kind, the place, what is said of it, and the corrected
 * condition.
 */
const wrong: readonly (readonly [
  text: string,
  code: string,
  found: string,
  said: string,
  corrected?: string,
])[] = [
  ['', 'empty', '', 'The condition is empty. Write one such as talk_minutes >= 2'],
  [
    'talk_minuts >= 2',
    'unknown_field',
    'talk_minuts',
    'Did you mean talk_minutes?',
    'talk_minutes >= 2',
  ],
  ['zzz = 1', 'unknown_field', 'zzz', 'Some of the fields: campaign, keyword'],
  ['>= 2', 'expected_field', '>=', 'Expected the name of a field, found ">=".'],
  ["page = '/'", 'ambiguous_field', 'page', 'may mean landing_page or conversion_page'],
  [
    'talk_minutes',
    'expected_operator',
    '',
    'After talk_minutes comes =, <>, <, <=, >, >=, IN, BETWEEN or IS NULL',
  ],
  ['talk_minutes => 2', 'expected_operator', '=>', 'found "=>".'],
  ["state contains 'T'", 'expected_operator', 'contains', 'found "contains"'],
  ["talk_minutes LIKE '2%'", 'expected_operator', 'LIKE', 'After talk_minutes comes'],
  ["state NOT = 'TX'", 'expected_operator', '=', 'After state comes'],
  ['missed > TRUE', 'expected_operator', '>', 'After missed comes = TRUE, = FALSE or IS NULL'],
  ['state = NULL', 'expected_operator', '= NULL', 'Nothing is equal to NULL.', 'state IS NULL'],
  [
    'state <> null',
    'expected_operator',
    '<> null',
    'Nothing is equal to NULL.',
    'state IS NOT NULL',
  ],
  [
    'date_added:[2026-01-01 TO *]',
    'api_filter',
    '2026-01-01',
    'This is a filter in the language of the API. Expected a date that exists',
    "date_added >= '2026-01-01 00:00:00'",
  ],
  [
    'talk_minutes:[2 TO 9},inc_gce:1',
    'api_filter',
    'talk_minutes:[2 TO 9},inc_gce:1',
    'This is a filter in the language of the API.',
    'talk_minutes >= 2 AND talk_minutes < 9',
  ],
  [
    'date_added:[2026-02-30 TO 2026-03-31],talk_minutes:{* TO *}',
    'api_filter',
    '2026-02-30',
    'a date that exists',
    "date_added >= '2026-02-28 00:00:00' AND date_added < '2026-04-01 00:00:00' AND talk_minutes IS NOT NULL",
  ],
  [
    'talk_minutes:[2 TO 5]]',
    'api_filter',
    ']',
    'found "]"',
    'talk_minutes >= 2 AND talk_minutes <= 5',
  ],
  [
    'talk_minutes:[9 TO 2]',
    'api_filter',
    'talk_minutes:[9 TO 2]',
    'above the upper bound 2. Swap them.',
    'talk_minutes >= 2 AND talk_minutes <= 9',
  ],
  ['rank:[4 TO *]', 'api_filter', 'rank:[4 TO *]', 'a filter in the language', 'rank >= 4'],
  ['inc_gce:1', 'api_filter', 'inc_gce:1', 'a filter in the language of the API'],
  [
    'campaign:Brand',
    'api_filter',
    'campaign:Brand',
    'the filter language of the API',
    "campaign = 'Brand'",
  ],
  [
    'talk_minutes >=',
    'expected_value',
    '',
    'is compared with a number such as 2.5; found the end.',
  ],
  ["talk_minutes >= '2'", 'expected_value', "'2'", 'Did you mean 2?', 'talk_minutes >= 2'],
  ['talk_minutes >= 1e3', 'expected_value', '1e3', 'found 1e3.'],
  ['zipcode = 60601', 'expected_value', '60601', "Did you mean '60601'?", "zipcode = '60601'"],
  [
    'ppc_campaign = Summer 2026 Sale AND missed',
    'expected_value',
    'Summer 2026 Sale',
    "Did you mean 'Summer 2026 Sale'?",
    "ppc_campaign = 'Summer 2026 Sale' AND missed",
  ],
  [
    'state = "O\'Neil"',
    'expected_value',
    '"O\'Neil"',
    "Did you mean 'O''Neil'?",
    "state = 'O''Neil'",
  ],
  ["state IN 'TX'", 'expected_value', "'TX'", 'After IN comes a list in brackets'],
  ['missed = 1', 'expected_value', '1', 'missed is compared with TRUE or FALSE; found 1.'],
  [
    "date_added >= '2026-09-31'",
    'expected_value',
    "'2026-09-31'",
    "Did you mean '2026-09-30'?",
    "date_added >= '2026-09-30'",
  ],
  [
    'day >= 2026-09-30',
    'expected_value',
    '2026-09-30',
    "Did you mean '2026-09-30'?",
    "day >= '2026-09-30'",
  ],
  [
    "day = '2026-11-20 10:00'",
    'expected_value',
    "'2026-11-20 10:00'",
    'a day',
    "day = '2026-11-20'",
  ],
  [
    "weekday = 'Saturday'",
    'unknown_value',
    "'Saturday'",
    "is never 'Saturday'.",
    "weekday = 'Sat'",
  ],
  ['weekday IN (1, 2)', 'expected_value', '1', "weekday is compared with 'Mon', 'Tue', 'Wed'"],
  ['weekday = Saturday', 'expected_value', 'Saturday', "Did you mean 'Sat'?", "weekday = 'Sat'"],
  ["caller_type = 'new'", 'unknown_value', "'new'", "it is one of 'first', 'returning'."],
  ["state = 'TX' && missed", 'expected_and', '&&', 'Expected AND or OR, found "&&".'],
  ["state = 'TX' missed", 'expected_and', '', 'Did you mean AND?', "state = 'TX' AND missed"],
  ["state = 'TX')", 'expected_and', ')', 'Expected AND or OR, found ")".'],
  ["state = 'TX'; drop table records", 'expected_and', ';', 'Expected AND or OR, found ";".'],
  ['talk_minutes BETWEEN 1, 2', 'expected_and', ',', 'Expected AND, found ",".'],
  ["state = 'TX", 'unclosed', "'TX", 'The string has no closing quote.'],
  ["(state = 'TX'", 'unclosed', '(', 'A bracket is not closed.'],
  [`${'('.repeat(2000)}missed`, 'too_deep', '(', 'at most 100 nested conditions'],
  [`${'NOT '.repeat(2000)}missed`, 'too_deep', 'NOT', 'at most 100 nested conditions'],
];

test.each(
  wrong.map(([text, code, found, said, corrected]) => ({ text, code, found, said, corrected })),
)('$code: $text', ({ text, code, found, said, corrected }) => {
  const result = parseCondition(text);
  if (result.ok) throw new Error('It was read.');
  const { problem } = result;
  expect(problem).toMatchObject({ code, found, expected: expect.stringMatching(/./) });
  expect(problem.message).toContain(said);
  expect(problem.corrected).toBe(corrected);
  expect(problem.frame).toBe(drawFrame(text, problem.start, problem.end - problem.start));
});

test('names are read as people write them', () => {
  for (const name of ['Campaign', 'PPC_CAMPAIGN', 'ppc-campaign', 'campaign']) {
    expect(parseCondition(`${name} = 'a'`)).toMatchObject({
      ok: true,
      condition: { field: 'ppc_campaign' },
    });
  }
});

test('a quoted text is that text, whatever is in it', async () => {
  const text = `T' OR 1 = 1 -- "\\%`;
  const call = { ...fixtureCalls(1)[0], state: text } as Call;
  const { calls } = await answerQuestion({ where: `state == ${quote(text)} AND NOT state = 'T'` }, [
    call,
  ]);
  expect(calls).toBe(1);
});

const range = (field: string, bounds: readonly string[]) => {
  const bound = fc.option(fc.nat(bounds.length - 1), { freq: 3 });
  return fc
    .tuple(fc.constantFrom('[', '{'), bound, bound, fc.constantFrom(']', '}'))
    .map((drawn) => {
      const [open, one, other, close] = drawn;
      const isSwapped = one !== null && other !== null && one > other;
      const [low, high] = isSwapped ? [other, one] : [one, other];
      const textAt = (at: number | null): string => (at === null ? '*' : (bounds[at] ?? '*'));
      return `${field}:${open}${textAt(low)} TO ${textAt(high)}${close}`;
    });
};

const times = fixtureCalls(40)
  .map(({ date_added: time }) => String(time))
  .sort();
const filter = fc.array(
  fc.oneof(range('date_added', times), range('talk_minutes', ['0', '0.1', '2.5', '9'])),
  {
    maxLength: 3,
  },
);

test('a filter selects the same calls by its own reader, as a question, and as a condition', async () => {
  const made = fixtureCalls(40);
  const calls = [
    ...made,
    { ...made[0], date_added: null },
    { ...made[1], talk_minutes: null },
  ] as Call[];
  await fc.assert(
    fc.asyncProperty(filter, async (clauses) => {
      const q = [...clauses, 'inc_gce:1'].join(',');
      const { length } = calls.filter(matcher(parse(q)));
      const where = conditionText(selectedBy(q));
      const asked = await answerQuestion({ q }, calls);
      const said = await answerQuestion(where === '' ? {} : { where }, calls);
      expect([asked.calls, said.calls]).toEqual([length, length]);
    }),
    { numRuns: 200 },
  );
});

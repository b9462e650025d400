import { drawFrame } from '@call-attribution/query-dsl';
import { type Condition, parseCondition } from '@call-attribution/questions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Warehouse } from '../src/index.ts';
import { call, cleanUp, testWarehouse } from './support.ts';

/** What is wrong with a condition: the place, the sentence, and the corrected condition. */
const wrong: readonly (readonly [text: string, found: string, message: string, corrected?: string])[] = [
  [
    '',
    '',
    "The condition is empty. Write one such as talk_minutes >= 2 AND state IN ('TX', 'CA'), or leave it out.",
  ],
  [
    'talk_minuts >= 2',
    'talk_minuts',
    'There is no field talk_minuts. Did you mean talk_minutes?',
    'talk_minutes >= 2',
  ],
  [
    'zzz = 1',
    'zzz',
    'There is no field zzz. Some of the fields: sid, acct_id, date_added, smart_minutes, talk_minutes, talk_start, talk_end, call_duration.',
  ],
  ['>= 2', '>=', 'Expected the name of a field, found ">=".'],
  [
    'talk_minutes',
    '',
    'After talk_minutes comes =, <>, <, <=, >, >=, IN, BETWEEN or IS NULL; found the end.',
  ],
  ['talk_minutes >=', '', 'Expected a number such as 2.5 for talk_minutes, found the end.'],
  ['talk_minutes => 2', '=>', '=> is not an operator. Write >=.', 'talk_minutes >= 2'],
  ["state ~ 'T%'", '~', '~ is not an operator. Write LIKE.', "state LIKE 'T%'"],
  ["state contains 'T'", 'contains', 'contains is not an operator.'],
  [
    "talk_minutes >= '2'",
    "'2'",
    `talk_minutes is compared with a number such as 2.5; found '2'.`,
    'talk_minutes >= 2',
  ],
  ['talk_minutes >= two', 'two', 'talk_minutes is compared with a number such as 2.5; found "two".'],
  ['talk_minutes >= 1e3', '1e3', 'Expected a number such as 2.5 for talk_minutes, found "1e3".'],
  [
    'zipcode = 60601',
    '60601',
    `zipcode is compared with a string such as 'Brand'; found "60601".`,
    "zipcode = '60601'",
  ],
  [
    'ppc_campaign = Brand',
    'Brand',
    "Strings are written in single quotes: 'Brand'.",
    "ppc_campaign = 'Brand'",
  ],
  [
    'ppc_campaign = Summer 2026 Sale AND missed',
    'Summer 2026 Sale',
    "Strings are written in single quotes: 'Summer 2026 Sale'.",
    "ppc_campaign = 'Summer 2026 Sale' AND missed",
  ],
  ['state = "TX"', '"TX"', 'Strings are written in single quotes.', "state = 'TX'"],
  ['state = "O\'Neil"', '"O\'Neil"', 'Strings are written in single quotes.', "state = 'O''Neil'"],
  [
    "state = 'TX",
    "'TX",
    "The string has no closing quote. A quote within a string is written twice: 'O''Neil'.",
  ],
  ['state = NULL', '= NULL', 'Nothing is equal to NULL. Write IS NULL.', 'state IS NULL'],
  ['state <> null', '<> null', 'Nothing is equal to NULL. Write IS NOT NULL.', 'state IS NOT NULL'],
  ["state = 'TX' && missed", '&&', 'Write AND instead of &&.', "state = 'TX' AND missed"],
  ["state = 'TX', missed", ',', 'Write AND instead of ,.', "state = 'TX' AND missed"],
  ["state = 'TX' missed", '', 'Expected AND or OR, found the end.', "state = 'TX' AND missed"],
  ["! state = 'TX'", '!', 'Write NOT instead of !.', "NOT  state = 'TX'"],
  ["(state = 'TX'", '', 'A bracket is not closed.', "(state = 'TX')"],
  ["state = 'TX')", ')', 'This bracket was never opened.', "state = 'TX'"],
  ["state IN 'TX'", "'TX'", `After IN comes a list such as ('a', 'b'); found 'TX'.`],
  ["state IN ('TX', 'CA'", '', 'A bracket is not closed.', "state IN ('TX', 'CA')"],
  ['missed > TRUE', '>', 'missed cannot be compared with >. Use = TRUE, = FALSE or IS NULL.'],
  ['missed = 1', '1', 'missed is compared with TRUE or FALSE; found "1".'],
  [
    "talk_minutes LIKE '2%'",
    'LIKE',
    'talk_minutes cannot be compared with LIKE. Use =, <>, <, <=, >, >=, IN, BETWEEN or IS NULL.',
  ],
  ["state LIKE 'a\\b'", "'a\\b'", 'In a pattern a backslash comes before %, _ or another backslash.'],
  [
    "date_added >= '2026-09-31'",
    "'2026-09-31'",
    `'2026-09-31' is not a time such as '2026-11-20' or '2026-11-20 14:30:00'. Did you mean '2026-09-30'?`,
    "date_added >= '2026-09-30'",
  ],
  [
    'date_added >= 2026',
    '2026',
    `date_added is compared with a time such as '2026-11-20' or '2026-11-20 14:30:00'; found "2026".`,
  ],
  [
    "day = '2026-11-20 10:00'",
    "'2026-11-20 10:00'",
    `'2026-11-20 10:00' is not a day such as '2026-11-20'. Did you mean '2026-11-20'?`,
    "day = '2026-11-20'",
  ],
  [
    "weekday = 'Saturday'",
    "'Saturday'",
    `weekday is never 'Saturday'. Did you mean 'Sat'?`,
    "weekday = 'Sat'",
  ],
  ["caller_type = 'new'", "'new'", `caller_type is never 'new'; it is one of 'first', 'returning'.`],
  [
    'date_added:[2026-01-01 TO *]',
    'date_added',
    'date_added: is written as in the filter language of the API. Pass it as `q`, or write the condition with =, <, > or IN.',
  ],
  ['talk_minutes BETWEEN 1, 2', ',', 'Expected AND or OR, found ",".'],
  [
    'state = "TX" || talk_minuts => \'2\'',
    '"TX"',
    'Strings are written in single quotes.',
    "state = 'TX' OR talk_minutes >= 2",
  ],
  ["state = 'TX'; drop table records", ';', 'Expected AND or OR, found ";".'],
];

describe('a condition that cannot be read', () => {
  test.each(wrong.map(([text, found, message, corrected]) => ({ text, found, message, corrected })))(
    '$text',
    ({ text, found, message, corrected }) => {
      const result = parseCondition(text);
      if (result.ok) throw new Error('It was read.');
      const { problem } = result;
      expect({ found: problem.found, message: problem.message, corrected: problem.corrected }).toEqual({
        found,
        message,
        corrected,
      });
      expect(problem.frame).toBe(drawFrame(text, problem.start, problem.end - problem.start));
      if (corrected !== undefined) expect(parseCondition(corrected).ok).toBe(true);
    },
  );
});

test('limits hold: length, nesting, values in a list', () => {
  const messageOf = (text: string) => {
    const result = parseCondition(text);
    return result.ok ? 'read' : result.problem.message;
  };
  expect(messageOf(`state = '${'x'.repeat(100_000)}'`)).toBe(
    'A condition may have at most 100,000 characters.',
  );
  expect(messageOf(`${'('.repeat(2000)}missed${')'.repeat(2000)}`)).toBe(
    'A condition may have at most 100 nested conditions.',
  );
  expect(messageOf(`${'NOT '.repeat(2000)}missed`)).toBe(
    'A condition may have at most 100 nested conditions.',
  );
  expect(messageOf(`rank IN (${Array.from({ length: 10_001 }, () => 1).join(',')})`)).toBe(
    'A condition may have at most 10,000 values in a list.',
  );
});

test('a value that is not a usual one is a warning, since others may come', () => {
  const result = parseCondition("ppc_status = 'procesed'");
  expect(result).toMatchObject({
    ok: true,
    warnings: [
      {
        code: 'unknown_value',
        message: `'procesed' is not a usual value of ppc_status. Did you mean 'Processed'?`,
      },
    ],
  });
});

test('names are read as people write them', () => {
  for (const name of ['Campaign', 'PPC_CAMPAIGN', 'ppc-campaign', 'campaign']) {
    expect(parseCondition(`${name} = 'a'`)).toMatchObject({ ok: true, condition: { field: 'ppc_campaign' } });
  }
});

describe('a condition as data', () => {
  let empty: Warehouse;
  beforeAll(async () => {
    ({ warehouse: empty } = await testWarehouse());
  });
  afterAll(cleanUp);

  const bad: readonly (readonly [unknown, string])[] = [
    [{ kind: 'not', part: null }, 'A condition has the kind undefined, which does not exist.'],
    [{ kind: ['and'], parts: [] }, 'A condition has the kind object, which does not exist.'],
    [{ kind: 'sql', field: 'state' }, 'A condition has the kind "sql", which does not exist.'],
    [{ kind: 'and' }, 'A condition of kind and needs `parts`, a list of conditions.'],
    [
      { kind: 'null', field: 'stat' },
      'A condition names the field "stat", which does not exist. Did you mean state?',
    ],
    [
      { kind: 'compare', field: 'state', operator: "= '' OR 1 = 1 --", value: { type: 'text', text: 'x' } },
      `"= '' OR 1 = 1 --" is not an operator.`,
    ],
    [
      { kind: 'compare', field: 'state', operator: '=', value: { type: 'number', text: '1' } },
      'A value for state is of another type.',
    ],
    [
      {
        kind: 'compare',
        field: 'talk_minutes',
        operator: '=',
        value: { type: 'number', text: '1; drop table records' },
      },
      'A value for talk_minutes is of another type.',
    ],
    [{ kind: 'in', field: 'state', values: [] }, 'A list of values for state is empty.'],
    [{ kind: 'flag', field: 'state' }, 'state is not true or false by itself.'],
    [
      { kind: 'like', field: 'talk_minutes', pattern: '%' },
      'talk_minutes cannot be compared with a pattern.',
    ],
    [
      { kind: 'like', field: 'state', pattern: '%\\' },
      'state: In a pattern a backslash comes before %, _ or another backslash.',
    ],
    [
      { kind: 'in', field: 'state', values: [{ type: 'text', text: 'x' }], exact: 'no' },
      '`exact` of a list of values for state is not true or false.',
    ],
    ...[9e20, 253402300800000, 0.5, Number.NaN, '0'].map(
      (millis) =>
        [
          { kind: 'compare', field: 'date_added', operator: '>', value: { type: 'time', millis } },
          'A value for date_added is of another type.',
        ] as const,
    ),
    [
      { kind: 'not', part: { kind: 'flag', field: 'constructor' } },
      'A condition names the field "constructor", which does not exist.',
    ],
  ];

  test.each(bad.map(([where, message]) => ({ where, message })))('$message', async ({ where, message }) => {
    await expect(empty.count({ where: where as Condition })).rejects.toThrow(message);
  });

  test('is taken as it is when it is right', async () => {
    const { warehouse } = await testWarehouse();
    await warehouse.load('main', [call('a', { state: "T'X" }), call('b', { state: 'CA' })]);
    const where: Condition = {
      kind: 'and',
      parts: [
        { kind: 'in', field: 'state', values: [{ type: 'text', text: "T'X" }] },
        { kind: 'not', part: { kind: 'null', field: 'talk_minutes' } },
      ],
    };
    expect(await warehouse.count({ where })).toMatchObject({ calls: 1 });
    // The day after the last one that a time can name is not one.
    expect(await warehouse.count({ where: "date_added <= '9999-12-31'" })).toMatchObject({ calls: 2 });
    expect(await warehouse.count({ where: "date_added > '9999-12-31'" })).toMatchObject({ calls: 0 });
  });
});

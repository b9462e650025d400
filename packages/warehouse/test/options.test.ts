import { ConfigurationError } from '@call-attribution/core/errors';
import { measures, type Question, questionFields } from '@call-attribution/questions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Warehouse } from '../src/index.ts';
import { call, cleanUp, temporaryFolder, testWarehouse } from './support.ts';

let warehouse: Warehouse;

afterAll(cleanUp);
beforeAll(async () => {
  ({ warehouse } = await testWarehouse());
  await warehouse.load('main', [call('a', { state: 'TX' }), call('b', { state: 'CA' })]);
});

/** Questions of plain JavaScript, which nothing has checked. */
const wrong: readonly (readonly [unknown, string])[] = [
  [undefined, 'question must be an object; got nothing.'],
  [null, 'question must be an object; got null.'],
  ['calls', 'question must be an object; got a string.'],
  [{ whare: "state='TX'" }, 'There is no option whare. Did you mean where?'],
  [{ where: 5 }, "where must be a condition such as 'talk_minutes >= 2', or one as an object; got 5."],
  [
    { where: [] },
    "where must be a condition such as 'talk_minutes >= 2', or one as an object; got an array.",
  ],
  [{ from: new Date(0) }, "from must be a time such as '2026-11-20'; got an object of type Date."],
  [{ to: null }, "to must be a time such as '2026-11-20'; got null."],
  [{ accounts: 'main' }, 'accounts must be an array of names; got a string.'],
  [{ accounts: [1] }, 'accounts must be an array of names; got an array.'],
  [{ calls: true }, 'calls must be a string; got true.'],
  [{ q: 1 }, 'q must be a string; got 1.'],
  [{ timeZone: 1 }, 'timeZone must be a string; got 1.'],
  [{ groupBy: 'state' }, 'groupBy must be an array of names of fields; got a string.'],
  [{ groupBy: [1n] }, 'groupBy must be an array of names of fields; got an array.'],
  [{ groupBy: Array(2) }, 'groupBy must be an array of names of fields; got an array.'],
  [{ measures: 'calls' }, 'measures must be an array; got a string.'],
  [
    { measures: ['calls', null] },
    "measures[1] must be a measure such as 'calls' or 'share(rank >= 4)', or { distinct: field }; got null.",
  ],
  [
    { measures: [{ distnct: 'state' }] },
    'There is no option measures[0].distnct. Did you mean measures[0].distinct?',
  ],
  [{ measures: [{}] }, 'measures[0].distinct must be a string; got nothing.'],
  [{ having: 1 }, 'having must be a string; got 1.'],
  [{ order: ['calls'] }, 'order must be a string; got an array.'],
  [{ limit: '5' }, 'limit must be a whole number; got "5".'],
  [{ limit: 1.5 }, 'limit must be a whole number; got 1.5.'],
  [{ topPer: Number.NaN }, 'topPer must be a whole number; got NaN.'],
  [
    { compare: null },
    "compare must be 'previous', 'year', a period such as '2026-10' or { from, to }; got null.",
  ],
  [{ compare: { form: '2026-01-01' } }, 'There is no option compare.form. Did you mean compare.from?'],
  [{ compare: { from: 1, to: 2 } }, "compare.from must be a time such as '2026-11-20'; got 1."],
  [{ groupBy: ['state'], spend: [] }, "spend must be an object such as { 'Brand': 90 }; got an array."],
  [{ groupBy: ['state'], spend: { TX: '5' } }, 'spend["TX"] must be a number; got "5".'],
  [{ groupBy: ['state'], spend: { TX: Number.NaN } }, 'spend["TX"] must be a number; got NaN.'],
  [{ groupBy: ['state'], spend: { TX: undefined } }, 'spend["TX"] must be a number; got nothing.'],
  [{ personal: 'shown' }, `personal must be 'show' or a function; got "shown".`],
  [
    { timeLimit: 'x' },
    `timeLimit must be milliseconds above 0, a string such as '30s', or Infinity; got "x".`,
  ],
  [{ timeLimit: 0 }, `timeLimit must be milliseconds above 0, a string such as '30s', or Infinity; got 0.`],
  [{ signal: {} }, 'signal must be an AbortSignal; got an object.'],
];

/** What another call is refused with. */
async function refusalOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({ code: 'invalid_option' });
  return (error as Error).message;
}

describe('an option that does not exist or has another type', () => {
  test.each(wrong.map(([question, message]) => ({ question, message })))(
    '$message',
    async ({ question, message }) => {
      expect(await refusalOf(warehouse.analyze(question as Question))).toBe(message);
    },
  );

  test('it is refused by the other ways to ask, too', async () => {
    const given = (value: unknown) => value as never;
    const list = async (query: unknown) => {
      for await (const _ of warehouse.calls(given(query)));
    };
    const unknown = 'There is no option whare. Did you mean where?';
    expect(await refusalOf(warehouse.count(given({ whare: 'missed' })))).toBe(unknown);
    expect(await refusalOf(warehouse.count(given(null)))).toBe('selection must be an object; got null.');
    expect(await refusalOf(warehouse.count(given({ groupBy: [] })))).toContain('There is no option groupBy.');
    expect(await refusalOf(list({ whare: 'missed' }))).toBe(unknown);
    expect(await refusalOf(list(null))).toBe('query must be an object; got null.');
    expect(await refusalOf(list({ limit: -1 }))).toBe('limit must be a whole number of at least 0; got -1.');
    expect(await refusalOf(list({ offset: '1' }))).toBe(
      'offset must be a whole number of at least 0; got "1".',
    );
    expect(await refusalOf(warehouse.get(given(5)))).toBe('sid must be a string; got 5.');
    expect(await refusalOf(warehouse.get(given(undefined)))).toBe('sid must be a string; got nothing.');
    expect(await refusalOf(warehouse.get('a', given(5)))).toBe('account must be a string; got 5.');
    expect(await refusalOf(warehouse.exportParquet(temporaryFolder(), given({ whare: 'missed' })))).toBe(
      unknown,
    );
    expect(await refusalOf(warehouse.exportParquet(temporaryFolder(), given({ partition: 'week' })))).toBe(
      `partition must be 'month' or 'day'; got "week".`,
    );
  });

  test('undefined is as good as nothing, and a time limit may be as long as one likes', async () => {
    const nothing = Object.fromEntries(
      ['from', 'to', 'accounts', 'where', 'q', 'groupBy', 'measures', 'spend', 'compare', 'signal'].map(
        (name) => [name, undefined],
      ),
    );
    expect(await warehouse.analyze({ ...nothing, timeLimit: Number.POSITIVE_INFINITY })).toMatchObject({
      calls: 2,
    });
    expect(await warehouse.count({ timeLimit: 1e10 })).toMatchObject({ calls: 2 });
  });
});

describe('no two columns of an answer have the same name', () => {
  test('a measure that has the name of a group is refused', async () => {
    await expect(
      warehouse.analyze({ groupBy: ['missed'], measures: ['calls', 'missed'] }),
    ).rejects.toMatchObject({
      code: 'invalid_question',
      message:
        'Two columns are called missed. Name the measure with as, such as "missed as how_many", or group by another field.',
    });
  });

  const measureNames = measures.flatMap((each) => ('argument' in each ? [] : [each.name]));

  test('every other field can be a group of all measures, with a comparison and spend', async () => {
    const measures = [...measureNames, { distinct: 'state' }] satisfies Question['measures'];
    const names = [...measures.map((each) => (typeof each === 'string' ? each : 'distinct_state'))];
    const columns = new Set([
      ...names.flatMap((name) => [name, `${name}_before`, `${name}_change`]),
      'spend',
      'cost_per_call',
    ]);
    expect(
      [...new Set([...questionFields().values()].map(({ name }) => name))].filter((name) =>
        columns.has(name),
      ),
    ).toEqual(['missed', 'answered']);
    const { columns: shown } = await warehouse.analyze({
      groupBy: ['missed'],
      measures: measures.filter((each) => each !== 'missed'),
      from: '2026-01-01',
      to: '2026-01-31',
      compare: 'previous',
      spend: { true: 1 },
    });
    expect(new Set(shown.map(({ name }) => name)).size).toBe(shown.length);
  });
});

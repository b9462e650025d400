import { measures, type Question, questionFields } from '@call-attribution/questions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Warehouse } from '../src/index.ts';
import { call, cleanUp, testWarehouse } from './support.ts';

let warehouse: Warehouse;

afterAll(cleanUp);
beforeAll(async () => {
  ({ warehouse } = await testWarehouse());
  await warehouse.load('main', [call('a', { state: 'TX' }), call('b', { state: 'CA' })]);
});

describe('options of a question', () => {
  test('a misspelled one is refused', async () => {
    await expect(warehouse.analyze({ whare: '' } as Question)).rejects.toThrow(
      'There is no option whare. Did you mean where?',
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

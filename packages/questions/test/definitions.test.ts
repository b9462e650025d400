import { type Call, fields } from '@call-attribution/core';
import { describe, expect, test } from 'vitest';
import {
  answerQuestion,
  planCalls,
  planQuestion,
  type Question,
  selectCalls,
} from '../src/index.ts';

const callWith = (changes: Partial<Call>): Call => ({
  ...(Object.fromEntries(fields.map(({ name }) => [name, null])) as unknown as Call),
  acct_id: '101',
  channel: 'Tracker',
  date_added: '2026-11-18 14:03:00',
  ...changes,
});

const calls = [
  callWith({ sid: '1', talk_minutes: '5.0', state: 'TX', ani: '13035550100' }),
  callWith({ sid: '2', talk_minutes: '2.0', state: 'CA', ani: '+1 303-555-0100' }),
  callWith({ sid: '3', talk_minutes: '1.0', state: 'TX', ani: '2125550123' }),
  callWith({ sid: '4', talk_minutes: '0.0', state: null, ani: 'Anonymous' }),
];
const definitions = {
  office: "ani IN ('(303) 555-0100')",
  lead: 'talk_minutes >= 2',
  own_lead: 'lead AND NOT office',
  texan: "state = 'TX'",
};
const rowsOf = async (question: Question) =>
  (await answerQuestion({ definitions, ...question }, calls)).rows;

describe('a definition', () => {
  test.each([
    ['lead', 2],
    ['NOT lead', 2],
    ['lead AND texan', 1],
    ['(lead OR texan) AND NOT missed', 3],
    ['own_lead', 0],
    ['LEAD', 2],
  ])('stands where a condition stands: %s', async (where, count) => {
    expect(await rowsOf({ where })).toEqual([{ calls: count }]);
  });

  test('stands in measures, and in the columns that having and order name', async () => {
    const measures = ['count(lead) as leads', 'share(lead)'];
    expect(await rowsOf({ measures })).toMatchObject([{ leads: 2, 'share(lead)': 0.5 }]);
    const groups = { groupBy: ['state'], measures, having: 'leads > 0', order: 'state' };
    expect((await rowsOf(groups)).map(({ state }) => state)).toEqual(['CA', 'TX']);
  });

  test('is no group, and the measure that counts it is said', () => {
    expect(() => planQuestion({ definitions, groupBy: ['campaign', 'lead'] })).toThrow(
      'lead is a definition, which is true of a call or is not: measure count(lead).',
    );
  });
  test('is read with the fields that it needs only', () => {
    const { needs } = planQuestion({ definitions, where: 'texan' });
    expect(needs.flatMap(({ fields }) => [...fields])).toContain('state');
    expect(needs.flatMap(({ fields }) => [...fields])).not.toContain('talk_minutes');
  });

  const refused = (given: Record<string, string>, where = '') => {
    try {
      planQuestion({ definitions: given, ...(where === '' ? {} : { where }) });
      return '';
    } catch (error) {
      return String(error);
    }
  };

  test.each([
    [{ State: 'missed' }, /cannot be called "State": its name has small letters/],
    [
      { state: 'missed' },
      /cannot be called state: that is a field. Choose another name, such as our_state/,
    ],
    [{ campaign: 'missed' }, /that is the field ppc_campaign/],
    [{ missed: 'talk_minutes = 0' }, /that is a field/],
    [{ talk_mean: 'missed' }, /that is a measure/],
    [{ and: 'missed' }, /that is a word of the language/],
    [{ phone: 'missed' }, /that is one of the fields ani, dnis/],
    [{ spend: 'missed' }, /that is a column of reports/],
    [{ constructor: 'missed' }, /cannot be called/],
    [
      { a: 'b', b: 'c AND missed', c: 'NOT a' },
      /The definition a, which names b, which names c, which names a: a definition cannot name itself/,
    ],
    [{ a: 'a OR missed' }, /The definition a, which names a/],
    [{ lead: 'talk_minutes >= ' }, /definitions\.lead: .*compared with a number/],
    [{ lead: 'lede' }, /definitions\.lead: There is no field lede/],
  ] as [Record<string, string>, RegExp][])('%j is refused', (given, reason) => {
    expect(refused(given)).toMatch(reason);
  });

  test('is true or false by itself, and the nearest name is said for one that is none', () => {
    expect(refused(definitions, 'lead >= 2')).toMatch(/lead is a definition: it stands by itself/);
    expect(refused(definitions, 'lead IS NULL')).toMatch(/lead is a definition/);
    expect(refused(definitions, 'leed')).toMatch(/There is no field leed. Did you mean lead\?/);
    expect(refused(definitions, 'lead texan')).toMatch(/Expected AND or OR/);
  });

  test('that grows without end by naming others is refused', () => {
    const grown: Record<string, string> = { d0: 'missed OR answered' };
    for (let i = 1; i < 40; i += 1) grown[`d${i}`] = `d${i - 1} AND d${i - 1}`;
    expect(refused(grown)).toMatch(/has more than 1000 comparisons/);
  });
});

describe('a number in a condition', () => {
  test.each(["'+1 303 555 0100'", "'3035550100'", "'13035550100'", "'tel:+1-303-555-0100'"])(
    '%s finds the caller however the number was sent',
    async (number) => {
      expect(await rowsOf({ where: `ani = ${number}` })).toEqual([{ calls: 2 }]);
      expect(await rowsOf({ where: `ani <> ${number}` })).toEqual([{ calls: 2 }]);
      expect(await rowsOf({ where: `ani IN (${number}, 'anonymous')` })).toEqual([{ calls: 3 }]);
    },
  );

  test('== compares what was sent', async () => {
    expect(await rowsOf({ where: "ani == '13035550100'" })).toEqual([{ calls: 1 }]);
  });
});

describe('exclude', () => {
  test('leaves out the same calls of a question on the other calls of a caller', async () => {
    const measures = ['calls', 'first_time_callers'];
    for (const exclude of ['texan', "state = 'TX'"])
      expect(await rowsOf({ measures, exclude })).toEqual([{ calls: 2, first_time_callers: 0 }]);
  });

  test('drops calls of which it is true, keeps those of which nobody knows, and says how many', async () => {
    const { rows, leftOut } = await answerQuestion({ definitions, exclude: 'office' }, calls);
    expect(rows).toEqual([{ calls: 2 }]);
    expect(leftOut).toContainEqual({
      code: 'excluded',
      count: 2,
      message: 'Without office: 2 calls are left out.',
    });
    const unknown = await answerQuestion({ exclude: "state <> 'CA'" }, calls);
    expect(unknown.rows).toEqual([{ calls: 2 }]);
  });

  test('counts those only that would be in the answer', async () => {
    const asked = { definitions, exclude: 'office', where: 'texan' };
    const { rows, leftOut } = await answerQuestion(asked, calls);
    expect([rows, leftOut.find(({ code }) => code === 'excluded')?.count]).toEqual([
      [{ calls: 1 }],
      1,
    ]);
  });

  test('chooses single calls alike', () => {
    const { judge } = selectCalls(planCalls({ definitions, exclude: 'office' }));
    expect(calls.map((call) => judge(call, '101'))).toEqual([
      'excluded',
      'excluded',
      'selected',
      'selected',
    ]);
  });
});

import type { Call } from '@call-attribution/core';
import type { Question } from '@call-attribution/questions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqlResult, Warehouse } from '../src/index.ts';
import { call, cleanUp, testWarehouse } from './support.ts';

let warehouse: Warehouse;
const states = ['TX', 'CA', "O'Neil", '', null];
const talk = ['0.0', '2.5', '3.0', null];
/** Calls around the ends of days, weeks and months; none on 3 May, none in June. */
const times = [
  '2026-04-30 23:59:59',
  '2026-05-01 00:00:00',
  '2026-05-04 08:00:00',
  '2026-05-10 23:30:00',
  '2026-05-31 13:00:00',
  '2026-07-01 08:15:00',
  null,
];
const rows: readonly { readonly account: string; readonly call: Call }[] = Array.from(
  { length: 60 },
  (_, i) => ({
    account: i % 9 === 0 ? 'other' : 'main',
    call: call(`S${i}`, {
      date_added: times[i % 7],
      state: states[i % 5],
      talk_minutes: talk[i % 4],
      ani: `555555010${i % 8}`,
      channel: i % 3 === 0 ? 'Call Extension' : 'Tracker',
    }),
  }),
);

/** A statement that is not read to its end keeps the file open between the questions. */
let reading: SqlResult;
const open = {};

afterAll(async () => {
  await reading.close();
  await cleanUp();
});
beforeAll(async () => {
  ({ warehouse } = await testWarehouse());
  for (const account of ['main', 'other'])
    await warehouse.load(
      account,
      rows.filter((row) => row.account === account).map((row) => row.call),
    );
  reading = await warehouse.query('select 1');
});

/** Each kind of group: what was spent, and the names that are no group in the whole of the calls. */
const kinds: readonly (readonly [
  group: string,
  spend: Record<string, number>,
  without: readonly string[],
])[] = [
  ['state', { TX: 10, "o'neil": 2.5, '': 1, null: 3 }, ['null']],
  ['account', { main: 10, other: 5, third: 1 }, ['third']],
  ['caller_type', { first: 8, returning: 2 }, []],
  ['month', { '2026-04': 5, '2026-05': 100, '2026-06': 7, '2031-01': 1 }, ['2031-01']],
  ['week', { '2026-04-27': 6, '2026-05-04': 1.25, '2026-05-11': 9 }, []],
  ['day', { '2026-05-01': 10, '2026-05-03': 5, '2024-02-29': 3 }, ['2024-02-29']],
  ['weekday', { Mon: 10, Sun: 3, Tue: 2, Monday: 1 }, ['Monday']],
  ['hour', { '8': 10, '0': 3, '9': 1, '08': 2 }, ['08']],
  ['missed', { true: 12, false: 1 }, []],
  ['is_extension', { true: 12 }, []],
  ['talk_minutes', { '0': 3, '2.5': 10, '3': 1, '99.9': 4 }, ['99.9']],
];

describe('spend is joined by what the answer shows', () => {
  test.each(kinds.map(([group, spend, without]) => ({ group, spend, without })))(
    'by $group',
    async ({ group, spend, without }) => {
      for (const period of [open, { from: '2026-04-30', to: '2026-07-01' }]) {
        const question: Question = { groupBy: [group], ...period };
        const plain = await warehouse.analyze(question);
        const amountOf = (value: unknown) =>
          value === null
            ? undefined
            : Object.entries(spend).find(([name]) => name.toLowerCase() === String(value).toLowerCase())?.[1];
        const wanted = plain.rows.map((row) => {
          const amount = amountOf(row[group]);
          const calls = Number(row.calls);
          return {
            ...row,
            spend: amount ?? null,
            cost_per_call: amount === undefined || calls === 0 ? null : amount / calls,
          };
        });
        const answer = await warehouse.analyze({ ...question, spend });
        expect(answer.rows).toEqual(wanted);
        const paid = wanted.filter((row) => row.spend !== null);
        const sum = paid.reduce((total, row) => total + Number(row.spend), 0);
        const calls = paid.reduce((total, row) => total + Number('calls' in row ? row.calls : 0), 0);
        expect(answer.total).toEqual({
          calls: answer.calls,
          spend: sum,
          cost_per_call: calls === 0 ? null : Number((sum / calls).toPrecision(12)),
        });
        const unused = answer.leftOut.filter(({ code }) => code === 'spend_without_calls');
        if (period === open) {
          expect(unused.map(({ count }) => count)).toEqual(without.length === 0 ? [] : [without.length]);
          for (const name of without) expect(unused[0]?.message).toContain(`'${name}' (`);
          continue;
        }
        // What limit and having cut away has calls, and the other names still have none.
        for (const cut of [{ limit: 1 }, { having: 'cost_per_call > 1000' }]) {
          const part = await warehouse.analyze({ ...question, spend, ...cut, order: 'cost_per_call desc' });
          expect(part.total).toEqual(answer.total);
          expect(part.leftOut.filter(({ code }) => code === 'spend_without_calls')).toEqual(unused);
        }
      }
    },
  );

  test('a moment is named as DuckDB writes it', async () => {
    const spend = { '2026-05-01 00:00:00': 10, '2026-05-01 00:00:01': 5 };
    const { rows: found, leftOut } = await warehouse.analyze({ groupBy: ['date_added'], spend });
    expect(found.filter((row) => row.spend !== null)).toMatchObject([{ date_added: '2026-05-01 00:00:00' }]);
    expect(leftOut[0]?.message).toMatch(
      /^There was spend but no call for '2026-05-01 00:00:01' \(5; nearest: /,
    );
  });

  test('order and having know the cost of a call, whatever the group is', async () => {
    const question: Question = {
      groupBy: ['hour'],
      spend: { '8': 100, '13': 1, '0': 50 },
      order: 'cost_per_call desc',
    };
    const costs = async (part: Partial<Question>) =>
      (await warehouse.analyze({ ...question, ...part })).rows.map(({ hour }) => hour);
    expect((await costs({})).slice(0, 3)).toEqual([8, 0, 13]);
    expect(await costs({ having: 'cost_per_call < 5' })).toEqual([13]);
    expect(await costs({ limit: 1, order: 'spend' })).toEqual([13]);
  });

  test('with a period to compare, a name whose calls are only in the other period is a group without calls', async () => {
    const answer = await warehouse.analyze({
      groupBy: ['weekday'],
      from: '2026-05-01',
      to: '2026-05-01',
      compare: { from: '2026-05-04', to: '2026-05-04' },
      spend: { Fri: 9, Mon: 4 },
    });
    expect(answer.total).toMatchObject({ calls: 9, spend: 13 });
    expect(answer.rows.filter(({ spend }) => spend !== null)).toMatchObject([
      { weekday: 'Mon', calls: 0, calls_before: 9, spend: 4, cost_per_call: null },
      { weekday: 'Fri', calls: 9, spend: 9, cost_per_call: 1 },
    ]);
  });

  test('personal values are named as they are, also when the answer masks them', async () => {
    const answer = await warehouse.analyze({
      groupBy: ['ani'],
      personal: () => 'somebody',
      spend: { '5555550100': 8, '5555559999': 1 },
    });
    expect(answer.rows.filter(({ spend }) => spend !== null)).toEqual([
      { ani: 'somebody', calls: 8, spend: 8, cost_per_call: 1 },
    ]);
    expect(answer.leftOut).toMatchObject([{ code: 'spend_without_calls', count: 1 }]);
  });

  test('nothing was spent', async () => {
    const answer = await warehouse.analyze({ groupBy: ['state'], spend: {} });
    expect(answer.total).toMatchObject({ spend: 0, cost_per_call: null });
    expect(answer.leftOut).toEqual([]);
  });
});

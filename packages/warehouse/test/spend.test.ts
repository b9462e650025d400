import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question, SqlResult, Warehouse } from '../src/index.ts';
import { answerOf } from './oracle.ts';
import type { Row } from './oracle-facts.ts';
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
const rows: Row[] = Array.from({ length: 60 }, (_, i) => ({
  account: i % 9 === 0 ? 'other' : 'main',
  call: call(`S${i}`, {
    date_added: times[i % 7],
    state: states[i % 5],
    talk_minutes: talk[i % 4],
    ani: `555555010${i % 8}`,
    channel: i % 3 === 0 ? 'Call Extension' : 'Tracker',
  }),
}));

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

/** Each kind of group: what was spent, and the names without a call. */
const kinds: readonly (readonly [
  group: string,
  spend: Record<string, number>,
  without: readonly string[],
])[] = [
  ['state', { TX: 10, "O'Neil": 2.5, '': 1, tx: 4, null: 3 }, ['tx', 'null']],
  ['account', { main: 10, other: 5, third: 1 }, ['third']],
  ['caller_type', { first: 8, returning: 2 }, []],
  ['month', { '2026-04': 5, '2026-05': 100, '2026-06': 7, '2031-01': 1 }, ['2026-06', '2031-01']],
  ['week', { '2026-04-27': 6, '2026-05-04': 1.25, '2026-05-11': 9 }, ['2026-05-11']],
  ['day', { '2026-05-01': 10, '2026-05-03': 5, '2024-02-29': 3 }, ['2024-02-29', '2026-05-03']],
  ['weekday', { Mon: 10, Sun: 3, Tue: 2 }, ['Tue']],
  ['hour', { '8': 10, '0': 3, '9': 1 }, ['9']],
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
        const wanted = answerOf(rows, question, null).rows.map((row) => {
          const amount = row[group] === null ? undefined : spend[String(row[group])];
          return {
            ...row,
            spend: amount ?? null,
            cost_per_call: amount === undefined || !row.calls ? null : amount / Number(row.calls),
          };
        });
        const answer = await warehouse.analyze({ ...question, spend });
        const byText = (some: typeof wanted) => [...some].map((row) => JSON.stringify(row)).sort();
        expect(byText(answer.rows as typeof wanted)).toEqual(byText(wanted));
        const sum = Object.values(spend).reduce((total, amount) => total + amount, 0);
        expect(answer.total).toEqual({
          calls: answer.calls,
          spend: sum,
          cost_per_call: Number((sum / answer.calls).toPrecision(12)),
        });
        const unused = answer.leftOut.filter(({ code }) => code === 'spend_without_calls');
        const names = Object.keys(spend).filter((name) => without.includes(name));
        expect(unused.map(({ message }) => message)).toEqual(
          names.length === 0 ? [] : [`There was spend but no call for ${names.join(', ')}.`],
        );
        if (period === open) continue;
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
    expect(leftOut).toMatchObject([{ message: 'There was spend but no call for 2026-05-01 00:00:01.' }]);
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

  test('with a period to compare, a name whose calls are only in the other period has none', async () => {
    const answer = await warehouse.analyze({
      groupBy: ['weekday'],
      from: '2026-05-01',
      to: '2026-05-01',
      compare: { from: '2026-05-04', to: '2026-05-04' },
      spend: { Fri: 9, Mon: 4 },
    });
    expect(answer.leftOut.map(({ message }) => message)).toContain('There was spend but no call for Mon.');
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
    expect(answer.total).toMatchObject({ spend: 0, cost_per_call: 0 });
    expect(answer.leftOut).toEqual([]);
  });
});

const impossible: readonly (readonly [group: string, name: string, shown: string])[] = [
  ['month', '2026-5x', '2026-05'],
  ['month', '2026-13', '2026-05'],
  ['month', '2026-05-01', '2026-05'],
  ['day', '2026-02-30', '2026-05-01'],
  ['day', '2026-05-01 08:00', '2026-05-01'],
  ['week', '2026-05-05', '2026-05-04, its Monday'],
  ['weekday', 'Monday', 'Mon, Tue, Wed, Thu, Fri, Sat, Sun'],
  ['weekday', 'null', 'Mon, Tue, Wed, Thu, Fri, Sat, Sun'],
  ['hour', '24', '0 to 23'],
  ['hour', '08', '0 to 23'],
  ['hour', '', '0 to 23'],
  ['missed', 'yes', 'true, false'],
  ['talk_minutes', '2.50', '2.5 or 3'],
  ['talk_minutes', 'long', '2.5 or 3'],
  ['caller_type', 'new', 'first, returning'],
  ['date_added', '2026-05-01', '2026-05-01 08:30:00'],
  ['state', '\ud800', 'a string'],
];

test.each(impossible.map(([group, name, shown]) => ({ group, name, shown })))(
  'no $group is called $name',
  async ({ group, name, shown }) => {
    await expect(warehouse.analyze({ groupBy: [group], spend: { [name]: 1 } })).rejects.toMatchObject({
      code: 'invalid_question',
      message: `spend names ${JSON.stringify(name)}, which no group by ${group} is called. Write it as an answer shows it: ${shown}.`,
    });
  },
);

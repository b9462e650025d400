import type { Call } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { InvalidCondition, type Question } from '@call-attribution/questions';
import { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Warehouse } from '../src/index.ts';
import { call, cleanUp, testWarehouse } from './support.ts';

let warehouse: Warehouse;
/** Calls of three campaigns in three days of October 2026. */
const calls = [
  ['2026-10-01 09:00:00', 'Brand', 'TX', '0.0', '5555550101'],
  ['2026-10-01 10:00:00', 'Brand', 'TX', '3.0', '5555550102'],
  ['2026-10-01 11:00:00', 'Generic', 'CA', '1.5', '5555550101'],
  ['2026-10-03 09:00:00', 'Brand', 'CA', '2.0', '5555550103'],
  ['2026-10-03 09:30:00', 'Generic', 'CA', '0.0', '5555550104'],
  ['2026-10-03 23:59:59', null, 'NY', '8.0', '5555550105'],
] as const;

afterAll(cleanUp);
beforeAll(async () => {
  ({ warehouse } = await testWarehouse({ clock: { now: () => Date.UTC(2026, 9, 4) } }));
  await warehouse.load(
    'main',
    calls.map(([date_added, ppc_campaign, state, talk_minutes, ani], i) =>
      call(`S${i}`, {
        date_added,
        ppc_campaign,
        state,
        talk_minutes,
        ani,
        channel: i === 5 ? 'Call Extension' : 'Tracker',
      }),
    ),
  );
});

const rows = async (question: Question) => (await warehouse.analyze(question)).rows;

describe('an answer', () => {
  test('without groups it is one row, the total', async () => {
    const answer = await warehouse.analyze({ measures: ['calls', 'missed', 'callers'] });
    expect(answer.rows).toEqual([{ calls: 6, missed: 2, callers: 5 }]);
    expect(answer.total).toEqual(answer.rows[0]);
  });

  test('it says what its columns are, as of when it is, and how many calls it covers', async () => {
    const answer = await warehouse.analyze({
      groupBy: ['ppc_campaign'],
      measures: ['calls', 'talk_sum'],
      from: '2026-10-02',
    });
    expect(answer).toMatchObject({
      calls: 3,
      groups: 3,
      period: { from: '2026-10-02 00:00:00', to: null, timeZone: null },
      asOf: '2026-10-04T00:00:00.000Z',
      accounts: [
        {
          account: 'main',
          calls: 6,
          first: '2026-10-01 09:00:00',
          last: '2026-10-03 23:59:59',
          syncedAt: null,
        },
      ],
    });
    expect(answer.columns.map(({ name, kind, unit }) => [name, kind, unit])).toEqual([
      ['ppc_campaign', 'group', 'value'],
      ['calls', 'measure', 'calls'],
      ['talk_sum', 'measure', 'minutes'],
    ]);
    expect(answer.notes).toEqual([
      {
        code: 'no_time_zone',
        message:
          'Days and hours are as the API wrote the times; it does not say which time zone they are in.',
      },
      { code: 'not_synced', message: 'No sync of account main has finished yet: calls may be missing.' },
    ]);
  });

  test('groups with most of the first measure come first, time comes in its order with empty days as zero', async () => {
    expect(await rows({ groupBy: ['ppc_campaign'] })).toEqual([
      { ppc_campaign: 'Brand', calls: 3 },
      { ppc_campaign: 'Generic', calls: 2 },
      { ppc_campaign: null, calls: 1 },
    ]);
    expect(
      await rows({
        groupBy: ['day'],
        from: '2026-10-01',
        to: '2026-10-04',
        measures: ['calls', 'talk_mean'],
      }),
    ).toEqual([
      { day: '2026-10-01', calls: 3, talk_mean: 1.5 },
      { day: '2026-10-02', calls: 0, talk_mean: null },
      { day: '2026-10-03', calls: 3, talk_mean: 10 / 3 },
      { day: '2026-10-04', calls: 0, talk_mean: null },
    ]);
  });

  test('order, limit, topPer and having choose rows, and the answer says how many are left out', async () => {
    const question: Question = { groupBy: ['state', 'ppc_campaign'], measures: ['calls', 'talk_sum'] };
    expect(await rows({ ...question, order: 'talk_sum desc, state', limit: 2 })).toEqual([
      { state: 'NY', ppc_campaign: null, calls: 1, talk_sum: 8 },
      { state: 'TX', ppc_campaign: 'Brand', calls: 2, talk_sum: 3 },
    ]);
    expect(await rows({ ...question, order: '-talk_sum', topPer: 1 })).toEqual([
      { state: 'NY', ppc_campaign: null, calls: 1, talk_sum: 8 },
      { state: 'TX', ppc_campaign: 'Brand', calls: 2, talk_sum: 3 },
      { state: 'CA', ppc_campaign: 'Brand', calls: 1, talk_sum: 2 },
    ]);
    const answer = await warehouse.analyze({ ...question, having: 'calls >= 2 AND talk_sum < 3' });
    expect(answer.rows).toEqual([{ state: 'CA', ppc_campaign: 'Generic', calls: 2, talk_sum: 1.5 }]);
    expect(answer).toMatchObject({
      groups: 4,
      leftOut: [{ code: 'having', count: 3, message: '3 groups do not meet the condition of having.' }],
    });
    expect(answer.total).toEqual({ calls: 6, talk_sum: 14.5 });
  });

  test('it says how many groups there are even when none of them is shown', async () => {
    const answer = await warehouse.analyze({ groupBy: ['state'], having: 'calls > 100' });
    expect(answer).toMatchObject({ rows: [], groups: 3, calls: 6 });
  });

  test('a month is compared with the month before, and columns of the change can sort', async () => {
    const question: Question = {
      groupBy: ['state'],
      from: '2026-10-02',
      to: '2026-10-03',
      compare: { from: '2026-09-30', to: '2026-10-01' },
      order: 'calls_change desc, state',
    };
    expect(await rows(question)).toEqual([
      { state: 'CA', calls: 2, calls_before: 1, calls_change: 1 },
      { state: 'NY', calls: 1, calls_before: 0, calls_change: 1 },
      { state: 'TX', calls: 0, calls_before: 2, calls_change: -2 },
    ]);
    const month = await warehouse.analyze({ from: '2026-10-01', to: '2026-10-31', compare: 'previous' });
    expect(month.compared).toEqual({ from: '2026-09-01 00:00:00', to: '2026-10-01 00:00:00' });
    const days = await warehouse.analyze({ from: '2026-10-03', to: '2026-10-04', compare: 'previous' });
    expect(days.compared).toEqual({ from: '2026-10-01 00:00:00', to: '2026-10-03 00:00:00' });
    const year = await warehouse.analyze({ from: '2026-10-03', to: '2026-10-04', compare: 'year' });
    expect(year.compared).toEqual({ from: '2025-10-03 00:00:00', to: '2025-10-05 00:00:00' });
  });

  test('spend gives the cost per call, and says what was spent without calls', async () => {
    const answer = await warehouse.analyze({
      groupBy: ['campaign'],
      spend: { Brand: 90, Generic: 30.5, Display: 5 },
      order: 'cost_per_call',
    });
    expect(answer.rows).toEqual([
      { ppc_campaign: 'Generic', calls: 2, spend: 30.5, cost_per_call: 15.25 },
      { ppc_campaign: 'Brand', calls: 3, spend: 90, cost_per_call: 30 },
      { ppc_campaign: null, calls: 1, spend: null, cost_per_call: null },
    ]);
    expect(answer.total).toMatchObject({ calls: 6, spend: 120.5, cost_per_call: 24.1 });
    expect(answer.leftOut).toMatchObject([
      {
        code: 'spend_without_calls',
        count: 1,
        message:
          "There was spend but no call for 'Display' (5; nearest: 'Brand' (3 calls), 'Generic' (2 calls)). The total leaves it out.",
      },
    ]);
  });

  test('channels are counted as asked, and what that leaves out is said', async () => {
    expect(await warehouse.count({ calls: 'website' })).toMatchObject({
      calls: 5,
      leftOut: [{ code: 'extensions', count: 1, message: '1 call through call extensions is not counted.' }],
    });
    expect(await warehouse.count({ calls: 'extensions' })).toMatchObject({
      calls: 1,
      leftOut: [{ code: 'website', count: 5 }],
    });
    expect(await warehouse.count({ q: 'talk_minutes:[2 TO *]' })).toMatchObject({
      calls: 2,
      leftOut: [{ code: 'extensions', count: 1 }],
    });
    expect(await warehouse.count({ q: 'talk_minutes:[2 TO *],inc_gce:1' })).toMatchObject({
      calls: 3,
      leftOut: [],
    });
    expect(await warehouse.count({ q: 'talk_minutes:{2 TO 3]', calls: 'all' })).toMatchObject({ calls: 1 });
    expect(
      await warehouse.count({ q: 'date_added:[2026-10-01 10:00:00 TO 2026-10-01 11:00:00}' }),
    ).toMatchObject({ calls: 1 });
  });

  test('personal data is counted but not shown unless somebody says so', async () => {
    const question: Question = { groupBy: ['ani'], limit: 1 };
    await expect(warehouse.analyze(question)).rejects.toMatchObject({ code: 'invalid_question' });
    expect(await rows({ ...question, personal: 'show' })).toEqual([{ ani: '5555550101', calls: 2 }]);
    const personal = (field: string, value: string) => `${field}-${value.slice(-1)}`;
    expect(await rows({ ...question, personal })).toEqual([{ ani: 'ani-1', calls: 2 }]);
  });

  test('days of another time zone begin when they do there, across a change of the clocks', async () => {
    const zones = { timeZone: 'America/New_York', inZone: 'Europe/Berlin' };
    expect(await rows({ groupBy: ['day'], ...zones })).toEqual([
      { day: '2026-10-01', calls: 3 },
      { day: '2026-10-02', calls: 0 },
      { day: '2026-10-03', calls: 2 },
      { day: '2026-10-04', calls: 1 },
    ]);
    expect((await warehouse.analyze(zones)).period.timeZone).toBe('Europe/Berlin');
  });

  test('a time that the clocks skipped is the one an hour later, in its own zone too', async () => {
    const { warehouse: skipped } = await testWarehouse();
    await skipped.load('main', [call('a', { date_added: '2026-03-08 02:30:00' })]);
    const timeZone = 'America/New_York';
    for (const [inZone, hour] of [
      [timeZone, 3],
      ['UTC', 7],
    ] as const) {
      const answer = await skipped.analyze({ groupBy: ['hour'], having: 'calls > 0', timeZone, inZone });
      expect(answer.rows).toEqual([{ hour, calls: 1 }]);
    }
    const asSent = await skipped.analyze({ groupBy: ['hour'], having: 'calls > 0', timeZone });
    expect(asSent.rows).toEqual([{ hour: 2, calls: 1 }]);
  });

  test('callers are counted right when there are too many of them, and of groups, for bitmaps', async () => {
    const { warehouse: wide } = await testWarehouse();
    const number = (i: number) => `555${String(Math.floor(i / 2)).padStart(7, '0')}`;
    await wide.load(
      'main',
      Array.from({ length: 33_000 }, (_, i) => ({ sid: `S${i}`, ani: number(i), city: `C${i % 3}` }) as Call),
    );
    const few = await wide.analyze({ groupBy: ['city'], measures: ['callers'] });
    expect(few.rows.map(({ callers }) => callers)).toEqual([11_000, 11_000, 11_000]);
    const many = await wide.analyze({ groupBy: ['sid', 'city'], measures: ['callers'], limit: 3 });
    expect(many).toMatchObject({ groups: 33_000, total: { callers: 16_500 } });
    expect(many.rows.every(({ callers }) => callers === 1)).toBe(true);
  });

  test('callers with several calls are found in the totals, whether or not their first call is counted', async () => {
    const { warehouse: few } = await testWarehouse();
    const days = { A: [1, 2, 3], B: [2, 3], C: [1], D: [1, 3], E: [2, 2] };
    const numbers = Object.keys(days);
    const calls = Object.entries(days).flatMap(([name, list]) =>
      list.map((day, i) =>
        call(`${name}${i}`, {
          ani: `555555010${numbers.indexOf(name)}`,
          date_added: `2026-10-0${day} 0${i}:00:00`,
        }),
      ),
    );
    await few.load('main', [...calls, call('X', { ani: 'Anonymous', date_added: '2026-10-02 00:00:00' })]);
    const total = async (question: Question) =>
      (await few.analyze({ measures: ['repeat_callers', 'callers'], ...question })).total;
    expect(await total({})).toEqual({ callers: 5, repeat_callers: 4 });
    expect(await total({ from: '2026-10-02' })).toEqual({ callers: 4, repeat_callers: 3 });
    expect(await total({ from: '2026-10-03' })).toEqual({ callers: 3, repeat_callers: 0 });
    expect(await total({ from: '2027-01-01' })).toEqual({ callers: 0, repeat_callers: 0 });
    expect(await total({ from: '2026-10-03', to: '2026-10-03', compare: 'previous' })).toMatchObject({
      callers: 3,
      callers_before: 3,
      repeat_callers: 0,
      repeat_callers_before: 1,
    });
    // In two accounts a caller has two first calls.
    await few.load('other', [call('Y', { ani: '5555550102', date_added: '2026-10-05 00:00:00' })]);
    expect(await total({})).toEqual({ callers: 5, repeat_callers: 5 });
  });

  test('too many empty days are left out, and that is said', async () => {
    const { warehouse: wide } = await testWarehouse();
    await wide.load('main', [
      call('a', { date_added: '0001-01-01 00:00:00' }),
      call('b', { date_added: '9999-12-31 00:00:00' }),
      call('c', { date_added: null }),
    ]);
    const answer = await wide.analyze({ groupBy: ['day'] });
    expect(answer.rows).toEqual([
      { day: '0001-01-01', calls: 1 },
      { day: '9999-12-31', calls: 1 },
      { day: null, calls: 1 },
    ]);
    expect(answer.leftOut).toMatchObject([{ code: 'empty_buckets' }]);
    expect(await wide.count({ from: '2020-01-01' })).toMatchObject({
      calls: 1,
      leftOut: [{ code: 'no_time', count: 1 }],
    });
  });
});

const wrong: readonly (readonly [Question, string, string])[] = [
  [
    { groupBy: ['ppc_campain'] },
    'unknown_name',
    'There is no field "ppc_campain" to group by. Did you mean ppc_campaign?',
  ],
  [
    { groupBy: ['day', 'hour', 'state', 'city', 'channel'] },
    'invalid_question',
    'groupBy names 5 groups: 4 at most. Ask twice, or use `where`.',
  ],
  [{ groupBy: ['campaign', 'ppc_campaign'] }, 'invalid_question', 'groupBy names ppc_campaign twice.'],
  [{ measures: [] }, 'invalid_question', 'measures is empty: name at least one, such as calls.'],
  [
    { measures: ['mised_rate'] },
    'unknown_name',
    'There is no measure "mised_rate". Did you mean missed_rate?',
  ],
  [{ measures: ['calls', 'calls'] }, 'invalid_question', 'measures names calls twice.'],
  [
    { measures: [{ distinct: 'stat' }] },
    'unknown_name',
    'There is no field "stat" to measure. Did you mean state?',
  ],
  [
    { from: '2026-09-31' },
    'invalid_question',
    'from is "2026-09-31", which is not a time that exists. Did you mean 2026-09-30?',
  ],
  [
    { from: '2026-10-02', to: '2026-10-01' },
    'invalid_question',
    'from (2026-10-02) is not before `to` (2026-10-01). Did you mean `from` 2026-10-01 and `to` 2026-10-02?',
  ],
  [
    { timeZone: 'America/NewYork' },
    'invalid_question',
    'timeZone is "America/NewYork", which is not a time zone. Did you mean America/New_York?',
  ],
  [
    { inZone: 'UTC' },
    'invalid_question',
    'Reporting in UTC needs `timeZone`, the zone that the times of the records are in: the API does not say it. Ask whoever manages the account.',
  ],
  [{ accounts: ['mian'] }, 'unknown_account', 'The warehouse has no account "mian". Its accounts: main.'],
  [{ accounts: [] }, 'invalid_question', 'accounts is empty: name at least one, or leave it out for all.'],
  [
    { calls: 'web' as 'all' },
    'invalid_question',
    `calls is "web": expected 'all', 'website' or 'extensions'.`,
  ],
  [
    { compare: 'previous' },
    'invalid_question',
    'To compare, a question needs a period with both ends: `period`, or both `from` and `to`.',
  ],
  [
    { compare: 'soon', from: '2026-10-01', to: '2026-10-01' },
    'invalid_question',
    `compare is "soon", which is not a period. Write 'previous', 'year', or a period such as 'yesterday', 'last month', 'last 28 days', 'this week', '2026-Q3', '2026-10-01 to 2026-10-15'.`,
  ],
  [
    { groupBy: ['state'], order: 'cals' },
    'unknown_name',
    'order: the answer has no column "cals". Did you mean calls?',
  ],
  [
    { groupBy: ['state'], having: 'cals > 1' },
    'invalid_condition',
    'having: There is no field cals. Did you mean calls?',
  ],
  [
    { having: 'calls > 1' },
    'invalid_question',
    'having needs `groupBy`: there is only one row without groups.',
  ],
  [
    { groupBy: ['state'], limit: 0 },
    'invalid_question',
    'limit is 0: expected a whole number from 1 to 1,000,000.',
  ],
  [
    { spend: { a: 1 } },
    'invalid_question',
    'spend goes with one group: the spend of each of its values is given.',
  ],
  [
    { where: 'talk_minutes >= two' },
    'invalid_condition',
    'where: talk_minutes is compared with a number such as 2.5; found two.',
  ],
  [
    { q: 'talk_minuts:[2 TO *]' },
    'invalid_condition',
    'q: There is no field "talk_minuts" to filter by. Did you mean "talk_minutes"?',
  ],
];

describe('questions together', () => {
  const where = "state IN ('TX', 'CA')";
  const compared = { from: '2026-10-03', to: '2026-10-03', compare: 'previous' } as const;
  const together: Question[] = [
    { groupBy: ['day'], measures: ['calls'] },
    { measures: ['talk_mean', 'callers', 'repeat_callers', 'talk_median'] },
    { groupBy: ['ppc_campaign'], measures: ['missed', 'callers'], limit: 1 },
    { groupBy: ['ppc_campaign', 'state'], measures: ['missed_rate'], where },
    { groupBy: ['hour'], measures: ['calls', 'distinct(state)'], where },
    { measures: ['distinct(week)'], weekStart: 'monday' },
    { measures: ['distinct(week)', 'calls'], weekStart: 'sunday' },
    { groupBy: ['state'], ...compared },
    { measures: ['missed', 'calls'], ...compared },
    { measures: ['calls'], calls: 'website' },
    { groupBy: ['weekday'], measures: ['calls'], calls: 'website' },
    { groupBy: ['state'], measures: ['calls'], where: "state = 'Texas'" },
    { measures: ['missed'], where: "state = 'Texas'" },
  ];

  test('each gets the answer that it gets alone', async () => {
    const alone: unknown[] = [];
    for (const question of together) alone.push(await warehouse.analyze(question));
    expect(await warehouse.analyzeAll(together)).toEqual(alone);
    expect(await warehouse.analyzeAll([])).toEqual([]);
  });

  test('what asks the same of the same calls is counted in one scan', async () => {
    const run = vi.spyOn(DuckDBConnection.prototype, 'stream');
    await warehouse.analyzeAll([
      { groupBy: ['day'], measures: ['missed', 'talk_mean'], period: '2026-09' },
      { groupBy: ['state'], measures: ['missed'], period: '2026-09' },
      { groupBy: ['city'], measures: ['missed'], period: '2026-09' },
    ]);
    // The days and the total, then states and cities.
    expect(run).toHaveBeenCalledTimes(2);
    run.mockRestore();
  });

  test('the first limit holds for all, and a mistake in one is an error', async () => {
    const signal = AbortSignal.abort();
    await expect(warehouse.analyzeAll([{}, { signal }])).rejects.toMatchObject({ code: 'aborted' });
    const wrong = warehouse.analyzeAll([{}, { groupBy: ['campagin'] }]);
    await expect(wrong).rejects.toMatchObject({ code: 'unknown_name' });
    await expect(warehouse.analyzeAll([{}, { accounts: ['other'] }])).rejects.toMatchObject({
      code: 'unknown_account',
    });
  });
});

describe('a question with a mistake', () => {
  test.each(wrong.map(([question, code, message]) => ({ question, code, message })))(
    '$message',
    async ({ question, code, message }) => {
      const error = await warehouse.analyze(question).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(CallsError);
      expect({ code: (error as CallsError).code, message: (error as CallsError).summary }).toEqual({
        code,
        message,
      });
    },
  );

  test('a wrong condition carries its place and the corrected condition', async () => {
    const error = await warehouse.analyze({ where: "stat = 'TX'" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidCondition);
    expect((error as InvalidCondition).problem).toMatchObject({
      start: 0,
      end: 4,
      corrected: "state = 'TX'",
    });
    expect((error as InvalidCondition).hint).toBe("stat = 'TX'\n^^^^\nCorrected: state = 'TX'");
  });

  test('a question can be aborted, and ends when it takes too long', async () => {
    await expect(warehouse.analyze({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    const slow = 'select count(*) from range(100000) a, range(100000) b';
    const controller = new AbortController();
    const query = (async () => {
      for await (const _ of await warehouse.query(slow, { signal: controller.signal }));
    })();
    setTimeout(() => controller.abort(), 100);
    await expect(query).rejects.toMatchObject({ code: 'aborted' });
    await expect(
      (async () => {
        for await (const _ of await warehouse.query(slow, { timeLimit: 100 }));
      })(),
    ).rejects.toMatchObject({ code: 'time_limit', message: expect.stringContaining('longer than 0.1 s') });
    expect(await warehouse.count()).toMatchObject({ calls: 6 });
  });
});

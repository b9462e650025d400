import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { parseNaive, periodOf } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import { answerQuestion, type Question, type Spend } from '../src/index.ts';

const [plain] = fixtureCalls(1);
const call = (date: string, values: Readonly<Record<string, unknown>>): Call =>
  Object.assign({}, plain, { sid: `s${date}`, date_added: `2026-${date} 10:00:00` }, values);
const brand = { ppc_campaign: 'Brand', ppc_keywords: 'acme dental', talk_minutes: '3.0' };
const generic = { ppc_campaign: 'Generic', ppc_keywords: 'dentist', talk_minutes: '0.0' };

/** Three calls of Brand and one of Generic in October, one of Brand in September. */
const calls = [
  call('09-30', brand),
  call('10-01', brand),
  call('10-01', { ...brand, talk_minutes: '0.0' }),
  call('10-02', generic),
  call('10-05', brand),
  call('10-06', { ppc_campaign: null, ppc_keywords: null, talk_minutes: '0.0' }),
];

/** A day, or days up to the one before `to`. */
const days = (from: string, to: string) =>
  periodOf(parseNaive(`2026-${from} 00:00:00`), parseNaive(`2026-${to} 00:00:00`));
const october = days('10-01', '11-01');

/** Spend of a file whose rows are a name, the days and the amount. */
const file = (
  rows: readonly (readonly [string | null, ReturnType<typeof days> | null, number])[],
  more: Partial<Spend> = {},
): Spend => ({
  called: 'google.csv',
  said: '',
  currency: null,
  fields: ['ppc_campaign'],
  covers: null,
  amounts: rows.map(([name, period, amount], i) => ({
    row: i + 4,
    names: [name],
    period,
    amount,
  })),
  ...more,
});

const now = Date.parse('2026-11-20T12:00:00Z');
const ask = (question: Question, of = calls) =>
  answerQuestion({ period: '2026-10', timeZone: 'UTC', ...question }, of, { now });
const byCampaign = { groupBy: ['campaign'], measures: ['calls'] };
const saidIn = ({ notes, leftOut }: Awaited<ReturnType<typeof ask>>) =>
  [...leftOut, ...notes]
    .filter(({ code }) => code.startsWith('spend'))
    .map(({ code, message }) => `${code}: ${message}`);

describe('spend of a file', () => {
  const perDay = file([
    ['Brand', days('10-01', '10-02'), 0.1],
    ['Brand', days('10-05', '10-06'), 0.2],
    ['GENERIC', days('10-02', '10-03'), 30],
    ['Implants', days('10-02', '10-03'), 1000],
  ]);

  test('is laid on campaigns, and what burned money without a call is a row and in the total', async () => {
    const answer = await ask({ ...byCampaign, spend: [{ ...perDay, covers: october }] });
    expect(answer.rows).toEqual([
      { ppc_campaign: 'Brand', calls: 3, spend: 0.3, cost_per_call: 0.1 },
      { ppc_campaign: 'Generic', calls: 1, spend: 30, cost_per_call: 30 },
      { ppc_campaign: null, calls: 1, spend: null, cost_per_call: null },
      { ppc_campaign: 'Implants', calls: 0, spend: 1000, cost_per_call: null },
    ]);
    expect(answer.total).toEqual({ calls: 5, spend: 1030.3, cost_per_call: 1030.3 / 4 });
    expect(saidIn(answer)).toEqual([
      "spend_without_calls: There was spend but no call for 'Implants' (1,000.00). Each is a row with 0 calls, and counts in the total.",
    ]);
  });
  test('counts in the total where there is no call at all', async () => {
    const { rows, total } = await ask({ ...byCampaign, spend: [perDay] }, []);
    expect(total).toEqual({ calls: 0, spend: 1030.3, cost_per_call: null });
    expect(rows.map(({ ppc_campaign: name, calls }) => [name, calls])).toEqual([
      ['Brand', 0],
      ['GENERIC', 0],
      ['Implants', 0],
    ]);
  });
  test('is divided by days, weeks and months, and costs what one call of a condition did', async () => {
    const question = { measures: ['calls', 'cost_per(talk_minutes > 1) as cost_of_long'] };
    const { rows, total } = await ask({
      ...question,
      groupBy: ['campaign', 'day'],
      spend: [perDay],
      having: 'cost > 0',
    });
    expect(rows).toEqual([
      {
        ppc_campaign: 'Brand',
        day: '2026-10-01',
        calls: 2,
        cost_of_long: 0.1,
        spend: 0.1,
        cost_per_call: 0.05,
      },
      {
        ppc_campaign: 'Brand',
        day: '2026-10-05',
        calls: 1,
        cost_of_long: 0.2,
        spend: 0.2,
        cost_per_call: 0.2,
      },
      {
        ppc_campaign: 'Generic',
        day: '2026-10-02',
        calls: 1,
        cost_of_long: null,
        spend: 30,
        cost_per_call: 30,
      },
      {
        ppc_campaign: 'Implants',
        day: '2026-10-02',
        calls: 0,
        cost_of_long: null,
        spend: 1000,
        cost_per_call: null,
      },
    ]);
    for (const time of ['week', 'month']) {
      const other = await ask({ ...question, groupBy: [time, 'campaign'], spend: [perDay] });
      expect(other.total).toEqual(total);
    }
  });
  test('of a finer file adds up, and a file that is too coarse is refused', async () => {
    const amounts = [
      ['Brand', '[acme dental]', 5],
      ['Brand', '"acme dental"', 2],
      ['Generic', '+emergency +dentist', 7],
      ['Generic', null, 1],
    ] as const;
    const keywords: Spend = {
      ...perDay,
      fields: ['ppc_campaign', 'ppc_keywords'],
      amounts: amounts.map(([campaign, keyword, amount], i) => ({
        row: i + 4,
        names: [campaign, keyword],
        period: null,
        amount,
      })),
    };
    const spendOf = async (group: string) => {
      const { rows } = await ask({ groupBy: [group], order: 'spend', spend: [keywords] });
      return rows.flatMap((row) =>
        row.spend === null ? [] : [[Object.values(row)[0], row.calls, row.spend]],
      );
    };
    expect(await spendOf('campaign')).toEqual([
      ['Brand', 3, 7],
      ['Generic', 1, 8],
    ]);
    expect(await spendOf('keyword')).toEqual([
      [null, 1, 1],
      ['acme dental', 3, 7],
      ['emergency dentist', 0, 7],
    ]);
    await expect(ask({ groupBy: ['ad_group'], spend: [keywords] })).rejects.toThrow(
      'google.csv says what was spent on campaigns and keywords, not on ad groups: it cannot be divided.',
    );
  });
  test('outside of the period is left out and said, and days without any are said', async () => {
    const more = file([
      ['Brand', days('09-30', '10-01'), 7.5],
      ['Brand', days('10-05', '10-06'), 3],
    ]);
    const answer = await ask({ ...byCampaign, spend: [more] });
    expect(answer.total).toEqual({ calls: 5, spend: 3, cost_per_call: 1 });
    expect(saidIn(answer)).toEqual([
      'spend_outside: 1 amount of spend, 7.50 in all, is of days outside of the period.',
      'spend: google.csv is of 2026-09-30 to 2026-10-05 alone: on the other days of the period calls count, and no spend.',
    ]);
  });
  test('is compared where the file is of both periods', async () => {
    const both = file([
      ['Brand', days('09-30', '10-01'), 7.5],
      ['Brand', days('10-01', '10-02'), 3],
    ]);
    const question = {
      ...byCampaign,
      period: '2026-10-01 to 2026-10-01',
      compare: 'previous',
      spend: [both],
    };
    const answer = await ask(question);
    expect(answer.total).toEqual({
      calls: 2,
      calls_before: 1,
      calls_change: 1,
      calls_change_percent: 100,
      spend: 3,
      spend_before: 7.5,
      spend_change: -4.5,
      spend_change_percent: -60,
      cost_per_call: 1.5,
      cost_per_call_before: 7.5,
      cost_per_call_change: -6,
    });
    const one = await ask({ ...question, spend: [file([['Brand', null, 3]])] });
    expect(Object.keys(one.total).filter((name) => name.startsWith('spend'))).toEqual(['spend']);
    expect(saidIn(one)).toEqual([
      'spend: google.csv has no days and does not say which it is of: all of it counts.',
      'spend: google.csv is not of the period compared with: spend has no value before.',
    ]);
  });
  test.each(['this month', 'month to date'])(
    'by day is compared up to the last day that is over: %s',
    async (period) => {
      const perDay = [8, 9, 10].flatMap((month) =>
        [...Array(28).keys()].map((i): [string, ReturnType<typeof days>, number] => {
          const begin = Date.UTC(2026, month, i + 1);
          return ['Brand', periodOf(begin, begin + 86_400_000), 10 ** (month - 8)];
        }),
      );
      const rows = perDay.filter(([, { from }]) => from <= now);
      const at = (date: string) => call(date, brand);
      const of = [at('09-30'), at('10-19'), at('10-20'), at('11-02'), at('11-19'), at('11-20')];
      const answer = await ask(
        { ...byCampaign, period, compare: 'previous', spend: [file(rows)] },
        of,
      );
      const { calls, calls_before, spend, spend_before, cost_per_call } = answer.total;
      expect([calls, calls_before, spend, spend_before, cost_per_call]).toEqual([
        2, 1, 1900, 190, 950,
      ]);
      expect(answer.notes[0]?.message).toBe(
        'Only whole days are compared, since what was spent is known by day: 2026-11-01 to 2026-11-19 is compared with 2026-10-01 to 2026-10-19.',
      );
    },
  );
  test('by day is not compared before a day of the period is over', async () => {
    const spend = [file([['Brand', days('11-20', '11-21'), 1]])];
    await expect(
      ask({ ...byCampaign, period: 'today', compare: 'previous', spend }),
    ).rejects.toThrow(
      'No day of the period is over, and what was spent is known by day: leave out `compare`, or ask for `period` "yesterday".',
    );
  });
  test('without days is used where the file is of the period, and refused where it is of another', async () => {
    const whole = file([['Brand', null, 6]], { covers: october });
    expect((await ask({ ...byCampaign, spend: [whole] })).total.spend).toBe(6);
    for (const [period, words] of [
      ['2026-09', 'the period is from 2026-09-01 00:00:00 to before 2026-10-01 00:00:00'],
      ['since 2026-10-01', 'the period is from 2026-10-01 00:00:00 on'],
      ['all time', 'the period is all of time'],
    ])
      await expect(ask({ ...byCampaign, period, spend: [whole] })).rejects.toThrow(
        `google.csv is of 2026-10-01 to 2026-10-31 and has no column of days, and ${words}. Ask for \`period\` "2026-10-01 to 2026-10-31", or download it again by day.`,
      );
    const toDate = file([['Brand', null, 6]], { covers: days('11-01', '11-21') });
    for (const period of ['month to date', 'this month', 'since 2026-11-01'])
      expect((await ask({ ...byCampaign, period, spend: [toDate] })).total.spend).toBe(6);
  });
  test.each<[string, Question, string]>([
    ['another group', { groupBy: ['city'] }, 'spend goes with'],
    [
      'two names',
      { groupBy: ['campaign', 'keyword'] },
      'spend goes with campaign, ad_group or keyword in `groupBy`, alone or with one of day, week and month.',
    ],
    ['no name', { groupBy: ['day'] }, 'spend goes with campaign, ad_group or keyword'],
    [
      'a weekday',
      { groupBy: ['campaign', 'weekday'] },
      'spend goes with campaign, ad_group or keyword',
    ],
    [
      'days of a file without days',
      { groupBy: ['campaign', 'day'], spend: [file([['Brand', null, 1]])] },
      'google.csv has no column of days, so it cannot be divided by day.',
    ],
    [
      'weeks divided into days',
      { groupBy: ['campaign', 'day'], spend: [file([['Brand', days('10-05', '10-12'), 1]])] },
      'google.csv, row 4: the amount is of 2026-10-05 to 2026-10-11, which is more than one group by time.',
    ],
    [
      'a week that is in the period in part',
      {
        groupBy: ['campaign'],
        period: '2026-10-07 to 2026-10-31',
        spend: [file([['Brand', days('10-05', '10-12'), 1]])],
      },
      'google.csv, row 4: the amount is of 2026-10-05 to 2026-10-11, and only a part of that is in the period or in the one compared with. Ask for whole weeks',
    ],
    [
      'a period without a beginning',
      { groupBy: ['campaign'], period: 'all time' },
      'google.csv is of 2026-10-01 to 2026-10-05, and the period has no beginning',
    ],
    [
      'cost per call of a condition',
      { groupBy: ['campaign'], where: 'missed', measures: ['cost_per_call'] },
      'cost_per_call cannot be measured here. Cost per call is not given with a condition, since what was spent is for all calls. Without it, cost_per(condition) is what a call cost of which a condition is true.',
    ],
    [
      'cost of an exclusion',
      { groupBy: ['campaign'], exclude: 'missed', measures: ['cost_per(answered)'] },
      'cost_per(answered) cannot be measured here. Cost per call is not given with an exclusion (--no-exclude or no_exclude leaves it out), since what was spent is for all calls.',
    ],
    [
      'rows of a channel by their cost',
      { groupBy: ['campaign'], calls: 'website', having: 'cost_per_call > 2' },
      'cost_per_call cannot be measured here. Cost per call is not given with calls of one channel',
    ],
    [
      'no spend',
      { groupBy: ['campaign'], spend: undefined, order: 'cost desc' },
      'spend needs to know what was spent: give it with `spend`.',
    ],
  ])('is refused with %s', async (_, question, message) => {
    await expect(ask({ spend: [perDay], ...question })).rejects.toThrow(message);
  });
  test('knows no condition: cost per call is not given where calls are narrowed', async () => {
    const answer = await ask({ ...byCampaign, where: 'talk_minutes > 1', spend: [perDay] });
    expect(answer.total).toEqual({ calls: 2, spend: 1030.3 });
    expect(saidIn(answer)[0]).toBe(
      'spend: google.csv is of 2026-10-01 to 2026-10-05 alone: on the other days of the period calls count, and no spend.',
    );
    expect(saidIn(answer)).toContain(
      'spend: Cost per call is not given with a condition, since what was spent is for all calls.',
    );
  });
});

describe('spend of a list', () => {
  const list = (groupBy: string, spend: Readonly<Record<string, number>>, more: Question = {}) =>
    ask({ groupBy: [groupBy], measures: ['calls'], spend, ...more });

  test('is found by names in any case, and (none) is what has no value', async () => {
    const { rows } = await list('campaign', { bRAND: 6, '(none)': 2 });
    expect(rows.map(({ ppc_campaign: name, spend }) => [name, spend])).toEqual([
      ['Brand', 6],
      ['Generic', null],
      [null, 2],
    ]);
  });
  test('a name that may mean two groups is a row of its own, said in one order', async () => {
    const two = [
      call('10-01', { ppc_campaign: 'BRAND' }),
      call('10-02', { ppc_campaign: 'brand' }),
    ];
    for (const of of [two, [...two].reverse()]) {
      const answer = await ask({ ...byCampaign, spend: { Brand: 1 } }, of);
      expect(answer.rows).toHaveLength(3);
      expect(saidIn(answer)[0]).toContain("'Brand' (1.00; means BRAND and brand)");
    }
  });
  test('goes with any one group of names, and with no other', async () => {
    const { total } = await list('city', { Springfield: 6 });
    expect(total).toMatchObject({ spend: 6 });
    for (const groups of ['month', 'missed', 'talk_minutes'])
      await expect(list(groups, { x: 1 })).rejects.toThrow('spend goes with one group of names');
    await expect(ask({ groupBy: ['campaign', 'day'], spend: { Brand: 1 } })).rejects.toThrow(
      'spend goes with one group of names',
    );
  });
});

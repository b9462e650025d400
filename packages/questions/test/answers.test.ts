import { type Call, fromCall, toCall } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/record';
import { fixtureCalls } from '@call-attribution/core/testing';
import { dated, padded, parseNaive, periodOf, undated } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import {
  answerQuestion,
  type Calls,
  type ColumnBatch,
  createAnswers,
  extensionsSentence,
  type Note,
  planCalls,
  planQuestion,
  type Question,
  selectCalls,
  shownValue,
} from '../src/index.ts';

const [plain] = fixtureCalls(1);
const call = (sid: string, values: Readonly<Record<string, unknown>>): Call =>
  Object.assign({}, plain, { sid }, values);

const said = (notes: readonly Note[]): string[] => notes.map(({ message }) => message);

/** Three callers: the first is missed and calls again after 5 hours, and after 30. */
const calls = [
  call('a', {
    date_added: '2026-10-01 10:00:00',
    ppc_campaign: 'Harbor Dental | Brand',
    talk_minutes: '0.0',
    ani: '5555550100',
    rank: '5',
  }),
  call('b', {
    date_added: '2026-10-01 15:00:00',
    ppc_campaign: 'Generic',
    talk_minutes: '2.0',
    ani: '(555) 555-0100',
    rank: '1',
  }),
  call('c', {
    date_added: '2026-10-02 21:00:00',
    ppc_campaign: '',
    talk_minutes: '1.0',
    ani: '5555550100',
    rank: '4',
  }),
  call('d', {
    date_added: '2026-10-03 08:00:00',
    ppc_campaign: null,
    talk_minutes: '0.0',
    ani: '5555550101',
    rank: null,
    channel: 'Call Extension',
  }),
  call('e', {
    date_added: '2026-10-03 09:00:00',
    ppc_campaign: 'Generic',
    talk_minutes: null,
    ani: 'Anonymous',
    rank: '2',
  }),
];
const plansOf = (questions: readonly Question[]) => questions.map((each) => planQuestion(each));
const answersOf = async (questions: readonly Question[], of: Calls) => {
  const running = createAnswers(plansOf(questions));
  await running.addAll(of);
  return running.answers();
};
const rowsOf = async (question: Question) => (await answerQuestion(question, calls)).rows;

test('the first and the last call are from when they are, to the fraction of a second', async () => {
  const { accounts } = await answerQuestion({}, [
    call('a', { date_added: '2026-10-01 10:00:00.5' }),
  ]);
  expect(accounts[0]).toMatchObject({
    first: '2026-10-01 10:00:00.5',
    last: '2026-10-01 10:00:00.5',
  });
});

describe('names', () => {
  test.each(['campaign', 'Campaign', 'ppc_campaign', 'ppc-campaign'])(
    '%s is the campaign',
    async (name) => {
      expect((await rowsOf({ groupBy: [name] }))[0]).toEqual({ ppc_campaign: 'Generic', calls: 2 });
    },
  );

  test('a word with two meanings is refused with both, in groups and in conditions', async () => {
    await expect(rowsOf({ groupBy: ['page'] })).rejects.toThrow(
      'may mean landing_page or conversion_page',
    );
    await expect(rowsOf({ where: "page = '/'" })).rejects.toThrow(
      'may mean landing_page or conversion_page',
    );
  });

  test('names of several words are read in conditions', async () => {
    expect((await answerQuestion({ where: "caller type = 'First'" }, calls)).calls).toBe(2);
  });

  test('an unknown group is an error with the nearest name', async () => {
    await expect(answerQuestion({ groupBy: ['stat'] }, calls)).rejects.toThrow(
      'Did you mean state?',
    );
    expect(() => planQuestion({ groupBy: ['week', 'stat'] })).toThrow('Did you mean state?');
  });

  test('columns have the names that the answer gives them, however they were written', async () => {
    const question = { groupBy: ['landing page'], measures: ['count(rank >= 4) as Low'] } as const;
    const [first] = (await answerQuestion(question, calls)).rows;
    expect([first?.landing_page, first?.low]).toEqual(Object.values(first ?? {}));
  });

  test('rows have the columns of the question', async () => {
    const { rows } = await answerQuestion(
      { groupBy: ['campaign'], measures: ['calls', 'missed_rate'] },
      calls,
    );
    const [first] = rows;
    expect([first?.ppc_campaign, first?.calls, first?.missed_rate]).toEqual(['Generic', 2, 0]);
  });
});

describe('conditions', () => {
  test('empty and missing are told apart in groups and conditions, and shown alike', async () => {
    const rows = await rowsOf({ groupBy: ['campaign'], order: 'campaign' });
    expect(rows.map(({ ppc_campaign }) => ppc_campaign)).toEqual([
      '',
      'Generic',
      'Harbor Dental | Brand',
      null,
    ]);
    expect((await answerQuestion({ where: 'campaign IS NULL' }, calls)).calls).toBe(1);
    expect((await answerQuestion({ where: "campaign = ''" }, calls)).calls).toBe(1);
    expect([shownValue(''), shownValue(null)]).toEqual(['(none)', '(none)']);
  });

  test('= and LIKE ignore case, == does not', async () => {
    const count = async (where: string) => (await answerQuestion({ where }, calls)).calls;
    expect(await count("campaign = 'generic'")).toBe(2);
    expect(await count("campaign LIKE '%BRAND%'")).toBe(1);
    expect(await count("campaign == 'generic'")).toBe(0);
    expect(await count("campaign == 'Generic'")).toBe(2);
  });

  test('LIKE takes % and _ for text and one character, and \\ before them for themselves', async () => {
    const texts = ['Dental_50%', 'DentalX50%', 'dental', 'zähne 😀', ''];
    const held = texts.map((ppc_campaign, i) => call(`like${i}`, { ppc_campaign }));
    for (const [pattern, ...found] of [
      ['dental_50%', 'Dental_50%', 'DentalX50%'],
      ['dental\\_50\\%', 'Dental_50%'],
      ['%_5__', 'Dental_50%', 'DentalX50%'],
      ['ZÄHNE _', 'zähne 😀'],
      ['%%', ...texts],
      ['_%', 'Dental_50%', 'DentalX50%', 'dental', 'zähne 😀'],
      ['', ''],
      ['%x', ...[]],
    ]) {
      const { rows } = await answerQuestion(
        { groupBy: ['campaign'], where: `campaign LIKE '${pattern}'` },
        held,
      );
      expect(rows.map(({ ppc_campaign }) => ppc_campaign).sort(), pattern).toEqual(found.sort());
    }
  });

  test('a LIKE of many wildcards is answered, whatever the values are', async () => {
    const where =
      "campaign LIKE '%_%_%_%_%_%_%_%_%_%_%_%_~' OR campaign LIKE 'a%a%a%a%a%a%a%a%a%b'";
    const held = [call('long', { ppc_campaign: 'a'.repeat(80) })];
    expect(await answerQuestion({ where }, held)).toMatchObject({ calls: 0 });
  });

  test('nothing found is explained by the nearest values', async () => {
    const { notes } = await answerQuestion({ where: "campaign = 'Brand'" }, calls);
    expect(said(notes)).toContain(
      "ppc_campaign is never 'Brand'; nearest: 'Harbor Dental | Brand'.",
    );
    const empty = await answerQuestion({ where: "campaign = 'Brand'" }, [
      call('n', { ppc_campaign: null }),
    ]);
    expect(said(empty.notes)).toContain("ppc_campaign is never 'Brand'.");
    const none = await answerQuestion({ where: "search_term = 'x'" }, calls);
    expect(said(none.notes).join(' ')).not.toContain('nearest');
  });

  test('groups by a field that no call has because it was read with v2 are explained', async () => {
    const ofV2 = calls.map((one) => toCall(fromCall(one, 'v2'), 'v2'));

    const ask = async (groupBy: string[], some: readonly Call[]) =>
      said((await answerQuestion({ groupBy }, some)).notes).filter((note) =>
        note.includes('only v3'),
      );

    const note =
      'No call has ppc_campaign: only v3 has this field, and calls that were read with v2 lack it.';
    expect(await ask(['campaign'], ofV2)).toEqual([note]);
    expect(await ask(['channel', 'campaign'], ofV2)).toEqual([note]);
    expect(await ask(['channel'], ofV2)).toEqual([]);
    expect(await ask(['campaign'], [...ofV2, ...calls])).toEqual([]);
    expect(await ask(['campaign'], [])).toEqual([]);
  });

  test.each([
    ["state = 'Texas'", /state is never 'Texas'; nearest: 'TX'\./],
    ["campaign LIKE '%radio%'", /No ppc_campaign is like '%radio%'; its values: 'Generic'/],
    ["ppc_status = 'processing'", /ppc_status is never 'processing'/],
  ])('%s says what the field holds', async (where, note) => {
    const known = calls.map((each) => call(each.sid, { ...each, state: 'TX' }));
    const { notes, calls: found } = await answerQuestion({ where }, known);
    expect([found, said(notes).join(' ')]).toEqual([0, expect.stringMatching(note)]);
  });

  test('missed is known where there is a number of minutes: none at all is not 0', async () => {
    expect(await rowsOf({ groupBy: ['missed'], order: 'missed' })).toEqual([
      { missed: false, calls: 2 },
      { missed: true, calls: 2 },
      { missed: null, calls: 1 },
    ]);
    expect((await answerQuestion({ where: 'missed' }, calls)).calls).toBe(2);
  });

  test('having takes the name of any column', async () => {
    const measures = ['share(rank >= 1)', 'called_again_within(0.5)'] as const;
    const rows = await rowsOf({
      groupBy: ['campaign'],
      measures,
      having:
        'share(rank >= 1) >= 0 OR called_again_within_0.5 >= 0 OR called_again_within_0.5 IS NULL',
    });
    expect(rows).toEqual(await rowsOf({ groupBy: ['campaign'], measures }));
  });

  test('minutes from visit to call are compared as they are, not rounded', async () => {
    const late = [
      call('x', { date_added: '2026-10-01 10:05:02', displayed_timestamp: '2026-10-01 10:00:00' }),
    ];
    expect((await answerQuestion({ where: 'lag_minutes <= 5' }, late)).calls).toBe(0);
    expect((await answerQuestion({ measures: ['lag_median'] }, late)).total).toEqual({
      lag_median: 5,
      calls: 1,
    });
  });
});

describe('measures', () => {
  test('under a condition, of missing values, and of callers who call back', async () => {
    const measures = [
      'count(rank >= 4) as low',
      'share(rank >= 4)',
      'without(campaign)',
      'called_again_within(4)',
      'called_again_within(5)',
      'reached_within(4)',
      'reached_within(5)',
      'reached_within(0.5)',
    ];
    expect((await answerQuestion({ measures }, calls)).total).toEqual({
      low: 2,
      // What is unknown is not true: the one call without a rank counts among all.
      'share(rank >= 4)': 0.4,
      without_ppc_campaign: 2,
      // The missed call an hour before the last one is judged only where an hour is enough.
      called_again_within_4: 0,
      called_again_within_4_of: 1,
      called_again_within_5: 1,
      called_again_within_5_of: 1,
      reached_within_4: 0,
      reached_within_4_of: 1,
      reached_within_5: 1,
      reached_within_5_of: 1,
      'reached_within_0.5': 0,
      'reached_within_0.5_of': 2,
    });
  });

  test('a caller is reached by a call of any period, of any kind, as far as the last sync lets it be known', async () => {
    const measures = ['called_again_within(24)', 'reached_within(24)'];
    const [missed, again, later] = ['0.0', '0.0', '1.0'].map((talk, i) =>
      call(`${i}`, {
        date_added: `2026-10-0${i + 1} 10:00:00`,
        ani: '5555550100',
        talk_minutes: talk,
      }),
    );
    const question = { measures, period: '2026-10-01', timeZone: 'UTC' } as const;

    const ask = async (list: readonly unknown[], syncedAt: string | null) => {
      const none = { first: null, last: null, since: null, storedAt: null };
      const status = { account: 'main', calls: list.length, ...none, syncedAt };
      const running = createAnswers(plansOf([question]));
      await running.addAll(list as Call[]);
      return Object.values(running.answers([status])[0]?.total ?? {}).slice(0, 2);
    };

    expect(await ask([missed, again, later], null)).toEqual([1, 0]);
    expect(await ask([missed], null)).toEqual([null, null]);
    expect(await ask([missed], '2026-10-02T10:00:00Z')).toEqual([0, 0]);
    expect(await ask([missed], '2026-10-02T09:59:59Z')).toEqual([null, null]);
    expect(
      await ask([missed, { ...later, date_added: '2026-10-01 20:00:00' }], '2026-10-03T00:00:00Z'),
    ).toEqual([1, 1]);
  });

  test('missed and answered, and numbers of fields', async () => {
    const measures = ['missed', 'answered', 'missed_rate', 'answered_rate'];
    const numbers = ['median(rank)', 'mean(rank)', 'p90(rank)', 'mean(minutes)', 'median(lag)'];
    const { total, columns } = await answerQuestion({ measures: [...measures, ...numbers] }, calls);
    expect(Object.values(total).slice(0, 8)).toEqual([2, 2, 0.5, 0.5, 2, 3, 5, 0.75]);
    expect(columns.slice(4).map(({ name, unit }) => `${name} ${unit}`)).toEqual([
      'median_rank number',
      'mean_rank number',
      'p90_rank number',
      'mean_talk_minutes minutes',
      'median_lag_minutes minutes',
    ]);
    expect((await answerQuestion({ where: 'answered' }, calls)).calls).toBe(2);
    await expect(rowsOf({ measures: ['mean(pool_id)'] })).rejects.toThrow(
      'pool_id is not a number to measure',
    );
    await expect(rowsOf({ measures: ['p90(campaign)'] })).rejects.toThrow(
      'is not a number to measure',
    );
  });

  test('the days up to now are compared with the same hours of earlier days', async () => {
    const now = Date.UTC(2026, 9, 8, 19, 30, 0, 400);
    const question = {
      from: '2026-10-01',
      to: '2026-10-08 19:30:01',
      compare: 'previous',
      timeZone: 'UTC',
    };
    const { compared, notes } = await answerQuestion(question, calls, { now });
    expect(compared).toEqual({ from: '2026-09-23 00:00:00', to: '2026-09-30 19:30:01' });
    expect(notes.filter(({ code }) => code === 'per_day')).toEqual([]);
  });

  test('calls per day are by the days up to now, part days as parts', async () => {
    const perDay = async (question: Question, now?: string) =>
      (
        await answerQuestion({ ...question, measures: ['per_day'], timeZone: 'UTC' }, calls, {
          now: now === undefined ? undefined : Date.parse(now),
        })
      ).rows.map((row) => row.per_day);

    expect(await perDay({ period: '2026-10' }, '2027-01-01T00:00:00Z')).toEqual([5 / 31]);
    expect(await perDay({ period: '2026-10' }, '2026-10-03T12:00:00Z')).toEqual([2]);
    expect(await perDay({})).toEqual([5 / (47 / 24)]);
    expect(
      await perDay(
        { groupBy: ['week'], period: '2026-10-01 to 2026-10-06' },
        '2027-01-01T00:00:00Z',
      ),
    ).toEqual([5 / 4, 0]);
    const weekdays = {
      groupBy: ['weekday'],
      period: '2026-10-01 to 2026-10-10',
      where: "weekday = 'Thu'",
    };
    expect(await perDay(weekdays, '2027-01-01T00:00:00Z')).toEqual([1]);
    const timeless = [
      ...calls,
      { ...calls[0], sid: 'no time', date_added: null },
    ] as unknown as typeof calls;
    const byWeekday = { groupBy: ['weekday'], measures: ['per_day'] };
    const { rows } = await answerQuestion({ ...byWeekday, timeZone: 'UTC' }, timeless, {});
    expect(rows.filter(({ weekday }) => weekday === null).map((row) => row.per_day)).toEqual([
      null,
    ]);
  });

  test('the sequence of a caller is that of all calls, whatever the condition leaves', async () => {
    expect(
      await rowsOf({
        groupBy: ['caller_nth'],
        where: 'hours_since_previous_call >= 5',
        order: 'caller_nth',
      }),
    ).toEqual([
      { caller_nth: 2, calls: 1 },
      { caller_nth: 3, calls: 1 },
    ]);
  });

  describe('the first and the last touch of a caller are those of all calls of the account', () => {
    const touched = [
      call('c', {
        date_added: '2026-10-03 10:00:00',
        ani: '5555550100',
        ppc_campaign: 'Last',
        referrer: '',
      }),
      call('a', {
        date_added: '2026-09-01 10:00:00',
        ani: '15555550100',
        ppc_campaign: 'First',
        referrer: 'x.test',
      }),
      call('b', { date_added: '2026-10-02 10:00:00', ani: '5555550100', ppc_campaign: 'Between' }),
      call('d', { date_added: '2026-10-02 10:00:00', ani: '5555550101', ppc_campaign: null }),
      call('e', { date_added: '2026-10-02 10:00:00', ani: 'Anonymous', ppc_campaign: 'Nobody' }),
    ];
    test.each([
      [
        'in groups, whatever the period leaves',
        { groupBy: ['caller_first_campaign', 'caller_last_campaign'], period: '2026-10' },
        [
          { caller_first_campaign: 'First', caller_last_campaign: 'Last', calls: 2 },
          { caller_first_campaign: null, caller_last_campaign: null, calls: 2 },
        ],
      ],
      [
        'in conditions, whatever the others leave',
        {
          groupBy: ['campaign'],
          where: "caller_first_source = 'x.test' and caller_last_source = ''",
          order: 'campaign',
        },
        ['Between', 'First', 'Last'].map((ppc_campaign) => ({ ppc_campaign, calls: 1 })),
      ],
      [
        'and only of callers with a number',
        { groupBy: ['campaign'], where: 'caller_last_campaign is null', order: 'campaign' },
        [
          { ppc_campaign: 'Nobody', calls: 1 },
          { ppc_campaign: null, calls: 1 },
        ],
      ],
    ] as const)('%s', async (_, question, rows) => {
      const part = createAnswers(plansOf([question]));
      const whole = createAnswers(plansOf([question]));
      for (const [i, each] of touched.entries()) (i % 2 === 0 ? part : whole).add(each);
      whole.merge(part);
      expect(whole.answers()[0]?.rows).toEqual(rows);
      expect((await answerQuestion(question, touched)).rows).toEqual(rows);
    });
  });
});

describe('rows', () => {
  test('only buckets that exist together are made up, and none that the condition keeps empty', async () => {
    const days = await rowsOf({ groupBy: ['weekday', 'day'], period: '2026-10-01 to 2026-10-04' });
    expect(days.map(({ weekday, day }) => `${weekday} ${day}`)).toEqual([
      'Thu 2026-10-01',
      'Fri 2026-10-02',
      'Sat 2026-10-03',
      'Sun 2026-10-04',
    ]);

    const dates = async (where: string) =>
      (await rowsOf({ groupBy: ['day'], period: '2026-10-01 to 2026-10-04', where })).map(
        ({ day }) => day,
      );

    expect(await dates("weekday NOT IN ('Sat', 'Sun')")).toEqual(['2026-10-01', '2026-10-02']);
    expect(await dates("date_added >= '2026-10-03'")).toEqual(['2026-10-03', '2026-10-04']);
    expect(await dates("date_added = '2026-10-03' OR day = '2026-10-04'")).toEqual([
      '2026-10-03',
      '2026-10-04',
    ]);
    expect(await dates("date_added > '2026-10-04 12:00:00'")).toEqual(['2026-10-04']);
    const hours = await rowsOf({ groupBy: ['hour'], where: 'hour >= 8', order: 'calls asc' });
    expect(hours.every(({ hour }) => Number(hour) >= 8)).toBe(true);
    expect(hours).toHaveLength(16);
  });

  test('having, topPer and limit say how many groups each of them leaves out', async () => {
    const { leftOut, groups, rows } = await answerQuestion(
      { groupBy: ['campaign', 'rank'], having: 'calls > 0', topPer: 1, limit: 2 },
      calls,
    );
    expect([groups, rows.length]).toEqual([5, 2]);
    expect(leftOut.map(({ code, count }) => [code, count])).toEqual([
      ['top_per', 1],
      ['limit', 2],
    ]);
  });

  test.each([
    [{ topPer: 1 }, 'topPer goes with two groups or more'],
    [{ topPer: 1, groupBy: ['campaign'] }, 'topPer goes with two groups or more'],
    [{ order: 'calls desc' }, 'order sorts groups, and there are none: name one with `groupBy`.'],
  ])('%j is refused, since nothing would follow from it', async (question, said) => {
    await expect(answerQuestion(question, calls)).rejects.toThrow(said);
  });

  test('days without any call are named', async () => {
    const question = { groupBy: ['campaign', 'day'], where: 'hour < 21' };
    expect(said((await answerQuestion(question, calls)).notes)).toContain(
      'Day without any call: 2026-10-02.',
    );
  });

  test('a period before the calls begin is said', async () => {
    const { notes } = await answerQuestion({ period: '2026-09', compare: 'previous' }, calls);
    expect(said(notes)).toContain(
      'The first call is from 2026-10-01 10:00:00: nothing is known of the period before it.',
    );
  });

  test('a period to compare with is said in words, too: at the same moment as the period', async () => {
    const now = Date.UTC(2026, 9, 20);
    const question = { period: 'last month', timeZone: 'UTC' } as const;
    for (const [compare, from, to] of [
      ['this month', '2026-10-01 00:00:00', '2026-11-01 00:00:00'],
      ['2025-09', '2025-09-01 00:00:00', '2025-10-01 00:00:00'],
      ['previous', '2026-08-01 00:00:00', '2026-09-01 00:00:00'],
    ] as const) {
      const { compared, total } = await answerQuestion({ ...question, compare }, calls, { now });
      expect([compare, compared]).toEqual([compare, { from, to }]);
      expect(Number(total.calls_before) > 0).toBe(compare === 'this month');
    }

    await expect(
      answerQuestion({ ...question, compare: 'since 2026-01-01' }, calls, { now }),
    ).rejects.toThrow('A period to compare with needs both ends.');
  });

  test.each([
    ['last week', 'previous', []],
    [
      'last month',
      'previous',
      ['The periods have 30 and 31 days: compare the change per day of calls.'],
    ],
    [
      'this month',
      'last month',
      [
        'The period is not over: 2026-10-01 to 2026-10-19 is compared with 2026-09-01 to 2026-09-19.',
      ],
    ],
  ] as const)('%s against %s: what is not alike is said', async (period, compare, notes) => {
    const now = Date.UTC(2026, 9, 20);
    const answer = await answerQuestion({ period, compare, timeZone: 'UTC' }, calls, { now });
    const codes = ['unfinished', 'part_compared', 'per_day'];
    expect(said(answer.notes.filter(({ code }) => codes.includes(code)))).toEqual(notes);
  });

  test('of periods of different length, what adds up has a change per day, too; callers and rates have none', async () => {
    const measures = ['calls', 'callers', 'missed_rate', 'talk_sum'];
    const { total, columns } = await answerQuestion(
      { measures, from: '2026-10-01', to: '2026-10-01', compare: '2026-10-02 to 2026-10-03' },
      calls,
    );
    expect(total).toEqual({
      calls: 2,
      calls_before: 3,
      calls_change: -1,
      calls_change_percent: -33.3333333333,
      calls_change_per_day: 0.5,
      callers: 1,
      callers_before: 2,
      callers_change: -1,
      missed_rate: 0.5,
      missed_rate_before: 0.5,
      missed_rate_change: 0,
      talk_sum: 2,
      talk_sum_before: 1,
      talk_sum_change: 1,
      talk_sum_change_percent: 100,
      talk_sum_change_per_day: 1.5,
    });
    expect(columns.find(({ name }) => name === 'talk_sum_change_per_day')?.unit).toBe('minutes');
  });

  test('a period is not compared with itself', async () => {
    await expect(
      rowsOf({ period: '2026-10', compare: '2026-10-01 to 2026-10-31' }),
    ).rejects.toThrow('A period cannot be compared with itself');
  });

  describe('an account is called by what it is counted as, by its other names, or by the ID in its calls', () => {
    const namesOf = (account: string) => (account === 'm' ? ['Main office'] : []);
    const ofBoth = [
      ...calls.map((each) => ({ account: 'm', record: { ...each, acct_id: '101' } as Call })),
      { account: 'b', record: call('z', { acct_id: '102', talk_minutes: '0.0' }) },
    ];
    const counted = (question: Question) => {
      const running = createAnswers([planQuestion(question)], { namesOf });
      for (const { account, record } of ofBoth) running.add(record, account);
      return running.answers()[0];
    };

    test.each([
      ["account = 'm'", 5],
      ["account = 'main office'", 5],
      ["account = '101'", 5],
      ["account == 'main office'", 0],
      ["account IN ('102', 'nobody')", 1],
      ["account LIKE 'main%'", 5],
      ["account <> '101'", 1],
      ["NOT account = 'Main office'", 1],
      ["account <> 'b'", 5],
      ["account = '103'", 0],
    ])('%s', (where, number) => {
      expect(counted({ where })?.calls).toBe(number);
      const { judge } = selectCalls(planCalls({ where }), { namesOf });
      const found = ofBoth.filter(({ account, record }) => judge(record, account) === 'selected');
      expect(found).toHaveLength(number);
    });

    test('in a measure too', () => {
      const answer = counted({
        measures: ["count(account = '102') as there", "count(account = 'main office') as here"],
      });
      expect(answer?.total).toMatchObject({ there: 1, here: 5 });
    });

    test('a name that none has is said, with those that there are; one that it has is not', () => {
      expect(said(counted({ where: "account = 'main'" })?.notes ?? [])).toEqual([
        "account is never 'main'; nearest: 'Main office'.",
      ]);
      expect(said(counted({ where: "account = '102' AND missed = FALSE" })?.notes ?? [])).toEqual(
        [],
      );
    });
  });

  test('several accounts are one question: order and limit hold for all', async () => {
    const running = createAnswers(plansOf([{ groupBy: ['account', 'campaign'], limit: 3 }]));
    for (const each of calls) running.add(each, each.sid < 'c' ? 'one' : 'two');
    expect(running.answers()[0]?.rows).toHaveLength(3);
  });
});

test('several questions take one pass, over anything that gives calls', async () => {
  let read = 0;

  async function* source() {
    for (const each of calls) {
      read += 1;
      yield each;
    }
  }

  const [first, second] = await answersOf(
    [{ measures: ['callers'] }, { groupBy: ['day'] }],
    source(),
  );
  expect([read, first?.total, second?.rows.length]).toEqual([5, { callers: 2 }, 3]);
});

test('parts that are merged give the answer of the whole', async () => {
  const measures = ['callers', 'repeat_callers', 'talk_median', 'first_time_callers'];
  const questions = [{ groupBy: ['campaign'], measures }, { groupBy: ['day'] }];
  const left = createAnswers(plansOf(questions));
  const right = createAnswers(plansOf(questions));
  calls.forEach((each, i) => {
    (i % 2 === 0 ? left : right).add(each);
  });
  left.merge(right);
  expect(left.answers()).toEqual(await answersOf(questions, calls));
});

test('columns give the answer of the records, and a question says which it needs', async () => {
  const questions: Question[] = [
    {
      groupBy: ['campaign'],
      measures: ['calls', 'first_time_callers', 'talk_p90'],
      where: 'rank >= 1',
    },
    { groupBy: ['click_kind'], period: '2026-10-02' },
  ];
  const fields = [
    ...new Set(createAnswers(plansOf(questions)).needs.flatMap((need) => need.fields)),
  ];
  expect([...fields].sort()).toEqual([
    'ani',
    'conversion_page',
    'date_added',
    'first_touch',
    'is_extension',
    'landing_page',
    'last_touch',
    'ppc_campaign',
    'ppc_gclid',
    'rank',
    'talk_minutes',
    'url_tag',
  ]);
  const columns = Object.fromEntries(
    fields.map((name) => [
      name,
      calls.map(
        (each) => ({ ...each, is_extension: isCallExtension(each) })[name as keyof Call] ?? null,
      ),
    ]),
  );
  const batch: ColumnBatch = { length: calls.length, columns };
  expect(await answersOf(questions, [batch])).toEqual(await answersOf(questions, calls));
});

test('a part of the calls in which none has a time does not hide where the others end', () => {
  const plan = planQuestion({ measures: ['reached_within(1)'] });
  const missed = { ani: '5555550101', talk_minutes: '0.0' };
  const whole = createAnswers([plan]);
  whole.add(call('S1', { ...missed, date_added: '2026-10-01 10:00:00' }));
  whole.add(call('S2', { ...missed, ani: '5555550102', date_added: '2026-10-01 20:00:00' }));
  const part = createAnswers([plan]);
  part.add(call('S3', { ...missed, date_added: '' }));
  whole.merge(part);
  expect(whole.answers()[0]?.total).toEqual({
    reached_within_1: 0,
    reached_within_1_of: 1,
  });
});

test('a question that was not planned is refused with what to do', () => {
  const question = { measures: ['calls'] };
  expect(() => createAnswers([question as never])).toThrow('planQuestion(question)');
});

describe('what a plan needs of the calls, in the order of time', () => {
  const at = (day: string) => parseNaive(`${day} 00:00:00`);
  const always = ['date_added', 'is_extension'];

  test('its period and the one that it is compared with; and calls without a time', () => {
    const { needs } = planQuestion({ period: '2026-10-03', compare: '2026-10-01' });
    expect(needs).toEqual([
      { period: undated, fields: always },
      { period: periodOf(at('2026-10-01'), at('2026-10-02')), fields: always },
      { period: periodOf(at('2026-10-03'), at('2026-10-04')), fields: always },
    ]);
    expect(planQuestion({}).needs).toEqual([
      { period: undated, fields: always },
      { period: dated, fields: always },
    ]);
  });

  test('of earlier calls only what says whose first call it is, and nothing of later ones', () => {
    const question = { groupBy: ['city'], measures: ['first_time_callers'], period: '2026-10-02' };
    const { needs } = planQuestion(question);
    const other = [...always, 'ani'];
    expect(needs).toEqual([
      { period: undated, fields: [...other, 'city'] },
      { period: periodOf(null, at('2026-10-02')), fields: other },
      { period: periodOf(at('2026-10-02'), at('2026-10-03')), fields: [...other, 'city'] },
    ]);
  });

  test('of later calls, too, where something follows from them', () => {
    const { needs } = planQuestion({ measures: ['reached_within(24)'], period: '2026-10-02' });
    expect(needs.map(({ period }) => period)).toEqual([undated, dated]);
  });

  test('a day of another zone needs a day more on each side', () => {
    const question = { period: '2026-10-02', timeZone: 'UTC', inZone: 'Asia/Tokyo' };
    const [, need] = planQuestion(question).needs;
    expect(need?.period).toEqual(padded(periodOf(at('2026-10-02'), at('2026-10-03'))));
  });
});

test('what needs more memory than it may use is refused', async () => {
  const many = Array.from({ length: 500 }, (_, i) => call(`S${i}`, { city: `City ${i}` }));
  await expect(answerQuestion({ groupBy: ['city'] }, many, { memory: 20_000 })).rejects.toThrow(
    'The exact answer needs more than the 0 MB that it may use.',
  );
  await expect(
    answerQuestion({ measures: ['first_time_callers'] }, many, { memory: 20_000 }),
  ).rejects.toThrow('The exact answer needs more');
});

test('one sentence says how call extensions are counted', async () => {
  const all = await answerQuestion({}, calls);
  expect(extensionsSentence(all.extensions)).toBe(
    '1 call through call extensions is counted; the API leaves them out without inc_gce:1.',
  );
  const website = await answerQuestion({ calls: 'website' }, calls);
  expect(extensionsSentence(website.extensions)).toBe(
    '1 call through call extensions is left out.',
  );
  expect(extensionsSentence({ counted: 0, leftOut: 0 })).toBe('');
});

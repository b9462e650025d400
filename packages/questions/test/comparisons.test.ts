import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { instantOf, parseNaive } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  answerQuestion,
  createAnswers,
  planQuestion,
  type Question,
} from '../src/index.ts';

const [plain] = fixtureCalls(1);
const newYork = 'America/New_York';

/** The instant at which the clock in New York shows a time. */
const at = (time: string): number => instantOf(parseNaive(time), newYork).epochMs;

let made = 0;
const called = (times: readonly string[], talk = '2.0', campaign = 'Brand'): Call[] =>
  times.map((date_added) => {
    made += 1;
    return Object.assign({}, plain, {
      sid: `S${made}`,
      date_added,
      talk_minutes: talk,
      ppc_campaign: campaign,
    });
  });

/** A call at each of these hours of each day. */
const daily = (month: string, days: number, hours: readonly string[]): string[] =>
  Array.from({ length: days }, (_, at) => String(at + 1).padStart(2, '0')).flatMap((day) =>
    hours.map((hour) => `${month}-${day} ${hour}:00`),
  );

const compare = (
  question: Question,
  calls: readonly Call[],
  now = '2026-11-28 12:00:00',
): Promise<Answer> =>
  answerQuestion({ compare: 'previous', timeZone: newYork, ...question }, calls, { now: at(now) });

const ends = ({ period, compared }: Answer) => [
  period.from,
  period.to,
  compared?.from,
  compared?.to,
];
const said = ({ notes }: Answer, ...codes: string[]): string[] =>
  notes.filter(({ code }) => codes.includes(code)).map(({ message }) => message);

describe('the columns of a comparison', () => {
  const calls = [
    ...called(daily('2026-09', 30, ['09:00'])),
    ...called(daily('2026-10', 31, ['09:00', '15:00']), '0.0'),
    ...called(['2026-10-05 10:00:00'], '4.0', 'New'),
  ];

  test('the difference of the two columns beside it, percent of the earlier one, and per day', async () => {
    const { rows, total, columns } = await compare(
      { period: '2026-10', groupBy: ['campaign'], measures: ['calls'] },
      calls,
    );
    expect(columns.map(({ name, kind, unit }) => [name, kind, unit])).toEqual([
      ['ppc_campaign', 'group', 'value'],
      ['calls', 'measure', 'calls'],
      ['calls_before', 'before', 'calls'],
      ['calls_change', 'change', 'calls'],
      ['calls_change_percent', 'change_percent', 'percent'],
      ['calls_change_per_day', 'change_per_day', 'number'],
    ]);
    expect(rows).toEqual([
      {
        ppc_campaign: 'Brand',
        calls: 62,
        calls_before: 30,
        calls_change: 32,
        calls_change_percent: 106.666666667,
        calls_change_per_day: 1,
      },
      {
        ppc_campaign: 'New',
        calls: 1,
        calls_before: 0,
        calls_change: 1,
        calls_change_percent: null,
        calls_change_per_day: 0.0322580645161,
      },
    ]);
    expect(total).toMatchObject({ calls: 63, calls_before: 30, calls_change: 33 });
  });

  test('of rates, means and callers the difference alone: a rate changes in points', async () => {
    const { total } = await compare(
      { period: '2026-10', measures: ['missed_rate', 'talk_mean', 'callers', 'share', 'calls'] },
      calls,
    );
    expect(Object.keys(total).filter((name) => name.includes('_change_'))).toEqual([
      'calls_change_percent',
      'calls_change_per_day',
    ]);
    expect(total).toMatchObject({
      missed_rate: 62 / 63,
      missed_rate_before: 0,
      missed_rate_change: 0.984126984127,
    });
  });

  test('weeks have as many days: nothing is said per day', async () => {
    const answer = await compare({ period: 'last week' }, calls, '2026-10-20 12:00:00');
    expect(answer.total).toEqual({
      calls: 14,
      calls_before: 15,
      calls_change: -1,
      calls_change_percent: -6.66666666667,
    });
    expect(said(answer, 'per_day', 'part_compared')).toEqual([]);
  });

  test('months have the same columns whatever their length, and say when it differs', async () => {
    const both = [
      await compare({ period: '2026-10' }, calls),
      await compare({ period: '2026-08' }, calls),
    ];
    expect(both.map(({ columns }) => columns.at(-1)?.name)).toEqual([
      'calls_change_per_day',
      'calls_change_per_day',
    ]);
    expect(both.map((answer) => said(answer, 'per_day'))).toEqual([
      ['The periods have 31 and 30 days: compare the change per day of calls.'],
      [],
    ]);
  });

  test('rows are ordered and chosen by any of them', async () => {
    const { rows } = await compare(
      {
        period: '2026-10',
        groupBy: ['campaign'],
        order: 'calls_change_per_day',
        having: 'calls_change_percent IS NULL OR calls_change_percent > 100',
      },
      calls,
    );
    expect(rows.map(({ ppc_campaign: campaign }) => campaign)).toEqual(['New', 'Brand']);
  });
});

describe('a period that is not over is compared with the same part of the one before', () => {
  test.each([
    // What, now, up to when, and from when to when before.
    ['this month', '2026-11-28 12:00:00', '2026-10-01 00:00:00', '2026-10-28 12:00:00'],
    ['this month', '2026-03-30 08:00:00', '2026-02-01 00:00:00', '2026-03-01 00:00:00'],
    ['month to date', '2026-11-28 12:00:00', '2026-10-01 00:00:00', '2026-10-28 12:00:00'],
    ['this quarter', '2026-03-31 09:00:00', '2025-10-01 00:00:00', '2025-12-31 09:00:00'],
    ['this quarter', '2026-05-31 09:00:00', '2026-01-01 00:00:00', '2026-03-01 00:00:00'],
    ['this year', '2028-03-01 09:00:00', '2027-01-01 00:00:00', '2027-03-01 09:00:00'],
    ['this week', '2026-11-27 20:00:00', '2026-11-16 00:00:00', '2026-11-20 20:00:00'],
    // The day before had 23 hours, this one has 25: both are counted by their own clock.
    ['today', '2026-03-09 15:00:00', '2026-03-08 00:00:00', '2026-03-08 15:00:00'],
    ['today', '2026-11-01 15:00:00', '2026-10-31 00:00:00', '2026-10-31 15:00:00'],
  ])('%s at %s', async (period, now, from, to) => {
    const answer = await compare({ period }, [], now);
    expect(ends(answer).slice(1)).toEqual([now, from, to]);
    expect(said(answer, 'part_compared')[0]).toMatch(/^The period is not over: /);
  });

  test('which part it is, is said', async () => {
    const answer = await compare({ period: 'this month' }, []);
    expect(said(answer, 'part_compared')).toEqual([
      'The period is not over: 2026-11-01 to 2026-11-28 12:00 is compared with 2026-10-01 to 2026-10-28 12:00.',
    ]);
  });

  test('equal days are no fall at noon', async () => {
    const calls = called([
      ...daily('2026-10', 31, ['09:00', '15:00']),
      ...daily('2026-11', 28, ['09:00', '15:00']),
    ]);
    const answer = await compare({ period: 'this month' }, calls);
    expect(answer.total).toMatchObject({ calls: 55, calls_before: 55, calls_change: 0 });
    expect(said(answer, 'per_day')).toEqual([]);
  });

  test('the same a year earlier, and a month that is named', async () => {
    const question = { period: 'this month' } as const;
    expect(ends(await compare({ ...question, compare: 'year' }, []))).toEqual([
      '2026-11-01 00:00:00',
      '2026-11-28 12:00:00',
      '2025-11-01 00:00:00',
      '2025-11-28 12:00:00',
    ]);
    expect(ends(await compare({ ...question, compare: '2026-08' }, [])).slice(2)).toEqual([
      '2026-08-01 00:00:00',
      '2026-08-28 12:00:00',
    ]);
  });

  test('a period of another kind stays whole: per day it can be compared', async () => {
    const answer = await compare({ period: 'this week', compare: '2026-10' }, []);
    expect(ends(answer)).toEqual([
      '2026-11-23 00:00:00',
      '2026-11-30 00:00:00',
      '2026-10-01 00:00:00',
      '2026-11-01 00:00:00',
    ]);
    expect(Object.keys(answer.total)).toContain('calls_change_per_day');
  });

  test('what is over, or has not begun, is compared whole', async () => {
    for (const period of ['last month', '2027-01']) {
      const answer = await compare({ period }, []);
      expect(said(answer, 'part_compared')).toEqual([]);
      expect(answer.period.to).toMatch(/-01 00:00:00$/);
    }
  });

  test('without a comparison a period is what it was', async () => {
    const answer = await answerQuestion({ period: 'this month', timeZone: newYork }, [], {
      now: at('2026-11-28 12:00:00'),
    });
    expect(answer.period.to).toBe('2026-12-01 00:00:00');
    expect(said(answer, 'unfinished')).toEqual(['The period is not over: 27 of 30 days are.']);
  });
});

describe('the last days up to now', () => {
  test('today is left out on both sides, which is said', async () => {
    const answer = await compare({ from: '7d' }, []);
    expect(ends(answer)).toEqual([
      '2026-11-21 00:00:00',
      '2026-11-28 00:00:00',
      '2026-11-14 00:00:00',
      '2026-11-21 00:00:00',
    ]);
    expect(said(answer, 'part_compared')).toEqual([
      'Today is left out, since it is not over: 2026-11-21 to 2026-11-27 is compared with 2026-11-14 to 2026-11-20.',
    ]);
  });

  test('they have today where nothing is compared', async () => {
    const { period } = await answerQuestion({ from: '7d', timeZone: newYork }, [], {
      now: at('2026-11-28 12:00:00'),
    });
    expect(period.to).toBe('2026-11-28 12:00:01');
  });

  test('of today alone there is nothing to leave out: it is compared up to now', async () => {
    expect(ends(await compare({ from: '0d' }, []))).toEqual([
      '2026-11-28 00:00:00',
      '2026-11-28 12:00:00',
      '2026-11-27 00:00:00',
      '2026-11-27 12:00:00',
    ]);
  });
});

describe('a period compared with, of which nothing is known', () => {
  const calls = called(daily('2026-10', 31, ['09:00', '15:00']));
  const ask = (question: Question) => askOf(calls, '2026-10-01 09:00:00', question);
  const askOf = (calls: readonly Call[], first: string, question: Question) => {
    const last = '2026-10-31 15:00:00';
    const time = '2026-11-01T12:00:00.000Z';
    const own = { account: '', calls: calls.length, first, last, since: null };
    const answers = createAnswers([
      planQuestion({ timeZone: newYork, ...question }, { now: at('2026-11-01 12:00:00') }),
    ]);
    for (const call of calls) answers.add(call, '');
    return answers.answers([{ ...own, storedAt: time, syncedAt: time }])[0] as Answer;
  };

  test('has no numbers, not 0, and a note says why', () => {
    const { rows, total, ...answer } = ask({
      period: '2026-10',
      compare: 'year',
      groupBy: ['campaign'],
      measures: ['calls', 'missed_rate', 'callers'],
    });
    for (const cells of [total, ...rows])
      expect(cells).toMatchObject({
        calls: 62,
        calls_before: null,
        calls_change: null,
        calls_change_percent: null,
        missed_rate_before: null,
        callers_before: null,
      });
    expect(said(answer as Answer, 'first_call')).toEqual([
      'The first call is from 2026-10-01 09:00:00: nothing is known of the period before it.',
    ]);
  });

  test('has numbers from the day on from which calls are known', () => {
    const { rows, total } = ask({
      period: '2026-10-08 to 2026-10-21',
      compare: 'previous',
      groupBy: ['day'],
      measures: ['calls'],
    });
    expect(rows.map(({ calls_before }) => calls_before).slice(5, 9)).toEqual([null, null, 2, 2]);
    expect(total).toMatchObject({ calls: 28, calls_before: null, calls_change: null });
  });

  test('a month has neither 0 nor a part: of the one in which calls begin, most may be missing', () => {
    const before = (period: string, compare: string) =>
      ask({ period, compare, groupBy: ['month'], measures: ['calls', 'share'] }).rows.map(
        ({ month, calls_before, share_before }) => [month, calls_before, share_before],
      );

    // Calls begin with October, and most of what is compared lies before them.
    expect(before('2026-10-08 to 2026-10-31', '2026-09-08 to 2026-10-09')).toEqual([
      ['2026-10', null, null],
      ['2026-11', 18, null],
    ]);
  });

  test('a month or week is not one of which the calls begin after the period', () => {
    const later = called(daily('2026-10', 31, ['09:00', '15:00']).slice(40));
    const ask20 = (groupBy: string) =>
      askOf(later, '2026-10-21 09:00:00', {
        period: '2026-10-24 to 2026-10-27',
        compare: '2026-10-19 to 2026-10-20',
        groupBy: [groupBy],
        measures: ['calls'],
      }).rows.map(({ calls_before }) => calls_before);
    expect(ask20('month')).toEqual([null]);
    expect(ask20('week')).toEqual([null, null]);
  });

  test('a month of which more than a tenth is missing has no number, and a whole one has', () => {
    const later = called([
      ...daily('2026-09', 30, ['09:00']).slice(20),
      ...daily('2026-10', 31, ['09:00']),
    ]);
    const { rows } = askOf(later, '2026-09-21 09:00:00', {
      period: '2026-10',
      compare: '2026-09-15 to 2026-10-31',
      groupBy: ['month'],
      measures: ['calls'],
    });
    expect(rows.map(({ calls, calls_before }) => [calls, calls_before])).toEqual([
      [31, null],
      [null, 31],
    ]);
  });
});

import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { parseNaive } from '@call-attribution/core/time';
import { createAnswers, planQuestion, type Question } from '@call-attribution/questions';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { ask, openStore, statusesOf, verdictsOf } from '../src/index.ts';

const calls = fixtureCalls(120) as Call[];
const kept = { '101': calls.slice(0, 80), '102': calls.slice(80) };
const times = calls.map(({ date_added }) => date_added).sort();
const middle = times[60] as string;

/** The same question over the records themselves. */
function overRecords(question: Question, accounts: readonly (keyof typeof kept)[]) {
  const running = createAnswers([planQuestion(question)]);
  for (const account of accounts) for (const call of kept[account]) running.add(call, account);
  return running.answers()[0];
}

describe.each(testStores())('a store of $kind is asked', ({ newUrl }) => {
  const opened = async () => {
    const store = await openStore(await newUrl());
    for (const [id, all] of Object.entries(kept)) {
      await store.putAccount({ id, name: `Account ${id}` });
      await store.upsert(id, all);
    }
    return store;
  };

  test.each<Question>([
    { groupBy: ['account'], measures: ['calls', 'missed', 'talk_mean'] },
    { groupBy: ['campaign'], measures: ['calls', 'first_time_callers'], from: middle },
    { groupBy: ['caller_type'], to: middle, compare: undefined },
    { measures: ['calls', 'called_again_within(24)', 'reached_within(24)'], from: middle },
    { groupBy: ['caller_first_campaign', 'weekday'], from: middle, where: 'talk_minutes >= 1' },
  ])('and answers as over the records themselves: %j', async (question) => {
    await using store = await opened();
    const { answer } = await store.ask(question);
    const expected = overRecords(question, ['101', '102']);
    expect(answer.rows).toEqual(expected?.rows);
    expect(answer.total).toEqual(expected?.total);
    expect(answer.calls).toBe(expected?.calls);
  });

  test('about some accounts, under other names, and from where their calls are known', async () => {
    await using store = await opened();
    const { answer, verdicts } = await store.ask({}, { accounts: ['102'] });
    expect(answer.calls).toBe(kept['102'].length);
    expect(answer.accounts.map(({ account }) => account)).toEqual(['102']);
    expect(verdicts).toEqual([null]);

    const from = parseNaive(middle);
    const copies = [{ store, account: '101', name: 'main', from }];
    const plans = [planQuestion({ groupBy: ['account'] })];
    const answers = await ask(plans, copies);
    const known = kept['101'].filter((call) => call.date_added >= middle).length;
    expect(answers[0]?.rows).toEqual([{ account: 'main', calls: known }]);
    expect(await statusesOf(copies)).toMatchObject([{ account: 'main', syncedAt: null }]);
    expect(await verdictsOf(plans, copies)).toEqual([null]);
  });

  test('what is compared ends with the copy that was synced first', async () => {
    await using store = await opened();
    const asked: Question = { period: 'this week', compare: 'previous', timeZone: 'UTC' };
    const plans = [planQuestion(asked, { now: Date.parse('2026-11-28T12:00:00Z') })];
    const endsAsOf = async (...syncs: (string | null)[]) => {
      const statuses = syncs.map((syncedAt, i) => ({
        account: ['101', '102'][i] ?? '',
        calls: 1,
        first: null,
        last: null,
        since: null,
        storedAt: syncedAt,
        syncedAt,
      }));
      const copies = syncs.map((_, i) => ({ store, account: ['101', '102'][i] ?? '' }));
      const [answer] = await ask(plans, copies, { statuses });
      return [answer?.period.to, answer?.compared?.to, answer?.notes[0]?.message];
    };
    expect(await endsAsOf('2026-11-28T11:50:00.000Z', '2026-11-27T06:30:00.000Z')).toEqual([
      '2026-11-27 06:30:00',
      '2026-11-20 06:30:00',
      'Calls are known up to 2026-11-27 06:30: 2026-11-23 to 2026-11-27 06:30 is compared with 2026-11-16 to 2026-11-20 06:30.',
    ]);
    expect(await endsAsOf('2026-11-28T11:50:00.000Z', null)).toEqual([
      '2026-11-28 11:50:00',
      '2026-11-21 11:50:00',
      'The period is not over: 2026-11-23 to 2026-11-28 11:50 is compared with 2026-11-16 to 2026-11-21 11:50.',
    ]);
  });

  test('a condition calls an account by its ID or by the name that the store has', async () => {
    await using store = await opened();
    for (const called of ['102', 'account 102']) {
      const { answer } = await store.ask({ where: `account = '${called}'` });
      expect(answer.calls).toBe(kept['102'].length);
    }
  });

  test('what is left out of a selection means all calls', async () => {
    await using store = await opened();
    expect(await store.count('101')).toBe(80);
    let listed = 0;
    for await (const _ of store.calls('101')) listed += 1;
    let read = 0;
    for await (const { length } of store.columns('101', ['sid'])) read += length;
    expect([listed, read]).toEqual([80, 80]);
    const website = kept['101'].filter(({ channel }) => channel !== 'Call Extension').length;
    expect(await store.count('101', { extensions: false })).toBeLessThanOrEqual(website);
  });
});

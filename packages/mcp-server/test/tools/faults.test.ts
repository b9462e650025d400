import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { ask, type Content } from '../support/ask.ts';
import { fakeClient } from '../support/fake-client.ts';

// Answers that were wrong once. What is right is worked out from the records in plain JavaScript.

const calls: readonly Call[] = fixtureCalls(400).map(
  (call, i): Call => ({
    ...call,
    channel: 'Tracker',
    talk_minutes: talkOf(i) ?? call.talk_minutes,
    referrer: i % 3 === 0 ? '' : 'www.example.com',
    search_term: termOf(i),
    ppc_campaign: ['Harbor Dental | Brand', 'Harbor Dental | Generic', null][i % 3] ?? null,
    displayed_timestamp: call.date_added,
  }),
);

function talkOf(i: number): string | undefined {
  if (i % 7 === 0) return '-';
  return i % 5 === 0 ? '0.0' : undefined;
}

function termOf(i: number): string | null {
  if (i % 4 === 0) return '';
  return i % 3 === 0 ? null : 'dentist';
}

const analyze = (args: object): Promise<Content> =>
  ask(createServer(fakeClient(calls)), 'analyze_calls', { calls: 'all', ...args });

describe('once wrong', () => {
  it('a call without talk minutes is not missed, whichever way it is asked', async () => {
    const missed = calls.filter((call) => call.talk_minutes === '0.0').length;
    const { rows } = await analyze({ group_by: ['missed'], measures: ['calls'] });
    expect(Object.fromEntries(rows)).toMatchObject({
      true: missed,
      null: calls.filter((call) => call.talk_minutes === '-').length,
    });
    expect((await analyze({ where: 'missed' })).calls).toBe(missed);
    expect((await analyze({ measures: ['missed', 'count(missed) as counted'] })).rows).toEqual([
      [missed, missed],
    ]);
  });

  it('empty and null are one nothing', async () => {
    const nothing = calls.filter(({ search_term: term }) => !term).length;
    expect((await analyze({ where: 'search_term IS NULL' })).calls).toBe(nothing);
    const { rows } = await analyze({ group_by: ['search_term'], measures: ['calls'] });
    expect(Object.fromEntries(rows)).toMatchObject({ null: nothing });
    expect((await analyze({ measures: ['without(search_term)'] })).rows).toEqual([[nothing]]);
  });

  it('costs belong to the groups that they name, and the total counts those alone', async () => {
    const brand = calls.filter(({ ppc_campaign: name }) => name === 'Harbor Dental | Brand').length;
    const asked = { group_by: ['campaign'], measures: ['calls'] };
    const { rows, columns, totals } = await analyze({
      ...asked,
      spend: ['harbor dental | brand=670'],
    });
    expect(columns).toEqual(['ppc_campaign', 'calls', 'spend', 'cost_per_call']);
    const of = Object.fromEntries(rows.map(([name, ...rest]: unknown[]) => [name, rest]));
    expect(of['«Harbor Dental | Brand»']).toEqual([brand, 670, 5]);
    expect(of['«Harbor Dental | Generic»']?.slice(1)).toEqual([null, null]);
    expect(totals).toMatchObject({ spend: 670, cost_per_call: 5 });
    const unknown = await analyze({ ...asked, spend: ['Brand=900'] });
    expect(unknown.notes.join()).toContain("'Harbor Dental | Brand'");
  });

  it('what having and top_per leave out is not promised by a higher limit', async () => {
    const having = await analyze({ group_by: ['sid'], having: 'calls > 1' });
    expect([having.rows, having.groups]).toEqual([[], 0]);
    expect(having.summary).toContain('400 groups; 0 meet having');
    expect(having.summary).not.toContain('A higher limit');
    const top = await analyze({ group_by: ['campaign', 'city'], top_per: 1, limit: 50 });
    expect(top.rows).toHaveLength(3);
    expect(top.summary).toContain('top_per leaves out');
    expect(top.summary).not.toContain('A higher limit');
  });

  it.each([
    [{ top_per: 3 }, 'top_per goes with two groups or more'],
    [{ order: 'calls desc' }, 'order sorts groups, and there are none: name one with group_by.'],
  ])('%j without groups is refused', async (args, said) => {
    const { isError, content } = await callTool(
      createServer(fakeClient(calls)),
      'analyze_calls',
      args,
    );
    expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining(said)]);
  });
});

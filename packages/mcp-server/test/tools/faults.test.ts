import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { type CallsMcpOptions, callTool, createServer } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
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

interface Answer {
  readonly summary: string;
  readonly columns: string[];
  readonly rows: (string | number | null)[][];
  readonly totals: Record<string, number>;
  readonly calls: number;
  readonly groups: number;
  readonly notes: string[];
}

async function analyze(args: Record<string, unknown>, options: CallsMcpOptions = {}): Promise<Answer> {
  const server = createServer(fakeClient(calls), options);
  const { structuredContent, content } = await callTool(server, 'analyze_calls', { calls: 'all', ...args });
  expect(structuredContent, content[0]?.text).toBeDefined();
  return structuredContent as unknown as Answer;
}

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
    const { rows, columns, totals } = await analyze({ ...asked, spend: ['harbor dental | brand=670'] });
    expect(columns).toEqual(['ppc_campaign', 'calls', 'spend', 'cost_per_call']);
    const of = Object.fromEntries(rows.map(([name, ...rest]) => [name, rest]));
    expect(of['«Harbor Dental | Brand»']).toEqual([brand, 670, 5]);
    expect(of['«Harbor Dental | Generic»']?.slice(1)).toEqual([null, null]);
    expect(totals).toMatchObject({ spend: 670, cost_per_call: 5 });
    const unknown = await analyze({ ...asked, spend: ['Brand=900'] });
    expect(unknown.notes.join()).toContain("'Harbor Dental | Brand'");
  });

  it('what having and top_per leave out is not promised by a higher limit', async () => {
    const having = await analyze({ group_by: ['sid'], having: 'calls > 1' });
    expect(having.rows).toEqual([]);
    expect(having.summary).toContain('400 groups; 0 meet having');
    expect(having.summary).not.toContain('A higher limit');
    const top = await analyze({ group_by: ['campaign', 'city'], top_per: 1, limit: 50 });
    expect(top.rows).toHaveLength(3);
    expect(top.summary).toContain('top_per leaves out');
    expect(top.summary).not.toContain('A higher limit');
  });

  it('a weekday has only its own days', async () => {
    const { rows } = await analyze({ group_by: ['weekday', 'day'], measures: ['calls'], limit: 500 });
    for (const [weekday, day] of rows)
      expect(weekday).toBe(
        ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][new Date(`${day}T00:00:00Z`).getUTCDay()],
      );
  });

  it('hours that a condition leaves out are not in the answer', async () => {
    const { rows } = await analyze({ group_by: ['hour'], where: 'hour >= 8', order: 'calls asc', limit: 3 });
    for (const [hour] of rows) expect(Number(hour)).toBeGreaterThanOrEqual(8);
  });

  it('minutes from visit to call are compared as they are', async () => {
    const late = calls.map((call, i) => ({
      ...call,
      displayed_timestamp: new Date(
        Date.parse(`${call.date_added.replace(' ', 'T')}Z`) - (i % 2 === 0 ? 302_000 : 300_000),
      )
        .toISOString()
        .slice(0, 19)
        .replace('T', ' '),
    }));
    const server = createServer(fakeClient(late));
    const { structuredContent } = await callTool(server, 'count_calls', {
      calls: 'all',
      where: 'lag_minutes <= 5',
    });
    expect(structuredContent).toMatchObject({ total: 200 });
  });

  it.each([1000, 2000, 8000])('a result fits into a budget of %d tokens', async (budget) => {
    const answer = await analyze(
      {
        group_by: ['sid', 'landing_page', 'first_touch', 'day'],
        limit: 500,
        measures: ['calls', 'share', 'talk_sum'],
      },
      { budget },
    );
    expect(estimateTokens(JSON.stringify(answer))).toBeLessThanOrEqual(budget);
    expect(answer.rows.length).toBeGreaterThan(0);
  });

  it('the order and the limit hold for all accounts', async () => {
    const [a, b] = [fixtureCalls(60, 1), fixtureCalls(40, 2)];
    const server = createServer([
      { name: 'a', client: fakeClient(a) },
      { name: 'b', client: fakeClient(b) },
    ]);
    const { structuredContent } = await callTool(server, 'analyze_calls', {
      group_by: ['city'],
      measures: ['calls'],
      calls: 'all',
      limit: 3,
    });
    const counts = new Map<unknown, number>();
    for (const { city } of [...a, ...b]) counts.set(city, (counts.get(city) ?? 0) + 1);
    const { rows, calls: all } = structuredContent as unknown as Answer;
    expect(rows.map(([, count]) => count)).toEqual([...counts.values()].sort((x, y) => y - x).slice(0, 3));
    expect(all).toBe(100);
    expect([...a, ...b].some(isCallExtension)).toBe(true);
  });
});

import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { type CallsMcpOptions, callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

const calls = fixtureCalls(137);

interface Summary {
  readonly summary: string;
  readonly columns: string[];
  readonly rows: (string | number | null)[][];
  readonly groups: number;
  readonly calls: number;
  readonly talk_minutes: number;
  readonly complete: boolean;
}

async function summarize(args: Record<string, unknown>, options: CallsMcpOptions = {}): Promise<Summary> {
  const server = createServer(fakeClient(calls), options);
  const { structuredContent } = await callTool(server, 'summarize_calls', args);
  return structuredContent as unknown as Summary;
}

describe('summarize_calls', () => {
  it.each([['channel'], ['rank'], ['city'], ['ppc_status'], ['activity_type_id']])(
    'adds up by %s as a spreadsheet would',
    async (field) => {
      const expected = new Map<unknown, { count: number; tenths: number }>();
      for (const call of calls) {
        const value = (call as unknown as Record<string, unknown>)[field] ?? null;
        const key = /^\d+$/.test(String(value)) ? Number(value) : value;
        const sums = expected.get(key) ?? { count: 0, tenths: 0 };
        sums.count += 1;
        sums.tenths += Math.round(Number(call.talk_minutes) * 10);
        expected.set(key, sums);
      }
      const result = await summarize({ group_by: field });
      expect(result.columns).toEqual([field, 'calls', 'share_percent', 'talk_minutes', 'mean_talk_minutes']);
      const sums = new Map(
        result.rows.map(([key, count, , minutes]) => [
          key,
          { count, tenths: Math.round(Number(minutes) * 10) },
        ]),
      );
      expect(sums).toEqual(expected);
      expect(result).toMatchObject({ calls: 137, complete: true, groups: expected.size });
      expect(result.rows.reduce((sum, row) => sum + Number(row[2]), 0)).toBeGreaterThan(99);
    },
  );

  it('groups by parts of the time and by two keys', async () => {
    const result = await summarize({ group_by: ['weekday', 'hour'], limit: 200 });
    expect(result.rows.reduce((sum, row) => sum + Number(row[2]), 0)).toBe(137);
    expect(result.rows[0]?.[0]).toMatch(/day$/);
    expect((await summarize({ group_by: 'day' })).rows[0]?.[0]).toMatch(/^2024-01-\d\d$/);
    expect((await summarize({ group_by: 'month' })).rows).toHaveLength(1);
  });

  it('ranks groups by their calls, and equal ones by their keys', async () => {
    const { rows } = await summarize({ group_by: ['city', 'rank'], limit: 200 });
    const ranks = rows.map((row) => [-Number(row[2]), JSON.stringify(row.slice(0, 2))] as const);
    const sorted = [...ranks].sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1));
    expect(ranks).toEqual(sorted);
  });

  it('says clearly when it could not read everything', async () => {
    const result = await summarize({}, { summaryLimits: { rows: 50 } });
    expect(result).toMatchObject({ complete: false, calls: 50 });
    expect(result.summary).toContain(
      'INCOMPLETE: read only 50 of 137 calls, stopped by the limit of 50 calls',
    );
    let now = 0;
    const slow = createServer(fakeClient(fixtureCalls(1200)), {
      now: () => (now += 11_000),
      summaryLimits: { ms: 20_000 },
    });
    const text = (await callTool(slow, 'summarize_calls')).content[0]?.text;
    expect(text).toContain('INCOMPLETE: read only 1,000 of 1,200 calls, stopped by the limit of 20 seconds');
  });

  it('says how many calls are in the groups that are not shown', async () => {
    const result = await summarize({ group_by: 'sid', limit: 10 });
    expect(result.rows).toHaveLength(10);
    expect(result.summary).toContain('137 groups; the 10 largest are shown, the others have 127 calls (93%)');
  });

  it('shows no more groups than fit into the budget', async () => {
    const result = await summarize({ group_by: ['sid', 'url_tag'], limit: 200 }, { budget: 1000 });
    expect(result.rows.length).toBeLessThan(137);
    expect(result.summary).toContain('More do not fit');
  });

  it('reports progress when the client requests it', async () => {
    const seen: unknown[] = [];
    await createServer(fakeClient(fixtureCalls(1200))).call(
      'summarize_calls',
      {},
      {
        progressToken: 'p1',
        notify: (method, params) => seen.push([method, params]),
      },
    );
    expect(seen).toEqual(
      [500, 1000, 1200].map((progress) => [
        'notifications/progress',
        { progressToken: 'p1', progress, total: 1200, message: expect.stringContaining('Read ') },
      ]),
    );
  });
});

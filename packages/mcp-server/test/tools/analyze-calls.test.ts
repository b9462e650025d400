import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { type CallsMcpOptions, callTool, createServer } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import { ask, type Content } from '../support/ask.ts';
import { fakeClient } from '../support/fake-client.ts';

const calls = fixtureCalls(137);

const summarize = (args: object, options: CallsMcpOptions = {}): Promise<Content> =>
  ask(createServer(fakeClient(calls), options), 'analyze_calls', { calls: 'all', ...args });

describe('analyze_calls', () => {
  it('groups by parts of the time and by two keys', async () => {
    const result = await summarize({ group_by: ['weekday', 'hour'], limit: 200 });
    expect(result.rows.reduce((sum, row) => sum + Number(row[2]), 0)).toBe(137);
    expect(result.rows[0]?.slice(0, 2)).toEqual(['Mon', 0]);
    expect(result.rows).toHaveLength(7 * 24);
    expect((await summarize({ group_by: 'day' })).rows[0]?.[0]).toMatch(/^2024-01-\d\d$/);
    expect((await summarize({ group_by: 'month' })).rows).toHaveLength(1);
  });

  it('shows days without a call', async () => {
    const result = await summarize({ group_by: 'day', from: '2023-12-30', to: '2024-01-10' });
    expect(result.rows).toHaveLength(12);
    expect(result.rows[0]).toEqual(['2023-12-30', 0, 0]);
  });

  it('says which days, weeks and months the period does not cover whole, and nothing where it does', async () => {
    const period = { from: '2024-01-03', to: '2024-02-04' };
    const weeks = await summarize({ group_by: 'week', ...period });
    expect(weeks.partial).toEqual({ '2024-01-01': '5 of 7 days' });
    const months = await summarize({ group_by: 'month', ...period });
    expect(months.partial).toEqual({ '2024-01': '29 of 31 days', '2024-02': '4 of 29 days' });
    for (const by of ['day', 'weekday', 'channel'])
      expect(await summarize({ group_by: by, ...period })).not.toHaveProperty('partial');
  });

  it('ranks groups by their calls, and equal ones by their keys', async () => {
    const { rows } = await summarize({ group_by: ['city', 'rank'], limit: 200 });
    const ranks = rows.map((row) => [-Number(row[2]), JSON.stringify(row.slice(0, 2))] as const);
    const sorted = [...ranks].sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1));
    expect(ranks).toEqual(sorted);
  });

  it('says how many calls are in the groups that are not shown', async () => {
    const result = await summarize({ group_by: 'sid', limit: 10 });
    expect(result.rows).toHaveLength(10);
    expect(result.summary).toContain(
      '137 groups; the first 10 are shown, the others have 127 calls (93%)',
    );
  });

  it('compares with another period, orders, and leaves out small groups', async () => {
    const [start, middle, end] = [
      '2024-01-01 10:00:00',
      '2024-01-01 13:00:00',
      '2024-01-01 16:00:00',
    ] as const;
    const result = await summarize({
      from: middle,
      to: end,
      compare: 'previous',
      group_by: 'ppc_status',
      measures: 'calls',
      having: 'calls >= 1 AND calls_before >= 1',
      order: 'calls_before desc',
    });

    const between = (from: string, to: string, status: unknown) =>
      calls.filter(
        (call) => call.date_added >= from && call.date_added < to && call.ppc_status === status,
      ).length;

    expect(result.columns).toEqual([
      'ppc_status',
      'calls',
      'calls_before',
      'calls_change',
      'calls_change_percent',
    ]);
    expect(result.rows.length).toBeGreaterThan(0);
    for (const [status, now, before, change] of result.rows) {
      expect([now, before]).toEqual([between(middle, end, status), between(start, middle, status)]);
      expect(change).toBe(Number(now) - Number(before));
    }

    expect(result.rows.map((row) => row[2])).toEqual(
      result.rows.map((row) => row[2]).sort((a, b) => Number(b) - Number(a)),
    );
  });

  it('explains what changed between two periods, by every field that usually explains it', async () => {
    const start = '2024-01-01 10:00:00';
    const middle = '2024-01-01 13:00:00';
    const end = '2024-01-01 16:00:00';
    const result = await summarize({ from: middle, to: end, compare: 'previous', explain: true });
    expect(result.columns).toEqual([
      'by',
      'value',
      'calls',
      'calls_before',
      'calls_change',
      'calls_change_percent',
    ]);

    const between = (from: string | undefined, to: string | undefined, hour: unknown) =>
      calls.filter(
        ({ date_added: at }) =>
          at >= String(from) && at < String(to) && Number(at.slice(11, 13)) === Number(hour),
      ).length;

    const hours = result.rows.filter(([by]) => by === 'hour');
    expect(hours.length).toBeGreaterThan(0);
    for (const [, hour, now, before, change] of hours) {
      expect(now).toBe(between(middle, end, hour));
      expect(change).toBe(Number(now) - Number(before));
    }

    expect(result.summary).toContain('The largest change: ');
    expect(start).toBeDefined();
    const none = await callTool(createServer(fakeClient(calls)), 'analyze_calls', {
      explain: true,
    });
    expect(none.content[0]?.text).toContain('add compare="previous"');
  });

  it('adds what a call cost', async () => {
    const result = await summarize({ group_by: 'city', spend: ['Springfield=$1,000.50'] });
    const row = result.rows.find(([city]) => city === '«Springfield»');
    expect(row?.slice(3)).toEqual([1000.5, Number((1000.5 / Number(row?.[1])).toFixed(2))]);
  });

  it.each([
    [{ group_by: 'keyword' }, 'ppc_keywords'],
    [{ group_by: 'campaign' }, 'ppc_campaign'],
    [{ group_by: 'ad group' }, 'ppc_adgroup'],
    [{ group_by: 'source' }, 'referrer'],
    [{ group_by: 'landing page' }, 'landing_page'],
    [{ group_by: 'date' }, 'day'],
  ])('takes the name that people use: %j', async (args, column) => {
    expect((await summarize(args)).columns[0]).toBe(column);
  });

  it.each([
    [{ group_by: 'ads' }, 'no field "ads"'],
    [{ group_by: 'keywrd' }, 'There is no field "keywrd" to group by. Did you mean keyword?'],
    [{ where: "stat = 'TX'" }, `Did you mean state? Use where="state = 'TX'".`],
    [{ time_zone: 'Amerika/New_York' }, 'Did you mean America/New_York?'],
    [{ from: '2026-09-31' }, 'Did you mean 2026-09-30?'],
    [{ measures: 'missd' }, 'Did you mean missed?'],
    [{ measures: ['calls', 'calls'] }, 'measures names calls twice.'],
    [{ group_by: 'city', order: 'cals' }, 'Did you mean calls?'],
    [{ group_by: 'city', having: 'cals > 2' }, 'Use having="calls > 2".'],
    [{ compare: 'previous' }, 'needs a period with both ends'],
    [{ period: '2024', compare: '2024-01-02..2024-01-01' }, 'Write the earlier time first.'],
    [{ spend: ['x=1'] }, 'spend goes with one group'],
    [{ group_by: 'city', spend: ['x'] }, '"Brand=1200.50"'],
    [{ group_by: ['a', 'b', 'c', 'd', 'e'] }, 'group_by names 5 groups: 4 at most.'],
    [{ where: 'mised' }, 'Use where="missed".'],
    [
      { measures: 'count(mised)' },
      'count(mised): There is no field mised. Did you mean missed? Use count(m',
    ],
    [
      { where: 'talk_minutes:{2 TO *]' },
      'Use where="talk_minutes > 2", and calls="all" for inc_gce:1.',
    ],
    [{ period: 'last mont' }, 'last month'],
    [{ period: 'today', from: '2024-01-01' }, 'leave out from and to'],
    [{ min_talk_minutes: 2 }, 'There is no argument "min_talk_minutes"'],
  ])('refuses %j in one sentence: %s', async (args, text) => {
    const result = await callTool(createServer(fakeClient(calls)), 'analyze_calls', args);
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain(text);
    expect(result.content[0]?.text).not.toContain('\n');
  });

  it('reads calls once for all questions about them', async () => {
    const requests: unknown[] = [];
    const many = fixtureCalls(1200);
    const client = fakeClient(many, { before: (asked) => requests.push(asked) });
    const server = createServer(client, {
      clock: { now: () => Date.parse('2024-03-01T00:00:00Z') },
    });
    const names = ['channel', 'city', 'rank', 'ppc_status', 'hour'];
    const results = await Promise.all(
      names.map((group_by) => callTool(server, 'analyze_calls', { group_by, calls: 'all' })),
    );
    for (const { structuredContent } of results)
      expect(structuredContent).toMatchObject({ calls: 1200, complete: true });
    const once = requests.length;
    expect(once).toBeLessThan(20);
    const part = await callTool(server, 'analyze_calls', {
      from: many[3]?.date_added,
      to: many[9]?.date_added,
      calls: 'all',
    });
    expect(part.structuredContent).toMatchObject({ calls: 6 });
    expect(requests, 'a part of a period that was read needs no request').toHaveLength(once);
  });

  it.each([1000, 2000, 8000])('shows no more groups than fit into %d tokens', async (budget) => {
    const group_by = ['sid', 'landing_page', 'first_touch', 'day'];
    const result = await summarize(
      { group_by, limit: 500, measures: ['calls', 'talk_sum'] },
      { budget },
    );
    expect(estimateTokens(JSON.stringify(result))).toBeLessThanOrEqual(budget);
    expect(result.rows.length).toBeGreaterThan(0);
    if (budget === 1000) expect(result.summary).toContain('More do not fit');
  });

  it('says what its columns are for the page that shows it, those with names of their own too', async () => {
    const asked = {
      group_by: ['day'],
      measures: ['count(missed) as lost', 'share(missed) as part'],
    };
    const { _meta } = await callTool(createServer(fakeClient(calls)), 'analyze_calls', asked);
    expect(_meta?.columns).toMatchObject([
      { name: 'day', kind: 'group', unit: 'time' },
      { name: 'lost', kind: 'measure', unit: 'calls' },
      { name: 'part', kind: 'measure', unit: 'share' },
    ]);
  });

  it('reports progress when the client requests it', async () => {
    const seen: unknown[] = [];
    const progress = (...each: unknown[]) => seen.push(each);
    await createServer(fakeClient(fixtureCalls(1200))).call('analyze_calls', {}, { progress });
    for (const each of seen)
      expect(each).toEqual([expect.any(Number), 1200, expect.stringMatching(/^Loaded /)]);
    expect(seen.length).toBeGreaterThan(0);
  });
});

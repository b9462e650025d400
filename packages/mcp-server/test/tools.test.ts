import { type Call, fields } from '@call-attribution/core';
import { makeCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { callTool, createServer } from '../src/index.ts';
import { estimateTokens } from '../src/results/table.ts';
import { fakeClient } from './support/fake-client.ts';

// For machines that do much else at the same time.
vi.setConfig({ testTimeout: 60_000 });

const calls = makeCalls(137);
const runs = { numRuns: Number(process.env.CALLS_RUNS ?? 25) };

interface Listed {
  readonly summary: string;
  readonly columns: string[];
  readonly rows: unknown[][];
  readonly first: number;
  readonly last: number;
  readonly total?: number;
  readonly next_cursor?: string;
  readonly notes: string[];
}

const list = async (server: ReturnType<typeof createServer>, args: Record<string, unknown>) => {
  const result = await callTool(server, 'list_calls', args);
  if (result.isError) throw new Error(result.content[0]?.text);
  return result.structuredContent as unknown as Listed;
};

describe('list_calls', () => {
  it('gives every call once, in order, whatever the page size and the budget', async () => {
    const fieldSets = ['summary', 'all', 'sid', 'attribution,ads', 'timing'];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1000, max: 9000 }),
        fc.constantFrom(...fieldSets),
        fc.option(fc.integer({ min: 5, max: 40 }), { nil: 1000 }),
        fc.boolean(),
        async (rows, budget, fields, maxRows, withoutTotal) => {
          const server = createServer(fakeClient(calls, { maxRows, withoutTotal }), { budget });
          const sids: unknown[] = [];
          let cursor: string | undefined;
          do {
            const page = await list(server, { rows, fields, ...(cursor ? { cursor, rows: undefined } : {}) });
            expect(estimateTokens(JSON.stringify(page))).toBeLessThanOrEqual(budget);
            if (page.rows.length > 0) {
              expect([page.first, page.last]).toEqual([sids.length + 1, sids.length + page.rows.length]);
              expect(page.summary).toContain(`Rows ${page.first}-${page.last} of `);
            }
            sids.push(...page.rows.map((row) => row[0]));
            cursor = page.next_cursor;
            if (cursor) expect(page.summary).toContain(`more with cursor=${cursor}`);
          } while (cursor);
          expect(sids).toEqual(calls.map((call) => call.sid));
        },
      ),
      runs,
    );
  });

  it('says how many there are in all on the first page already', async () => {
    const page = await list(createServer(fakeClient(calls)), {});
    expect(page.summary).toMatch(/^Rows 1-25 of 137 calls; more with cursor=/);
    expect(page).toMatchObject({ first: 1, last: 25, total: 137 });
    expect(page.columns.length).toBeLessThanOrEqual(13);
  });

  it('shows fewer rows and a cursor when the budget is small', async () => {
    const page = await list(createServer(fakeClient(calls), { budget: 1000 }), { rows: 100, fields: 'all' });
    expect(page.rows.length).toBeGreaterThan(0);
    expect(page.rows.length).toBeLessThan(100);
    expect(page.summary).toContain('of 137 calls; more with cursor=');
  });

  it('shortens texts, then names what it left out, when one record is over the budget', async () => {
    const long = 'long text '.repeat(400);
    const texts = Object.fromEntries(
      fields.filter((spec) => spec.visitorText).map((spec) => [spec.name, long]),
    );
    const huge = { ...calls[0], ...texts, sid: 'S1' } as Call;
    const page = await list(createServer(fakeClient([huge]), { budget: 1000 }), { fields: 'all' });
    expect(page.rows).toHaveLength(1);
    expect(JSON.stringify(page.rows)).toContain('…(+');
    expect(page.notes.join()).toContain('Left out to save space');
    expect(estimateTokens(JSON.stringify(page))).toBeLessThanOrEqual(1000);
  });

  it('says that nothing matches', async () => {
    const page = await list(createServer(fakeClient(calls)), { from: '2030-01-01' });
    expect(page).toMatchObject({
      summary: 'No calls match. Try a wider from/to.',
      rows: [],
      first: 0,
      last: 0,
      total: 0,
    });
  });

  it('says that the list moved when its total changed between two pages', async () => {
    const growing = [...calls];
    const server = createServer(fakeClient(growing));
    const page = await list(server, {});
    growing.push({ ...(calls[0] as Call), sid: 'new' });
    const next = await list(server, { cursor: page.next_cursor });
    expect(next.notes.join()).toContain('changed while paging (137 calls before, 138 now)');
  });

  it('takes fields by group, by v2 name and by alias, each once', async () => {
    const server = createServer(fakeClient(calls));
    const page = await list(server, {
      fields: ['ads_campaign_id', 'adwords_campaign_id', 'ppc_campaign_id', 'sid'],
    });
    expect(page.columns).toEqual(['sid', 'ppc_campaign_id']);
  });

  it.each([
    [['talk_minute'], 'Did you mean "talk_minutes"?'],
    [['phone_number'], 'does not exist in v3'],
    [['sumary'], 'Did you mean "summary"?'],
  ])('refuses the fields %j', async (fields, text) => {
    const result = await callTool(createServer(fakeClient(calls)), 'list_calls', { fields });
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0]?.text).toContain(text);
    expect(result.structuredContent).toBeUndefined();
  });

  it('has thirteen default fields in both versions, all of them known', async () => {
    for (const version of ['v2', 'v3'] as const) {
      const full = Object.fromEntries(Object.keys(calls[0] as object).map((key) => [key, '1']));
      const page = await list(createServer(fakeClient([full as unknown as Call], { version })), {});
      expect(page.columns).toHaveLength(13);
    }
  });
});

describe('the text of a result', () => {
  it('is the structured content word for word, and there is one block', async () => {
    const server = createServer(fakeClient(calls));
    for (const [name, args] of [
      ['list_calls', {}],
      ['get_call', { sid: calls[0]?.sid }],
      ['count_calls', {}],
      ['summarize_calls', {}],
      ['list_sms_numbers', {}],
      ['check_filter', { q: 'x' }],
    ] as const) {
      const { content, structuredContent } = await callTool(server, name, args);
      expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
    }
  });

  it('states zone and units where times and minutes appear', async () => {
    const plain = await list(createServer(fakeClient(calls)), {});
    expect(plain.notes.join()).toContain('the API names no time zone');
    expect(plain.notes.join()).toContain('talk_minutes: minutes');
    const zoned = await list(createServer(fakeClient(calls), { timeZone: 'America/Chicago' }), {});
    expect(zoned.notes.join()).toContain('America/Chicago');
    const bare = await list(createServer(fakeClient(calls)), {
      fields: 'channel',
      include_call_extensions: true,
    });
    expect(bare.notes).toEqual([]);
  });
});

describe('get_call', () => {
  it('shows the fields asked for and names those without a value', async () => {
    const server = createServer(fakeClient([{ ...(calls[0] as Call), city: null, state: 'IL' }]));
    const { structuredContent } = await callTool(server, 'get_call', {
      sid: calls[0]?.sid,
      fields: 'sid,city,state',
    });
    expect(structuredContent).toEqual({
      summary: 'One call, 2 of 3 fields have a value.',
      call: { sid: calls[0]?.sid, state: 'IL' },
      notes: ['Null everywhere: city.'],
    });
  });
});

describe('count_calls', () => {
  it('names its source and the filter', async () => {
    const { structuredContent } = await callTool(createServer(fakeClient(calls)), 'count_calls', {
      from: '2024-01-01',
      to: '2024-01-01',
    });
    expect(structuredContent).toMatchObject({
      source: 'content-range',
      filter: 'date_added:[2024-01-01 00:00:00 TO 2024-01-02 00:00:00}',
    });
    expect(String(structuredContent?.summary)).toContain('from the Content-Range header of a one-row list');
  });
});

describe('summarize_calls', () => {
  const summarize = async (args: Record<string, unknown>, options = {}) => {
    const server = createServer(fakeClient(calls), options);
    return (await callTool(server, 'summarize_calls', args)).structuredContent as {
      summary: string;
      columns: string[];
      rows: (string | number | null)[][];
      groups: number;
      calls: number;
      talk_minutes: number;
      complete: boolean;
    };
  };

  it.each([['channel'], ['rank'], ['city'], ['ppc_status'], ['activity_type_id']])(
    'adds up by %s like a sheet would',
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
      const got = new Map(
        result.rows.map(([key, count, , minutes]) => [
          key,
          { count, tenths: Math.round(Number(minutes) * 10) },
        ]),
      );
      expect(got).toEqual(expected);
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

  it('says loudly when it could not read everything', async () => {
    const result = await summarize({}, { summaryLimits: { rows: 50 } });
    expect(result).toMatchObject({ complete: false, calls: 50 });
    expect(result.summary).toContain(
      'INCOMPLETE: read only 50 of 137 calls, stopped by the limit of 50 calls',
    );
    let now = 0;
    const slow = createServer(fakeClient(makeCalls(1200)), {
      now: () => (now += 11_000),
      summaryLimits: { ms: 20_000 },
    });
    const text = (await callTool(slow, 'summarize_calls', {})).content[0]?.text;
    expect(text).toContain('INCOMPLETE: read only 1,000 of 1,200 calls, stopped by the limit of 20 seconds');
  });

  it('tells how many calls are in the groups that are not shown', async () => {
    const result = await summarize({ group_by: 'sid', limit: 10 });
    expect(result.rows).toHaveLength(10);
    expect(result.summary).toContain('137 groups; the 10 largest are shown, the others have 127 calls (93%)');
  });

  it('does not offer more groups than fit into the budget', async () => {
    const result = await summarize({ group_by: ['sid', 'url_tag'], limit: 200 }, { budget: 1000 });
    expect(result.rows.length).toBeLessThan(137);
    expect(result.summary).toContain('More do not fit');
  });

  it('tells its progress when asked', async () => {
    const seen: unknown[] = [];
    await createServer(fakeClient(makeCalls(1200))).call(
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

describe('list_sms_numbers', () => {
  it('shows where messages go without the secrets of the address', async () => {
    const smsNumbers = [
      { number: '15555550100', smsEnabled: '1', url: 'https://me:pw@listener.example.com/in?key=s3cret&a=1' },
    ];
    const result = await callTool(createServer(fakeClient([], { smsNumbers })), 'list_sms_numbers');
    expect(result.structuredContent).toEqual({
      summary: '1 SMS number.',
      columns: ['number', 'sms_enabled', 'url'],
      rows: [['15555550100', '1', 'https://listener.example.com/in?key=…&a=…']],
      total: 1,
    });
  });

  it('pages through long lists within the budget', async () => {
    const smsNumbers = Array.from({ length: 400 }, (_, i) => ({
      number: `1555555${String(i).padStart(4, '0')}`,
      smsEnabled: '1',
      url: '',
    }));
    const server = createServer(fakeClient([], { smsNumbers }), { budget: 1500 });
    const numbers: unknown[] = [];
    let cursor: unknown;
    do {
      const { structuredContent: page } = await callTool(
        server,
        'list_sms_numbers',
        cursor ? { cursor } : {},
      );
      expect(estimateTokens(JSON.stringify(page))).toBeLessThanOrEqual(1500);
      numbers.push(...((page?.rows ?? []) as unknown[][]).map((row) => row[0]));
      cursor = page?.next_cursor;
    } while (cursor);
    expect(numbers).toEqual(smsNumbers.map((each) => each.number));
  });
});

describe('check_filter', () => {
  const check = async (q: string) =>
    (await callTool(createServer(fakeClient([])), 'check_filter', { q })).structuredContent as Record<
      string,
      unknown
    >;

  it('explains a filter that is right', async () => {
    expect(await check('talk_minutes:[2 TO *],inc_gce:1')).toEqual({
      summary:
        'The filter is valid: talk_minutes from 2 (included); calls from call extensions are included.',
      valid: true,
      filter: 'talk_minutes:[2 TO *],inc_gce:1',
      meaning: ['talk_minutes from 2 (included)', 'calls from call extensions are included'],
    });
  });

  it('mends one that is nearly right', async () => {
    const result = await check('talk_minutes:[2 to *]');
    expect(result.valid).toBe(false);
    expect(result.problems).toEqual([expect.objectContaining({ fixed: 'talk_minutes:[2 TO *]' })]);
  });
});

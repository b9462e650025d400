import { type Call, fields } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import { fakeClient } from '../support/fake-client.ts';
import { list, pagingReturnsEveryCallOnce } from '../support/laws.ts';

const calls = fixtureCalls(137);

/** By city, Z first and none last; calls of a city by their `sid`. */
const byCityDown = (a: Call, b: Call): number => {
  if (a.city === b.city) return a.sid < b.sid ? -1 : 1;
  if (a.city === null || b.city === null) return a.city === null ? 1 : -1;
  return a.city < b.city ? 1 : -1;
};

describe('list_calls', () => {
  it('returns every call once and in order, whatever the page size and the budget', () =>
    pagingReturnsEveryCallOnce(Number(process.env.CALLS_RUNS ?? 10)));

  it('says on the first page how many calls there are in total', async () => {
    const page = await list(createServer(fakeClient(calls)), { calls: 'all', order: 'sid' });
    expect(page.summary).toMatch(/^137 calls of all time.+ Rows 1-25; more with cursor=/);
    expect(page).toMatchObject({ first: 1, last: 25, total: 137 });
    expect(page.columns.length).toBeLessThanOrEqual(13);
  });

  it('shows fewer rows and a cursor when the budget is small', async () => {
    const page = await list(createServer(fakeClient(calls), { budget: 1000 }), {
      rows: 100,
      fields: 'all',
      calls: 'all',
    });
    expect(page.rows.length).toBeGreaterThan(0);
    expect(page.rows.length).toBeLessThan(100);
    expect(page.summary).toMatch(/^137 calls .+; more with cursor=/);
  });

  it('shortens strings, then names the columns it left out, when one record is over the budget', async () => {
    const long = 'long text '.repeat(400);
    const visitorText = Object.fromEntries(
      fields.filter((spec) => spec.visitorText).map((spec) => [spec.name, long]),
    );
    const huge = { ...calls[0], ...visitorText, sid: 'S1' } as Call;
    const page = await list(createServer(fakeClient([huge]), { budget: 1000 }), { fields: 'all' });
    expect(page.rows).toHaveLength(1);
    expect(JSON.stringify(page.rows)).toContain('…(+');
    expect(page.notes.join()).toContain('Left out to save space');
    expect(estimateTokens(JSON.stringify(page))).toBeLessThanOrEqual(1000);
  });

  it.each([3, 50, 200])(
    'gives the first %i calls of an order, whichever comes first',
    async (rows) => {
      // The longest is the last of as many as the page has.
      const tens = fixtureCalls(600).map((call, i) => ({
        ...call,
        talk_minutes: `${(1198 + rows - i) % 600}.0`,
      }));
      const page = await list(createServer(fakeClient(tens as Call[])), {
        rows,
        order: 'talk_minutes desc',
        fields: 'talk_minutes',
        calls: 'all',
      });
      expect(page.rows.map(([, minutes]) => minutes)).toEqual(
        Array.from({ length: rows }, (_, i) => 599 - i),
      );
    },
  );

  it('goes on beyond 10,000 calls, each once and in order, also after a restart', async () => {
    const many = fixtureCalls(10_330);
    const sorted = many.toSorted(byCityDown);
    const args = {
      where: "channel != 'none'",
      calls: 'all',
      fields: 'sid',
      order: 'city desc',
      rows: 500,
    };
    const open = () => createServer(fakeClient(many, { maxRows: 1000 }));
    const seen: unknown[] = [];
    let server = open();
    for (
      let cursor: string | undefined, pages = 0;
      pages === 0 || cursor !== undefined;
      pages += 1
    ) {
      // A cursor holds everything it needs.
      if (pages === 10) server = open();
      const page: Awaited<ReturnType<typeof list>> = await list(server, {
        ...args,
        ...(cursor && { cursor }),
      });
      expect(page).toMatchObject({ total: 10_330, first: pages * 500 + 1 });
      seen.push(...page.rows.flat());
      cursor = page.next_cursor;
    }

    expect(seen).toEqual(sorted.map(({ sid }) => sid));
  });

  it('says that no calls match', async () => {
    const page = await list(createServer(fakeClient(calls)), { from: '2030-01-01' });
    expect(page).toMatchObject({
      summary: expect.stringMatching(/^0 website calls from 2030-01-01 on.+No calls match.$/),
      rows: [],
      first: 0,
      last: 0,
      total: 0,
    });
  });

  it('says that the list changed when its total differs between two pages', async () => {
    const growing = [...calls];
    let now = Date.parse('2024-01-02T00:00:00Z');
    const server = createServer(fakeClient(growing), { clock: { now: () => now } });
    const args = { calls: 'all', order: 'sid' };
    const page = await list(server, args);
    growing.push({ ...(calls.at(-1) as Call), sid: 'new' });
    now += 120_000;
    const next = await list(server, { ...args, cursor: page.next_cursor });
    expect(next.notes.join()).toContain('changed while paging (137 calls before, 138 now)');
  });

  it('accepts fields by group, by v2 name and by alias, and shows each once', async () => {
    const server = createServer(fakeClient(calls));
    const page = await list(server, {
      fields: ['ads_campaign_id', 'adwords_campaign_id', 'ppc_campaign_id', 'sid', 'date'],
    });
    expect(page.columns).toEqual(['sid', 'ppc_campaign_id', 'date_added']);
  });

  it.each([
    [['talk_minute'], 'Did you mean "talk_minutes"?'],
    [['phone_number'], 'does not exist in v3'],
    [['sumary'], 'Did you mean "summary"?'],
  ])('refuses the fields %j: %s', async (fields, text) => {
    const result = await callTool(createServer(fakeClient(calls)), 'list_calls', { fields });
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0]?.text).toContain(text);
    expect(result.structuredContent).toBeUndefined();
  });

  it('shows thirteen known fields by default, in v2 and in v3', async () => {
    for (const version of ['v2', 'v3'] as const) {
      const full = Object.fromEntries(
        Object.keys(calls[0] as object).map((key) => [
          key,
          key === 'date_added' ? '2024-01-01 10:00:00' : '1',
        ]),
      );
      const page = await list(createServer(fakeClient([full as unknown as Call], { version })));
      expect(page.columns).toHaveLength(13);
    }
  });

  it('states time zone and units only where times and minutes are shown', async () => {
    const plain = await list(createServer(fakeClient(calls)));
    expect(plain.notes.join()).toContain('the API names no time zone');
    expect(plain.notes.join()).toContain('talk_minutes: minutes');
    const zoned = await list(createServer(fakeClient(calls), { timeZone: 'America/Chicago' }));
    expect(zoned.notes.join()).toContain('America/Chicago');
    const bare = await list(createServer(fakeClient(calls)), {
      fields: 'rank',
      calls: 'all',
    });
    expect(bare.notes).toEqual([]);
  });
});

import { type Call, fields, fromCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { DatabaseSync as Database } from '@call-attribution/sqlite';
import { testStores } from '@call-attribution/test-tools';
import { hostileCalls } from '@call-attribution/test-tools/hostile-calls';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { openAt } from './small-calls.ts';

type Fields = Record<string, unknown>;

/** Asks the database of a store as any other program would, without the store. */
async function query(url: string, sql: string): Promise<Fields[]> {
  if (url.startsWith('sqlite:')) {
    const database = new Database(url.slice('sqlite:'.length), { readOnly: true });
    const rows = database.prepare(sql).all() as Fields[];
    database.close();
    return rows;
  }

  const client = new pg.Client({ connectionString: url });

  // Times as text: the driver would give them the zone of this machine.
  pg.types.setTypeParser(1114, (text) => text);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const calls = fixtureCalls(400) as Call[];

describe.each(testStores())('the view of a $kind store', ({ kind, newUrl }) => {
  test('it has every field under its name, as its type', async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    await store.upsert('101', calls);
    const [first] = await query(url, `SELECT * FROM calls WHERE sid = '${calls[0]?.sid}'`);
    if (kind === 'postgres')
      for (const relation of ['calls', 'records']) {
        const comments = await query(
          url,
          `SELECT col_description(attrelid, attnum) AS text FROM pg_attribute WHERE attrelid = '${relation}'::regclass AND attname = 'city'`,
        );
        expect(comments).toEqual([{ text: fields.find(({ name }) => name === 'city')?.meaning }]);
      }

    expect(Object.keys(first ?? {})).toEqual([
      'account',
      ...fields.map(({ name }) => name),
      'stored_at',
      'changed_at',
    ]);
    expect(first).toMatchObject({
      account: '101',
      city: calls[0]?.city,
      date_added: calls[0]?.date_added,
      ppc_campaign: calls[0]?.ppc_campaign ?? null,
    });
    expect(Number(first?.pool_id)).toBe(calls[0]?.pool_id);
    const [sums] = await query(
      url,
      `SELECT count(*) AS calls, sum(talk_minutes) AS minutes, max(call_duration) AS longest FROM calls
        WHERE date_added >= '2024-01-01' AND date_added < '2024-01-03'`,
    );
    const wanted = calls.filter(({ date_added }) => date_added < '2024-01-03');
    expect(wanted.length).toBeGreaterThan(0);
    expect(Number(sums?.calls)).toBe(wanted.length);
    expect(Number(sums?.minutes)).toBeCloseTo(
      wanted.reduce((sum, call) => sum + Number(call.talk_minutes ?? 0), 0),
    );
    expect(Number(sums?.longest)).toBe(
      Math.max(...wanted.map((call) => Number(call.call_duration))),
    );
  });

  test('what is not of its type is null, and nothing ends a query; the store returns it as it came', async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    const odd = hostileCalls(calls);
    await store.upsert('101', odd);
    const rows = await query(url, 'SELECT * FROM calls');
    expect(rows).toHaveLength(odd.length);
    const of = (sid: string) => rows.find((row) => row.sid === sid);
    expect(of('nul')).toMatchObject({ ppc_campaign: null, city: null });
    expect(of('half')).toMatchObject({ ppc_campaign: null, city: null, landing_page: '😀' });
    const nothing = { talk_minutes: null, date_added: null, rank: null };
    expect(of('types')).toMatchObject({ ...nothing, pool_id: null });
    expect(of('more')).toMatchObject({ ...nothing, city: null });
    expect(Number(of('more')?.pool_id)).toBe(12);
    expect(of('year')).toMatchObject({ date_added: null, rank: null });
    expect(Number(of('year')?.talk_minutes)).toBe(-0.5);
    expect(of('long')?.ppc_campaign).toHaveLength(100_000);
    expect(of('empty')).toMatchObject({ ppc_campaign: '', city: '' });
    const quotes = odd.find(({ sid }) => sid === 'quotes');
    expect(of('quotes')).toMatchObject({ ppc_campaign: quotes?.ppc_campaign, city: quotes?.city });
    for (const call of odd)
      expect(JSON.parse(String(await store.document('101', call.sid, 'v3')))).toEqual(
        fromCall(call, 'v3'),
      );

    const groups = await query(
      url,
      `select ppc_campaign, count(*), count(*) filter (where talk_minutes = 0) from calls where date_added >= '2024-01-01' group by 1 order by 2 desc`,
    );
    expect(groups.length).toBeGreaterThan(1);
  });

  test('a question about a period reads the rows of the period', async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    const many = Array.from({ length: 10 }, (_, year) =>
      calls.map((call) => ({
        ...call,
        sid: `${year}-${call.sid}`,
        date_added: call.date_added.replace('2024', String(2010 + year)),
      })),
    ).flat() as Call[];
    await store.upsert('101', many);
    const question = `select ppc_campaign, count(*), count(*) filter (where talk_minutes = 0) from calls where account = '101' and date_added >= '2019-01-01' group by 1 order by 2 desc`;
    if (kind === 'postgres') await query(url, 'ANALYZE records');
    const plan = await query(
      url,
      kind === 'sqlite' ? `EXPLAIN QUERY PLAN ${question}` : `EXPLAIN ${question}`,
    );
    expect(JSON.stringify(plan)).toMatch(/(?:USING INDEX|Index Scan (?:on|using)) records_time/);
  });
});

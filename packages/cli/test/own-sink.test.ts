import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { apiKeys, createClient } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { syncInto, type UpsertSink } from '@call-attribution/node-stream';
import { openStore, querySql } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { bundle } from '@call-attribution/test-tools/bundle';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { openOwnStage } from './stage.ts';

const stage = await openOwnStage({ records: 300, days: 20 });
afterAll(() => stage.close());

const guide = readFileSync(
  join(import.meta.dirname, '../../../docs/guides/keep-a-database-fresh.md'),
  'utf8',
);
const [, section = ''] = guide.split('## In tables of your own');
const blocks = [...section.matchAll(/```(sql|ts)\n([\s\S]*?)```/g)];
const textOf = (kind: string) => blocks.find(([, found]) => found === kind)?.[2] ?? '';

/** The sink of the guide, as it stands there: it has imports of types alone. */
async function guideSink(pool: pg.Pool): Promise<UpsertSink> {
  const folder = stage.folder();
  writeFileSync(join(folder, 'sink.ts'), textOf('ts'));
  await bundle({ entryPoints: [join(folder, 'sink.ts')], outdir: join(folder, 'made') });
  const { postgresSink } = await import(pathToFileURL(join(folder, 'made/sink.js')).href);
  return postgresSink(pool);
}

describe.each(testStores().filter(({ kind }) => kind === 'postgres'))(
  'the sink of the guide, with pg',
  ({ newUrl }) => {
    test('it fills and refreshes its tables; a commit that fails leaves calls and state as they were', async () => {
      const pool = new pg.Pool({ connectionString: await newUrl() });
      const client = createClient({
        baseUrl: stage.url,
        auth: apiKeys(stage.env.CALLS_ACCESS_KEY ?? '', stage.env.CALLS_SECRET_KEY ?? ''),
      });
      try {
        await pool.query(textOf('sql'));
        const sink = await guideSink(pool);
        const rows = async () =>
          (await pool.query('SELECT sid, record FROM my_calls ORDER BY sid')).rows;
        const first = await syncInto(client, sink, { filter: 'inc_gce:1' });
        expect(first).toMatchObject({ new: 300 });
        const wanted: unknown[] = [];
        for await (const call of client.listCalls({ filter: 'inc_gce:1' }))
          wanted.push({ sid: call.sid, record: call });
        const bySid = (a: { sid: string }, b: { sid: string }) => (a.sid < b.sid ? -1 : 1);
        expect((await rows()).sort(bySid)).toEqual((wanted as { sid: string }[]).sort(bySid));
        expect(await syncInto(client, sink, { filter: 'inc_gce:1' })).toMatchObject({ new: 0 });
        const state = await sink.load();
        const [call] = await rows();
        const batch = {
          calls: [{ ...call.record, ppc_campaign: 'other' }],
          state: undefined,
          isLast: true,
        };
        await expect(sink.commit(batch as never)).rejects.toThrow();
        expect([await sink.load(), (await rows())[0]]).toEqual([state, call]);
      } finally {
        await client.close();
        await pool.end();
      }
    });
  },
);

const [, asked = ''] = guide.split('## Ask it');
const [questions = '', role = ''] = [...asked.matchAll(/```sql\n([\s\S]*?)```/g)].map(
  ([, sql = '']) => sql,
);

describe.each(testStores())('the SQL of the guide, in a $kind store', ({ kind, newUrl }) => {
  test('its questions have answers, and its role can ask them and nothing else', async () => {
    const url = await newUrl();
    await using store = await openStore(url);
    await store.putAccount({ id: '101', name: 'One' });
    const repeated = fixtureCalls(400).map((call, i) => ({
      ...call,
      date_added: call.date_added.replace('2024', '2026').replace(/-01-/, '-10-'),
      ...(i % 2 === 0 ? { landing_page: '/', ani: '5555550100' } : {}),
    }));
    await store.upsert('101', repeated);
    const statements = questions.split(';').filter((sql) => sql.trim() !== '');
    expect(statements).toHaveLength(3);
    for (const sql of statements) expect(await rowsOf(url, sql), sql).not.toEqual([]);
    if (kind !== 'postgres') return;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const name = `analyst_${process.pid}`;
    try {
      await client.query(role.replaceAll('analyst', name));
      const [found] = (await client.query('SELECT current_schema() AS schema')).rows;
      await client.query(`GRANT USAGE ON SCHEMA ${found.schema} TO ${name}; SET ROLE ${name}`);
      for (const sql of statements)
        expect((await client.query(sql)).rows.length).toBeGreaterThan(0);
      for (const sql of ['SELECT * FROM records', 'SELECT * FROM credentials', 'DELETE FROM calls'])
        await expect(client.query(sql), sql).rejects.toThrow('permission denied');
    } finally {
      await client.query(`RESET ROLE; DROP OWNED BY ${name}; DROP ROLE ${name}`);
      await client.end();
    }
  });
});

async function rowsOf(url: string, sql: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const row of await querySql(url, sql)) rows.push(row);
  return rows;
}

test('it has 25 lines or a few more, without its imports', () => {
  const lines = textOf('ts').trim().split('\n');
  expect(lines.slice(3).length).toBeLessThanOrEqual(25);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { apiKeys, createClient } from '@call-attribution/core';
import { syncInto, type UpsertSink } from '@call-attribution/node-stream';
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
        const rows = async () => (await pool.query('SELECT sid, record FROM my_calls ORDER BY sid')).rows;
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
        const batch = { calls: [{ ...call.record, ppc_campaign: 'other' }], state: undefined, isLast: true };
        await expect(sink.commit(batch as never)).rejects.toThrow();
        expect([await sink.load(), (await rows())[0]]).toEqual([state, call]);
      } finally {
        await client.close();
        await pool.end();
      }
    });
  },
);

test('it has 25 lines or a few more, without its imports', () => {
  const lines = textOf('ts').trim().split('\n');
  expect(lines.slice(3).length).toBeLessThanOrEqual(25);
});

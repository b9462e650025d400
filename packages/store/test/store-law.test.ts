import type { Call } from '@call-attribution/core';
import { testStores } from '@call-attribution/test-tools';
import fc from 'fast-check';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { openStore, type Selection, type Store } from '../src/index.ts';
import { smallCall, timeText } from './small-calls.ts';

const stores = await testStores();
const runs = Number(process.env.CALLS_RUNS ?? 25);

// Times on and beside the borders of all three kinds of buckets, with many ties.
const borders = [2 ** 25, 2 ** 21, 2 ** 17].flatMap((width) => [width * 50, width * 51]);
const second = fc.oneof(
  fc.constantFrom(...borders.flatMap((at) => [at - 1, at, at + 1])),
  fc.integer({ min: 50 * 2 ** 25 - 200_000, max: 50 * 2 ** 25 + 200_000 }),
);
const tenths = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 0, max: 30 }),
  fc.constantFrom(600, 601, 650, 700),
);
const call = fc
  .record({ n: fc.integer({ min: 0, max: 40 }), at: second, talk: tenths, extension: fc.boolean() })
  .map(({ n, at, talk, extension }) =>
    smallCall(`S${n}`, timeText(at), talk === null ? null : (talk / 10).toFixed(1), extension),
  );
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: fc.array(call, { minLength: 1, maxLength: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ drop: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 6 }) }),
  },
);
const selection: fc.Arbitrary<Selection> = fc.record({
  from: fc.oneof(fc.constant(-(2 ** 37)), second),
  to: fc.oneof(fc.constant(2 ** 38), second),
  talk: fc.oneof(
    fc.constant(null),
    fc.record({
      from: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constantFrom(150, 600, 601, 650)),
      // Short, long and open ranges are each counted in another way.
      to: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(600, 649, 2_147_483_646)),
    }),
  ),
  extensions: fc.boolean(),
});
const question = fc.record({
  selection,
  offset: fc.integer({ min: 0, max: 30 }),
  rows: fc.integer({ min: 1, max: 12 }),
});

/** The same data in the plainest table there is, asked in the plainest way. */
const naive = new Database(':memory:');
naive.exec('CREATE TABLE calls (sid TEXT PRIMARY KEY, at INTEGER, talk INTEGER, extension INTEGER)');
afterAll(() => naive.close());

function naiveApply(step: { put?: Call[]; drop?: number[] }): void {
  for (const c of step.put ?? []) {
    const talk = c.talk_minutes === null ? null : Math.round(Number(c.talk_minutes) * 10);
    const at = Date.parse(`${c.date_added}Z`.replace(' ', 'T')) / 1000;
    naive
      .prepare('INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?)')
      .run([c.sid, at, talk, c.channel === 'Call Extension' ? 1 : 0]);
  }
  for (const n of step.drop ?? []) naive.prepare('DELETE FROM calls WHERE sid = ?').run([`S${n}`]);
}

function naiveAnswer({ selection: s, offset, rows }: { selection: Selection; offset: number; rows: number }) {
  const talk = s.talk === null ? '' : ` AND talk BETWEEN ${s.talk.from} AND ${s.talk.to}`;
  const where = `FROM calls WHERE at >= ${s.from} AND at < ${s.to}${talk}${s.extensions ? '' : ' AND extension = 0'}`;
  const { n } = naive.prepare(`SELECT count(*) AS n ${where}`).get([]) as { n: number };
  const page = naive
    .prepare(`SELECT sid ${where} ORDER BY at, sid LIMIT ${rows} OFFSET ${offset}`)
    .all([]) as { sid: string }[];
  return { total: n, sids: page.map(({ sid }) => sid) };
}

async function sids(body: Buffer | AsyncIterable<Buffer>): Promise<string[]> {
  const parts: Buffer[] = [];
  if (Buffer.isBuffer(body)) parts.push(body);
  else for await (const part of body) parts.push(part);
  return (JSON.parse(Buffer.concat(parts).toString()) as Call[]).map(({ sid }) => sid);
}

describe.each(stores)('a $kind store', ({ newUrl }) => {
  test('answers as naive SQL does, after any upserts, deletes and moves', { timeout: 600_000 }, async () => {
    // Small slices and full descent, so that few calls reach every branch.
    const store: Store = await openStore(await newUrl(), { sliceRows: 3, walkBelow: 1 });
    let account = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 6 }),
        fc.array(question, { minLength: 1, maxLength: 8 }),
        async (changes, questions) => {
          account += 1;
          const id = String(account);
          naive.exec('DELETE FROM calls');
          await store.putAccount({ id, name: 'law' });
          for (const step of changes as { put?: Call[]; drop?: number[] }[]) {
            if (step.put) await store.upsert(id, step.put);
            if (step.drop)
              await store.remove(
                id,
                step.drop.map((n) => `S${n}`),
              );
            naiveApply(step);
          }
          for (const asked of questions) {
            const expected = naiveAnswer(asked);
            const page = await store.page(id, { ...asked, version: 'v3' });
            expect({ total: page.total, sids: await sids(page.body) }).toEqual(expected);
            expect(page.count).toBe(expected.sids.length);
            expect(await store.count(id, asked.selection)).toBe(expected.total);
          }
        },
      ),
      { numRuns: runs },
    );
    expect(await store.check()).toEqual([]);
    await store.close();
  });

  test('keeps its counts exact while several writers change the same calls', async () => {
    const url = await newUrl();
    const writers = await Promise.all([1, 2, 3].map(() => openStore(url)));
    const [store] = writers as [Store];
    await store.putAccount({ id: '1', name: 'busy' });
    await Promise.all(
      writers.flatMap((writer, w) =>
        Array.from({ length: 12 }, async (_, round) => {
          const batch = Array.from({ length: 20 }, (_, i) =>
            smallCall(
              `S${i}`,
              timeText(1_700_000_000 + ((w + round * i) % 7) * 131_072),
              String((w * round) % 5),
            ),
          );
          await writer.upsert('1', batch);
          if (round % 3 === 0) await writer.remove('1', [`S${round}`, `S${w}`]);
        }),
      ),
    );
    const left: string[] = [];
    for await (const { sid } of store.calls('1')) left.push(sid);
    expect(await store.check()).toEqual([]);
    expect(await store.count('1', { from: 0, to: 2 ** 38, talk: null, extensions: true })).toBe(left.length);
    await Promise.all(writers.map((writer) => writer.close()));
  });

  test('tells a wrong tally from a right one, and counts it anew', async () => {
    const url = await newUrl();
    const store = await openStore(url);
    await store.putAccount({ id: '1', name: 'counted' });
    await store.upsert('1', [
      smallCall('A', '2024-01-01 00:00:00', '1.0'),
      smallCall('B', '2024-01-02 00:00:00', null),
    ]);
    await spoil(url);
    expect(await store.check()).toHaveLength(3);
    await store.rebuild();
    expect(await store.check()).toEqual([]);
    await store.close();
  });
});

async function spoil(url: string): Promise<void> {
  const sql = 'UPDATE tally SET n = n + 1 WHERE talk = 10';
  if (url.startsWith('sqlite:')) {
    const direct = new Database(url.slice('sqlite:'.length));
    direct.exec(sql);
    direct.close();
    return;
  }
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

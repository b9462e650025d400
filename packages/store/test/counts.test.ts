import { testStores } from '@call-attribution/test-tools';
import Database from 'libsql';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { openStore, type Store } from '../src/index.ts';
import { openLimitedStore } from '../src/open-store.ts';
import { agreesWithNaiveSql } from './naive-sql.ts';
import { smallCall, timeText } from './small-calls.ts';

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  // Many more random histories are in drills/counts.drill.ts.
  test('it returns what naive SQL returns, after any upserts, deletes and moves', async () => {
    await agreesWithNaiveSql(await newUrl(), 8);
  });

  test('it keeps its counts exact while several writers change the same calls', async () => {
    const url = await newUrl();
    // A busy machine may need longer than the default for the writers that wait for a connection.
    const patience = { connectTimeout: 180_000, busyTimeout: 180_000 };
    const writers = await Promise.all(
      [1, 2, 3].map(() => openLimitedStore(url, { statementTimeout: '3m' }, patience)),
    );
    const [store] = writers as [Store];
    await store.putAccount({ id: '1', name: 'busy' });
    await Promise.all(
      writers.flatMap((writer, w) =>
        Array.from({ length: 4 }, async (_, round) => {
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

  test('it finds a wrong count, and counts again', async () => {
    const url = await newUrl();
    const store = await openStore(url);
    await store.putAccount({ id: '1', name: 'counted' });
    await store.upsert('1', [
      smallCall('A', '2024-01-01 00:00:00', '1.0'),
      smallCall('B', '2024-01-02 00:00:00', null),
    ]);
    await spoil(url);
    expect(await store.check()).toHaveLength(3);
    await store.rebuild('1');
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
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

import { parse } from '@call-attribution/query-dsl';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openStore, type Store, selectionOf } from '../src/index.ts';
import { openLimitedStore } from '../src/open-store.ts';
import { agreesWithNaiveSql } from './naive-sql.ts';
import { smallCall, timeText } from './small-calls.ts';

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  // Many more random histories are in drills/counts.drill.ts.
  test('it returns what naive SQL returns, after any upserts, deletes and moves', async () => {
    await agreesWithNaiveSql(await newUrl(), 8);
  });

  test('several writers may change the same calls', async () => {
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
    for (const writer of writers) expect(await writer.count('1')).toBe(left.length);
    await Promise.all(writers.map((writer) => writer.close()));
  });

  test('pages of any depth have the calls that come after those before them', async () => {
    await using store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'deep' });
    const made = Array.from({ length: 23_000 }, (_, i) =>
      smallCall(
        `S${String(i).padStart(5, '0')}`,
        timeText(1_700_000_000 + Math.floor(i / 3)),
        '1.0',
      ),
    );
    await store.upsert('1', made);
    await store.upsert('1', [smallCall('none', 'soon', '1.0')]);

    const at = async (offset: number, rows: number) => {
      const query = { selection: {}, version: 'v3' as const, offset, rows };
      const { total, body } = await store.page('1', query);
      expect(total).toBe(made.length + 1);
      return (JSON.parse(String(body)) as { sid: string }[]).map(({ sid }) => sid);
    };

    const all = ['none', ...made.map(({ sid }) => sid)];
    for (const offset of [
      0, 1, 10_000, 10_001, 22_999, 20_500, 12_345, 9_999, 23_000, 23_001, 50_000,
    ])
      expect(await at(offset, 3)).toEqual(all.slice(offset, offset + 3));
  });

  test('any field with numbers or times can be filtered by', async () => {
    await using store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'fields' });
    await store.upsert('1', [
      smallCall('a', '2026-01-01 00:00:00', '0.2', false, {
        call_duration: '1',
        pool_id: 7,
        talk_end: null,
      }),
      smallCall('b', '2026-01-02 00:00:00', '1', true, {
        call_duration: '12',
        pool_id: 8,
        talk_end: '2026-01-02 00:00:05.4',
      }),
      smallCall('c', 'soon', '-0.5', false, { call_duration: 'x', pool_id: null, talk_end: null }),
    ]);
    const fields = {
      call_duration: 'decimal',
      pool_id: 'decimal',
      talk_end: 'date',
      city: 'date',
    } as const;

    const sids = async (q: string) => {
      const found: string[] = [];
      const selection = selectionOf(parse(q, { fields }), { extensions: true });
      for await (const { sid } of store.calls('1', selection)) found.push(sid);
      expect(await store.count('1', selection)).toBe(found.length);
      return found.join('');
    };

    expect(await sids('call_duration:[1.5 TO *]')).toBe('b');
    expect(await sids('call_duration:{* TO 12}')).toBe('a');
    expect(await sids('pool_id:[7 TO 8}')).toBe('a');
    expect(await sids('pool_id:[* TO *]')).toBe('ab');
    expect(await sids('talk_end:[2026-01-02 00:00:00 TO 2026-01-02 00:00:05]')).toBe('b');
    expect(await sids('talk_minutes:[0.25 TO *]')).toBe('b');
    expect(await sids('talk_minutes:[* TO 0.2],date_added:[2026-01-01 00:00:00 TO *]')).toBe('a');
    expect(() =>
      selectionOf(parse('city:[2026-01-01 00:00:00 TO *]', { fields }), { extensions: true }),
    ).toThrow('The values of city are text, which has no ranges.');
    expect(() =>
      selectionOf(parse('other:[1 TO *]', { fields: { other: 'decimal' } }), { extensions: true }),
    ).toThrow('The store has no column other.');
  });
});

import type { Call } from '@call-attribution/core';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openStore, querySql, type Store } from '../src/index.ts';
import { openAt, runOn, smallCall } from './small-calls.ts';

const noon = Date.parse('2026-11-27T12:00:00Z');
const call = (sid: string, more: object = {}): Call =>
  smallCall(sid, '2026-01-01 00:00:00', '1.0', false, more);
const text = (millis: number): string =>
  new Date(millis).toISOString().replace('T', ' ').slice(0, -1);

/** A clock that tests set. */
const clockAt = (time: number) => {
  const clock = { time, now: () => clock.time };
  return clock;
};

async function rowsOf(url: string, sql: string) {
  const rows: Record<string, unknown>[] = [];
  for await (const row of await querySql(url, sql)) rows.push(row);
  return rows;
}

const sidsOf = async (calls: AsyncIterable<{ readonly sid: string }>): Promise<string[]> => {
  const sids: string[] = [];
  for await (const { sid } of calls) sids.push(sid);
  return sids.sort();
};

describe.each(testStores())('when calls changed, in a $kind store', ({ kind, newUrl }) => {
  const digits = kind === 'sqlite' ? '' : `, 'YYYY-MM-DD HH24:MI:SS.MS'`;
  const shown = (column: string) => (digits === '' ? column : `to_char(${column}${digits})`);
  const times = async (url: string) =>
    Object.fromEntries(
      (
        await rowsOf(
          url,
          `select sid, ${shown('stored_at')} as stored, ${shown('changed_at')} as changed from calls`,
        )
      ).map(({ sid, stored, changed }) => [sid, [stored, changed]]),
    );

  test('each commit has one time, and a call that is read again without a change keeps both of its own', async () => {
    const url = await newUrl();
    const clock = clockAt(noon);
    await using store = await openAt(url, { clock });
    expect(await store.changedAt('101')).toBeNull();
    await store.upsert('101', [call('a'), call('b')]);
    expect(await store.changedAt('101')).toBe(noon);

    clock.time += 60_000;
    await store.upsert('101', [call('a'), call('b')]);
    expect(await store.changedAt('101')).toBe(noon);
    await store.upsert('101', [call('a', { city: 'Peru' }), call('b'), call('c')]);
    const later = noon + 60_000;
    expect(await times(url)).toEqual({
      a: [text(noon), text(later)],
      b: [text(noon), text(noon)],
      c: [text(later), text(later)],
    });
    expect(await sidsOf(store.calls('101', { changedSince: noon }))).toEqual(['a', 'c']);
    expect(await store.count('101', { changedSince: noon })).toBe(2);
    expect(await store.count('101', { changedSince: later })).toBe(0);
    expect(await store.count('101', { changedSince: 0 })).toBe(3);
    for (const wrong of [Number.NaN, '2026-11-27' as never])
      await expect(store.count('101', { changedSince: wrong })).rejects.toMatchObject({
        code: 'unfit_filter',
      });
  });

  test('a clock that jumps back gives no earlier time, and two commits of a millisecond have two', async () => {
    const clock = clockAt(noon);
    await using store = await openAt(await newUrl(), { clock });
    const seen: number[] = [];
    for (const [at, jump] of [0, -3_600_000, 0, 7_200_000, -86_400_000].entries()) {
      clock.time += jump;
      await store.upsert('101', [call(`s${at}`)]);
      const last = seen.at(-1) ?? 0;
      expect(await sidsOf(store.calls('101', { changedSince: last }))).toEqual([`s${at}`]);
      seen.push((await store.changedAt('101')) ?? 0);
    }

    const [first = 0, second, third, fourth = 0, fifth] = seen;
    expect([second, third, fifth]).toEqual([first + 1, first + 2, fourth + 1]);
  });

  test('what was erased, purged or removed is listed with its time, unless it came back', async () => {
    const url = await newUrl();
    const clock = clockAt(noon);
    await using store = await openAt(url, { clock });
    const gone = call('erased', { ani: '3125550199' });
    const old = smallCall('old', '2020-01-01 00:00:00', '1.0');
    await store.upsert('101', [gone, old, call('removed'), call('back'), call('stays')]);
    clock.time += 1_000;
    await store.erase('101', ['3125550199']);
    const erased = (await store.changedAt('101')) ?? 0;
    expect(erased).toBe(noon + 1_000);
    await store.purge('101', '2021-01-01 00:00:00');
    await store.remove('101', ['removed', 'back', 'nobody']);
    const end = (await store.changedAt('101')) ?? 0;
    await store.upsert('101', [call('back'), gone, old]);

    expect(await sidsOf(store.removedSince('101', noon))).toEqual(['erased', 'old', 'removed']);
    expect(await sidsOf(store.removedSince('101', erased))).toEqual(['old', 'removed']);
    expect(await sidsOf(store.removedSince('101', end))).toEqual([]);
    expect(await sidsOf(store.removedSince('102', 0))).toEqual([]);
    expect(
      await rowsOf(
        url,
        `select account, sid, ${shown('removed_at')} as removed from removals order by removed_at`,
      ),
    ).toEqual([
      { account: '101', sid: 'erased', removed: text(erased) },
      { account: '101', sid: 'old', removed: text(erased + 1) },
      { account: '101', sid: 'removed', removed: text(end) },
    ]);
  });

  test('thousands that go at once are all listed, and each once', async () => {
    await using store = await openAt(await newUrl());
    const sids = Array.from({ length: 4_500 }, (_, i) => `s${String(i).padStart(4, '0')}`);
    await store.upsert(
      '101',
      sids.map((sid) => call(sid)),
    );
    await store.remove('101', sids.slice(0, 4_100));
    await store.remove('101', sids.slice(4_100));
    expect(await sidsOf(store.removedSince('101', 0))).toEqual(sids);
  });

  test('a copy that asks for what changed since its last run misses nothing, with two writers whose clocks differ and jump', async () => {
    const url = await newUrl();
    const clocks = [clockAt(noon), clockAt(noon + 5_000)];
    await using first = await openAt(url, { clock: clocks[0] });
    await using second = await openStore(url, { clock: clocks[1] });
    await using reader = await openStore(url, { readOnly: true });
    const copy = new Map<string, Call>();
    let last: number | null = null;
    const follow = async (store: Store) => {
      const now = await store.changedAt('101');
      const since = last ?? 0;
      for await (const { sid } of store.removedSince('101', since)) copy.delete(sid);
      for await (const found of store.calls('101', { changedSince: since }))
        copy.set(found.sid, found);
      last = now;
    };

    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 25; round += 1) {
      const writes = [first, second].map(async (store, at) => {
        (clocks[at] as { time: number }).time += random(3) === 0 ? -random(10_000) : random(50);
        for (let i = 0; i < 3; i += 1) {
          const some = Array.from({ length: 1 + random(5) }, () => `s${random(40)}`);
          if (random(4) === 0) await store.remove('101', some);
          else
            await store.upsert(
              '101',
              some.map((sid) => call(sid, { city: `c${random(5)}` })),
            );
        }
      });
      await Promise.all([...writes, follow(reader)]);
    }

    await follow(reader);
    const held = new Map<string, Call>();
    for await (const found of first.calls('101')) held.set(found.sid, found);
    expect([...copy.keys()].sort()).toEqual([...held.keys()].sort());
    expect(Object.fromEntries(copy)).toEqual(Object.fromEntries(held));
  });

  test('rows of an earlier release have no times until they change', async () => {
    const url = await newUrl();
    await (async () => {
      await using store = await openAt(url);
      await store.upsert('101', [call('a'), call('b')]);
    })();
    await runOn(
      url,
      'DROP VIEW calls',
      'DROP VIEW removals',
      'DROP INDEX records_time',
      'DROP INDEX records_changed',
      'ALTER TABLE records DROP COLUMN stored_at',
      'ALTER TABLE records DROP COLUMN changed_at',
      'ALTER TABLE accounts DROP COLUMN changed_at',
      'DROP TABLE removed',
      "UPDATE meta SET layout = 'of an earlier release'",
    );
    await expect(openStore(url, { readOnly: true })).rejects.toMatchObject({
      message: expect.stringContaining(
        'lacks the columns changed_at, stored_at and the table removed of this release',
      ),
    });
    await using store = await openStore(url, { clock: clockAt(noon) });
    expect(await store.changedAt('101')).toBeNull();
    expect(await store.count('101', { changedSince: 0 })).toBe(0);
    await store.upsert('101', [call('a', { city: 'Peru' }), call('b')]);
    expect(await times(url)).toEqual({ a: [null, text(noon)], b: [null, null] });
    await store.remove('101', ['b']);
    expect(await sidsOf(store.removedSince('101', 0))).toEqual(['b']);
  });

  test('SQL about what changed or was removed reads an index', async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    const sids = Array.from({ length: 3_000 }, (_, i) => `s${i}`);
    for (let from = 0; from < 3_000; from += 100)
      await store.upsert(
        '101',
        sids.slice(from, from + 100).map((sid) => call(sid)),
      );
    await store.remove('101', sids.slice(0, 1_000));
    if (kind === 'postgres') await runOn(url, 'ANALYZE records', 'ANALYZE removed');
    const explain = kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
    const last = text((await store.changedAt('101')) ?? 0);
    for (const [sql, index] of [
      [`select * from calls where account = '101' and changed_at > '${last}'`, 'records_changed'],
      [`select * from removals where account = '101' and removed_at > '${last}'`, 'removed_time'],
    ])
      expect(JSON.stringify(await rowsOf(url, `${explain} ${sql}`))).toContain(index);
  });
});

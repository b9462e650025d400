import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import { DatabaseSync as Database } from '@call-attribution/sqlite';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mirrorSink, openStore, printRemovals, type Store } from '../src/index.ts';
import { openLimitedStore } from '../src/open-store.ts';
import { batchOf, openAt, runOn, smallCall } from './small-calls.ts';

const stores = testStores();
const caller = '3125550199';
const name = 'Gwendolyn Featherstonehaugh';
const at = (day: number): string =>
  `2026-0${1 + Math.floor(day / 28)}-${String(1 + (day % 28)).padStart(2, '0')} 00:00:00`;
const other = (i: number): Call =>
  smallCall(`other-${i}`, at(i), '1.0', false, { ani: `20255501${10 + i}` });

const spellings: readonly unknown[] = [
  caller,
  '0013125550199',
  '+1 312 555 0199 x5',
  '３１２５５５０１９９',
  'sip:3125550199@10.20.30.40',
  'tel:+1-312-555-0199',
  3125550199,
  13125550199,
];
const theirs = (ani: unknown, i: number): Call =>
  smallCall(`erased-sid-${i}`, at(i), '1.0', false, { ani, caller_name: name } as object);

/** Statements that keep rows from being deleted, as a process does that is killed before. */
const keepRows = (url: string): string[] =>
  url.startsWith('postgres')
    ? [
        "CREATE OR REPLACE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'kept'; END $$",
        'CREATE TRIGGER keeper BEFORE DELETE ON records FOR EACH ROW EXECUTE FUNCTION kept()',
      ]
    : ["CREATE TRIGGER keeper BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'kept'); END"];
const dropKeeper = (url: string): string[] => [
  `DROP TRIGGER keeper${url.startsWith('postgres') ? ' ON records' : ''}`,
];

const sidsOf = async (store: Store): Promise<string[]> => {
  const found: string[] = [];
  for await (const { sid } of store.calls('101')) found.push(sid);
  return found.sort();
};

describe.each(stores)('what was removed from a $kind store', ({ newUrl }) => {
  test('a caller is erased however the number is written, also as a number of JSON, and stays out', async () => {
    await using store = await openAt(await newUrl());
    const calls = spellings.map(theirs);
    await store.upsert('101', [...calls, other(20)]);
    const { deleted, sids } = await store.erase('101', [
      '+1 (312) 555-0199',
      '2025550999',
      '3125550199',
    ]);
    expect(deleted).toEqual([spellings.length, 0, 0]);
    expect([...sids].sort()).toEqual(calls.map(({ sid }) => sid).sort());
    expect(await sidsOf(store)).toEqual(['other-20']);
    expect(await store.upsert('101', calls)).toMatchObject({ stored: 0, leftOut: calls.length });
    for (const wrong of [[], ['  '], ['3125550199', '']])
      await expect(store.erase('101', wrong)).rejects.toMatchObject({ code: 'unfit_record' });
  });

  test('a call that turns out to be of an erased caller does not stay under its earlier number', async () => {
    await using store = await openAt(await newUrl());
    await store.upsert('101', [theirs('2025550101', 1), other(2)]);
    await store.erase('101', [caller]);
    expect(await store.upsert('101', [theirs(caller, 1)])).toMatchObject({ stored: 0, leftOut: 1 });
    expect(await sidsOf(store)).toEqual(['other-2']);
  });

  test('who was erased in one copy is erased where its calls come in; nothing is purged there', async () => {
    const a = await openAt(await newUrl());
    const b = await openAt(await newUrl());
    const all = [
      ...spellings.map(theirs),
      ...[0, 20].map(other),
      smallCall('third', at(3), '1.0', false, { ani: '2025550199' }),
    ];
    for (const store of [a, b]) await store.upsert('101', all);
    await a.erase('101', [caller]);
    await a.purge('101', at(10));
    await b.erase('101', ['2025550199']);
    await b.addRemovals('101', await a.removals('101'));
    await b.upsert('101', a.calls('101'));
    expect(await sidsOf(b)).toEqual(['other-0', 'other-20']);
    const removals = await b.removals('101');
    expect(removals.erased.map(({ callers }) => callers.length)).toEqual([1, 1]);
    expect(removals.purgedBefore).toBeNull();
    const numbers = [
      ...spellings,
      'sip:+12025550199@10.0.0.1',
      '2025550110',
      '',
      null,
      undefined,
      [caller],
    ];
    expect(numbers.filter(removals.isErased)).toEqual([...spellings, 'sip:+12025550199@10.0.0.1']);
    expect(removals.isRemoved({ ani: caller, date_added: at(20) })).toBe(true);
    await b.putAccount({ id: '102', name: 'Nothing removed' });
    const text = String(await printRemovals(b, ['101', '102']));
    expect(text).not.toContain('5550199');
    expect(JSON.parse(text)).toEqual({
      removals: 1,
      accounts: { '101': { erased: removals.erased, purgedBefore: null } },
    });
    expect(await printRemovals(b, ['102'])).toBeNull();
    expect(await b.upsert('101', all)).toMatchObject({ leftOut: spellings.length + 1 });
    await Promise.all([a.close(), b.close()]);
  });

  test('a purge lasts: later writes leave out what is older, and keep what has no usable time', async () => {
    await using store = await openAt(await newUrl());
    const timeless = smallCall('timeless', 'soon', '1.0');
    await store.upsert('101', [...[0, 10, 20].map(other), timeless]);
    expect(await store.purge('101', at(10))).toMatchObject({ deleted: 1 });
    expect(await store.purge('101', at(5))).toMatchObject({ deleted: 0 });
    for (const time of ['yesterday', '2026-01-01', '2026-02-31 00:00:00', 5 as never])
      await expect(store.purge('101', time)).rejects.toMatchObject({ code: 'unfit_record' });
    const removals = await store.removals('101');
    expect(removals.purgedBefore).toBe(at(10));
    expect(
      [at(9), at(10), 'soon'].map((date_added) => removals.isRemoved({ ani: '', date_added })),
    ).toEqual([true, false, false]);
    const sink = mirrorSink(store, '101');
    await sink.load();
    expect([0, 9, 10].map((day) => sink.leavesOut?.(other(day)))).toEqual([true, true, false]);
    expect(await store.upsert('101', [...[0, 9, 10, 11].map(other), timeless])).toMatchObject({
      leftOut: 2,
      added: 1,
    });
    expect(await sidsOf(store)).toEqual(['other-10', 'other-11', 'other-20', 'timeless']);

    // A call that is moved to a time before the purge goes.
    await store.upsert('101', [{ ...other(20), date_added: at(3) }]);
    expect(await sidsOf(store)).toEqual(['other-10', 'other-11', 'timeless']);
  });

  test('an erasure or a purge that was interrupted is finished by the next sync, and by the next removal', async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    const all = [...spellings.map(theirs), ...[0, 20, 30].map(other)];
    const stopped = async (removal: () => Promise<unknown>) => {
      await runOn(url, ...keepRows(url));
      await expect(removal()).rejects.toMatchObject({ code: 'store_failed' });
      await runOn(url, ...dropKeeper(url));
      expect((await store.removals('101')).isUnfinished).toBe(true);
    };

    await store.upsert('101', all);
    await stopped(() => store.erase('101', [caller]));
    expect(await sidsOf(store)).toHaveLength(all.length);
    await store.claim('101', 'a sync');
    expect(await sidsOf(store)).toEqual(['other-0', 'other-20', 'other-30']);
    expect((await store.removals('101')).isUnfinished).toBe(false);

    await stopped(() => store.purge('101', at(10)));
    expect(await store.erase('101', ['2025550130'])).toMatchObject({ deleted: [1] });
    expect(await sidsOf(store)).toEqual(['other-30']);
    await stopped(() => store.purge('101', at(50)));
    expect(await store.purge('101', at(50))).toMatchObject({ deleted: 1 });
    expect(await store.tally('101')).toEqual({ rows: 0, written: 0 });
    expect((await store.removals('101')).isUnfinished).toBe(false);
  });

  test('who has the ids elsewhere gets them before anything is noted or deleted', async () => {
    await using store = await openAt(await newUrl());
    const calls = spellings.map(theirs);
    await store.upsert('101', [...calls, other(20)]);
    const before = () => Promise.reject(new Error('The ledger is on a full disk.'));
    await expect(store.erase('101', [caller], { before })).rejects.toThrow('full disk');
    expect(await sidsOf(store)).toHaveLength(calls.length + 1);
    expect(await store.removals('101')).toMatchObject({ erased: [], isUnfinished: false });
    const given: string[] = [];
    const { sids } = await store.erase('101', [caller], {
      async before(ids) {
        given.push(...ids);
        expect((await store.removals('101')).erased).toEqual([]);
      },
    });
    expect(given.sort()).toEqual([...sids].sort());
    expect(given).toHaveLength(calls.length);
  });

  test('it knows how many calls its writes have left, whatever was added, changed, moved and removed', async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    await using second = await openStore(url);
    const some = Array.from({ length: 40 }, (_, i) =>
      smallCall(`s${i}`, at(i), '1.0', false, { ani: `20255501${10 + (i % 20)}` }),
    );
    const same = async (rows: number) => {
      expect(await store.tally('101')).toEqual({ rows, written: rows });
      expect(await store.count('101')).toBe(rows);
    };

    await same(0);
    await Promise.all([
      store.upsert('101', some.slice(0, 30)),
      second.upsert('101', some.slice(20)),
    ]);
    await same(40);
    await store.upsert(
      '101',
      [...some, ...some].map((call) => ({ ...call, talk_minutes: '2.0' })),
    );
    await store.remove('101', ['s1', 's1', 'nobody']);
    await same(39);
    await store.erase('101', ['2025550112']);
    await same(37);

    // A call of an erased caller under another number, which it was stored with.
    await store.upsert('101', [{ ...some[3], ani: '2025550112' } as Call]);
    await store.purge('101', at(10));
    const claim = await store.claim('101', 'a sync');
    await store.commitClaimed(claim, { calls: some, note: {} });
    const { rows } = await store.tally('101');
    await same(rows);

    // Behind its back.
    await runOn(url, "DELETE FROM records WHERE sid IN ('s20', 's21')");
    expect(await store.tally('101')).toEqual({ rows: rows - 2, written: rows });
    await store.noteLoss('101');
    await store.upsert('101', some.slice(20, 22));
    await same(rows);
  });

  test('no id of an erased call stays in the state of a sync, in the list of changes or in a journal', async () => {
    await using store = await openAt(await newUrl());
    const sink = mirrorSink(store, '101');
    await sink.load();
    const calls = spellings.map(theirs);
    const state: SyncState = {
      version: 2,
      account: null,
      parts: [],
      seen: [...calls, other(20)].map(({ sid, date_added }) => [sid, date_added, '']),
    };
    await sink.commit(batchOf([...calls, other(20)], state));
    const journal = store.journal('uploads');
    for await (const _ of journal.read());
    const entries = [...calls, other(20)].map(({ sid }) => ({ sid, orderId: sid, value: 1 }));
    await journal.append(JSON.stringify({ type: 'prepared', id: 'a', entries }));
    const [{ sid, acct_id }] = calls as [Call];
    const ofOthers = { sid, account: 'another', orderId: 'x' };
    await journal.append(
      JSON.stringify({ entries: [ofOthers, { sid, account: '101' }, { sid, account: acct_id }] }),
    );
    await journal.append(JSON.stringify({ type: 'committed', except: [sid, 'other-20'] }));
    await journal.append('not of calls: erased-sid-1');
    await journal.close();
    const position = await store.revision('101');
    await store.erase('101', [caller]);
    expect(await store.revision('101')).toBeGreaterThan(position);
    const kept: string[] = [];
    for await (const line of store.journal('uploads').read()) kept.push(line);
    expect(kept).toEqual([
      JSON.stringify({
        type: 'prepared',
        id: 'a',
        entries: [{ sid: 'other-20', orderId: 'other-20', value: 1 }],
      }),
      JSON.stringify({ entries: [ofOthers] }),
      JSON.stringify({ type: 'committed', except: ['other-20'] }),
      'not of calls: erased-sid-1',
    ]);
    const sync = await store.note('101');
    expect(sync?.note).toEqual({ ...state, seen: [['other-20', at(20), '']] });

    // A sync that was under way would write its own state again.
    await expect(sink.commit(batchOf([], state))).rejects.toMatchObject({
      code: 'claim_lost',
      message: expect.stringMatching(
        /^An erasure or a purge has .* the next run continues from there/,
      ),
    });
  });
});

test('it says when another process reads for so long that bytes stay in the log; the next run removes them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'calls-removed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'calls.db');
  const store = await openLimitedStore(`sqlite:${path}`, {}, { busyTimeout: 300 });
  await store.putAccount({ id: '101', name: 'One' });
  await store.upsert('101', [...spellings.map(theirs), other(20)]);
  const reader = new Database(path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM accounts').all();
  expect(await store.erase('101', [caller])).toMatchObject({
    deleted: [spellings.length],
    remains: ['in_use'],
  });
  reader.exec('COMMIT');
  expect(await store.erase('101', [caller])).toMatchObject({ deleted: [0], remains: [] });
  const left = (number: string) =>
    readdirSync(folder).filter((file) => readFileSync(join(folder, file)).includes(number));
  expect(left(caller)).toEqual([]);
  expect(await sidsOf(store)).toEqual(['other-20']);

  await store.upsert('101', [other(40)]);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM accounts').all();
  expect(await store.purge('101', at(30))).toEqual({ deleted: 1, remains: ['in_use'] });
  reader.exec('COMMIT');
  expect(await store.purge('101', at(30))).toEqual({ deleted: 0, remains: [] });
  reader.close();
  expect(left(other(20).ani)).toEqual([]);
  expect(left(other(40).ani)).toEqual(['calls.db']);
  await store.close();
});

test('no byte of an erased caller is left in the files of SQLite, nor of what was purged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'calls-removed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const url = `sqlite:${join(folder, 'calls.db')}`;
  const store = await openAt(url);
  const follower = await openStore(url);
  const others = Array.from({ length: 1_000 }, (_, i) =>
    smallCall(`s${i}`, at(i % 50), '1.0', false, {
      ani: `20255${10_000 + i}`,
      url_tag: 'x'.repeat(i % 400),
    }),
  );
  for (let round = 0; round < 2; round += 1) {
    const form = { caller_name: `${name} ${round}`, url_tag: 'y'.repeat(200 * (round + 1)) };
    await store.upsert(
      '101',
      others.map((call) => ({ ...call, ...form }) as Call),
    );
    await store.upsert(
      '101',
      spellings.map((ani, i) => ({ ...theirs(ani, i), ...form, caller_name: name }) as Call),
    );
  }

  await store.upsert('101', others);
  const left = (needle: string): string[] =>
    readdirSync(folder).filter((file) => readFileSync(join(folder, file)).includes(needle));
  expect(left(name)).not.toEqual([]);
  expect(await store.erase('101', [caller])).toMatchObject({
    deleted: [spellings.length],
    remains: [],
  });
  for (const needle of ['3125550199', '5550199', '３１２', name])
    expect([needle, left(needle)]).toEqual([needle, []]);

  // The sids stay, so that copies elsewhere learn which calls went.
  expect(left('erased-sid-')).not.toEqual([]);
  expect(left('s999')).not.toEqual([]);
  expect(await store.purge('101', at(20))).toMatchObject({ remains: [] });
  const bytes = Buffer.concat(readdirSync(folder).map((file) => readFileSync(join(folder, file))));
  for (const { ani, date_added } of others)
    expect([ani, date_added, bytes.includes(ani)]).toEqual([ani, date_added, date_added >= at(20)]);

  // Whoever had the file open goes on.
  expect(await follower.count('101')).toBe(
    others.filter(({ date_added }) => date_added >= at(20)).length,
  );
  expect(await follower.upsert('101', [theirs(caller, 1), other(45)])).toMatchObject({
    added: 1,
    leftOut: 1,
  });
  await Promise.all([store.close(), follower.close()]);
  const direct = new Database(join(folder, 'calls.db'));
  expect(direct.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  direct.close();
});

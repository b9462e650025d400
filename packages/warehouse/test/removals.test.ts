import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Call } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openWarehouse, type Warehouse } from '../src/index.ts';
import { call, rowsOf, temporaryFolder, testWarehouse } from './support.ts';

const caller = '3125550199';
const name = 'Gwendolyn Featherstonehaugh';
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
const day = (i: number): string => `2026-01-${String(1 + i).padStart(2, '0')} 00:00:00`;
const theirs = spellings.map((ani, i) =>
  call(`erased-sid-${i}`, { ani, caller_name: name, date_added: day(i) }),
);
const other = (i: number, more: object = {}): Call =>
  call(`other-${i}`, { ani: `20255501${10 + i}`, date_added: day(i), ...more });
const others = [0, 10, 20].map((i) => other(i));

async function newWarehouse(path = join(temporaryFolder(), 'calls.duckdb')): Promise<Warehouse> {
  const warehouse = await openWarehouse(path);
  onTestFinished(() => warehouse.close());
  return warehouse;
}

const sids = async (warehouse: Warehouse): Promise<unknown[]> =>
  (await rowsOf(warehouse, 'select sid from records order by sid')).map(({ sid }) => sid);

/** The files of a folder, below it too, in which some bytes are. */
function filesWith(folder: string, needle: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => {
    const path = join(folder, file);
    return statSync(path).isFile() && readFileSync(path).includes(needle);
  });
}

test('callers are erased however their numbers are written, several at once, and stay out', async () => {
  const { warehouse } = await testWarehouse();
  await warehouse.load('main', [...theirs, ...others]);
  const { deleted, sids: gone } = await warehouse.erase('main', [
    '+1 (312) 555-0199',
    '2025550110',
    '3125550199',
  ]);
  expect(deleted).toEqual([spellings.length, 1, 0]);
  expect([...gone].sort()).toEqual([...theirs.map(({ sid }) => sid), 'other-0'].sort());
  expect(await warehouse.load('main', [...theirs, ...others])).toMatchObject({
    stored: 2,
    leftOut: spellings.length + 1,
  });
  expect(await sids(warehouse)).toEqual(['other-10', 'other-20']);
  const sink = warehouse.sink('main');
  await sink.load();
  expect([...theirs, ...others].filter((each) => !sink.leavesOut?.(each)).map(({ sid }) => sid)).toEqual([
    'other-10',
    'other-20',
  ]);
});

test('a call that turns out to be of an erased caller does not stay under its earlier number', async () => {
  const { warehouse } = await testWarehouse();
  await warehouse.load('main', [
    call('a', { ani: '2025550101', date_added: day(1) }),
    call('b', { ani: '2025550101', date_added: day(2) }),
  ]);
  await warehouse.erase('main', [caller]);
  expect(await warehouse.load('main', [call('a', { ani: caller, date_added: day(1) })])).toMatchObject({
    leftOut: 1,
    stored: 0,
  });
  expect(await rowsOf(warehouse, 'select sid, is_first from records')).toEqual([
    { sid: 'b', is_first: true },
  ]);
  expect(await warehouse.lastSync()).toMatchObject([{ calls: 1 }]);
});

test('a purge lasts, and the first call of each caller is again one that is there', async () => {
  const { warehouse } = await testWarehouse();
  const same = { ani: '2025550101' };
  const timeless = other(3, { date_added: 'soon' });
  await warehouse.load('main', [other(0, same), other(1, same), other(20, same), other(21), timeless]);
  expect(await warehouse.purge('main', day(1))).toBe(1);
  expect(await rowsOf(warehouse, "select sid from records where is_first and ani = '2025550101'")).toEqual([
    { sid: 'other-1' },
  ]);
  expect(await warehouse.purge('main', day(10))).toBe(1);
  expect(await warehouse.purge('main', day(5))).toBe(0);
  expect(await warehouse.removals('main')).toMatchObject({ purgedBefore: day(10), erasedCallers: 0 });
  expect(await warehouse.load('main', [other(0, same), other(9), other(10), timeless])).toMatchObject({
    leftOut: 2,
    stored: 2,
  });
  expect(await sids(warehouse)).toEqual(['other-10', 'other-20', 'other-21', 'other-3']);
  expect(await warehouse.load('main', [other(20, { ...same, date_added: day(2) })])).toMatchObject({
    leftOut: 1,
  });
  expect(await sids(warehouse)).toEqual(['other-10', 'other-21', 'other-3']);
  await expect(warehouse.purge('main', 'yesterday')).rejects.toMatchObject({ code: 'invalid_question' });
});

describe('a folder of Parquet files', () => {
  test('takes along what was erased and purged, as keyed hashes', async () => {
    const { warehouse } = await testWarehouse();
    await warehouse.load('main', [...theirs, ...others]);
    await warehouse.load('gone', theirs);
    await warehouse.load('second', [other(4)]);
    for (const account of ['main', 'gone']) await warehouse.erase(account, [caller]);
    await warehouse.purge('main', day(5));
    const folder = join(temporaryFolder(), 'out');
    await warehouse.exportParquet(folder);
    expect(filesWith(folder, '5550199')).toEqual([]);
    const part = 'account=main/month=2026-01/part-0.parquet';
    const ways: readonly [path: string, account?: string][] = [
      [folder],
      [join(folder, 'account=main')],
      [join(folder, part), 'main'],
    ];
    for (const [path, account] of ways) {
      const copy = await newWarehouse();
      if (account === undefined && path !== folder) await copy.loadParquet(path, 'main');
      else await copy.loadParquet(path, account);
      expect(await copy.load('main', [...theirs, ...others])).toMatchObject({
        leftOut: spellings.length + 1,
      });
      expect((await sids(copy)).filter((sid) => sid !== 'other-4')).toEqual(['other-10', 'other-20']);
      expect((await copy.removals('main')).purgedBefore).toBe(day(5));
    }
    const whole = await newWarehouse();
    await whole.loadParquet(folder);
    expect(await whole.load('gone', theirs)).toMatchObject({ leftOut: spellings.length });
    // One account of several: nobody learns of the others from it.
    const one = join(temporaryFolder(), 'one');
    await warehouse.exportParquet(one, { accounts: ['second'] });
    expect(readdirSync(one).sort()).toEqual(['_calls.json', 'account=second']);
  });

  test('erases who was erased where it comes from, and purges nothing', async () => {
    const { warehouse } = await testWarehouse();
    await warehouse.load('main', [...theirs, ...others]);
    await warehouse.erase('main', [caller]);
    await warehouse.purge('main', day(5));
    const folder = join(temporaryFolder(), 'out');
    await warehouse.exportParquet(folder);
    const copy = await newWarehouse();
    await copy.load('main', [...theirs, ...others]);
    await copy.erase('main', ['2025550120']);
    await copy.loadParquet(folder);
    expect(await sids(copy)).toEqual(['other-0', 'other-20']);
    const removals = await copy.removals('main');
    expect(removals).toMatchObject({ erasedCallers: 2, purgedBefore: null });
    expect([caller, '2025550120', '2025550110'].map(removals.isErased)).toEqual([true, true, false]);
    writeFileSync(
      join(folder, '_calls.removals.json'),
      '{"removals":1,"accounts":{"main":{"erased":[{"key":"short"}]}}}',
    );
    await expect(copy.loadParquet(folder)).rejects.toThrow(
      'does not say in a known form which callers were erased',
    );
  });
});

test('no byte of an erased caller is left in any file of a warehouse', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'calls.duckdb');
  const [warehouse, follower] = [await newWarehouse(path), await newWarehouse(path)];
  const many = Array.from({ length: 3_000 }, (_, i) =>
    other(i % 28, { sid: `s${i}`, ani: `20255${10_000 + i}` }),
  );
  await warehouse.load('main', many);
  const sink = warehouse.sink('main');
  await sink.load();
  const state: SyncState = {
    version: 2,
    account: null,
    parts: [],
    seen: [...theirs, other(1)].map(({ sid, date_added }) => [sid, date_added, 'hash']),
  };
  await sink.commit({ calls: [...theirs.slice(0, 4), ...others], state, isLast: true });
  await sink.commit({ calls: theirs.slice(4), state, isLast: false });
  expect(filesWith(folder, name)).not.toEqual([]);
  // A sync that is under way would save what it remembers.
  await expect(follower.erase('main', [caller])).rejects.toMatchObject({ code: 'account_in_use' });
  expect(await warehouse.erase('main', [caller])).toMatchObject({ deleted: [spellings.length], remains: [] });
  for (const needle of [caller, '5550199', '３１２５', name, 'erased-sid-'])
    expect([needle, filesWith(folder, needle)]).toEqual([needle, []]);
  expect(await sink.load()).toEqual({
    ...state,
    seen: [['other-1', day(1), 'hash']],
  });
  // All else is there, also for whoever had the file open, and in the same order.
  expect(await follower.count({ calls: 'all' })).toMatchObject({ calls: 3_003 });
  expect((await rowsOf(follower, 'select sid from records limit 2')).map(({ sid }) => sid)).toEqual([
    's0',
    's1',
  ]);
  expect(await warehouse.load('main', [...theirs, other(25)])).toMatchObject({
    leftOut: spellings.length,
    added: 1,
  });
  expect(
    await rowsOf(follower, "select comment from duckdb_views() where view_name = 'calls'"),
  ).toMatchObject([{ comment: expect.stringContaining('One row for each call') }]);
  await warehouse.close();
  expect(filesWith(folder, name)).toEqual([]);
  expect(existsSync(join(dirname(path), 'calls.duckdb.wal'))).toBe(false);
});

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import { describe, expect, test, vi } from 'vitest';
import { openWarehouse } from '../src/index.ts';
import {
  call,
  ofEndedProcess,
  rowsOf,
  stateAt,
  storedCalls,
  syncState,
  temporaryFolder,
  testWarehouse,
} from './support.ts';

const running = syncState(false);
const finished = syncState(true);
const sids = async (warehouse: Parameters<typeof storedCalls>[0]) =>
  [...(await storedCalls(warehouse)).keys()].sort();

describe('the sink of a sync', () => {
  test('it stores calls and state together when a run has finished', async () => {
    const { warehouse } = await testWarehouse();
    const sink = warehouse.sink('main');
    expect(await sink.load()).toBeNull();
    await sink.commit({ calls: [call('a'), call('b')], ...running });
    await sink.commit({ calls: [call('c')], ...syncState(true, 0, 8) });
    expect(await sids(warehouse)).toEqual(['a', 'b', 'c']);
    expect(stateAt(await sink.load())).toBe(8);
    expect(await warehouse.lastSync()).toMatchObject([{ account: 'main', calls: 3 }]);
  });

  test('the later of two calls with one sid wins, within a batch, a run and the database', async () => {
    const { warehouse } = await testWarehouse();
    const sink = warehouse.sink('main');
    await sink.load();
    await sink.commit({
      calls: [call('a', { city: '1' }), call('a', { city: '2' }), call('b', { city: '1' })],
      ...running,
    });
    await sink.commit({ calls: [call('b', { city: '2' }), call('c', { city: '1' })], ...running });
    await sink.commit({ calls: [], ...finished });
    await sink.commit({ calls: [call('c', { city: '2' })], ...finished });
    const found = await storedCalls(warehouse);
    expect([...found.values()].map((each) => each.city)).toEqual(['2', '2', '2']);
    expect(await rowsOf(warehouse, 'select count(*) as n from calls')).toEqual([{ n: 3 }]);
  });

  test('accounts are apart: the same sid in two of them is two calls', async () => {
    const { warehouse } = await testWarehouse();
    await warehouse.load('one', [call('a', { city: 'One' })]);
    await warehouse.load('two', [call('a', { city: 'Two' })]);
    expect(await warehouse.get('a', 'one')).toMatchObject({ city: 'One' });
    expect(await warehouse.get('a', 'two')).toMatchObject({ city: 'Two' });
    await expect(warehouse.get('a')).rejects.toMatchObject({ code: 'invalid_question' });
    expect(await warehouse.get('nobody')).toBeNull();
  });

  test('a warehouse is a file: a name that DuckDB takes for something else is refused', async () => {
    await expect(openWarehouse(':memory:')).rejects.toThrow(/path must be the path of a file/);
    expect(existsSync(':memory:.staged')).toBe(false);
  });

  test('what is staged when a process ends is stored when the warehouse is opened again', async () => {
    const path = join(temporaryFolder(), 'calls.duckdb');
    const first = await openWarehouse(path);
    const sink = first.sink('main');
    await sink.load();
    await sink.commit({ calls: [call('a', { city: 'two\nlines' })], ...syncState(false, 0, 1) });
    await sink.commit({ calls: [call('b')], ...syncState(false, 0, 2) });
    const staged = `${path}.staged`;
    const copy = temporaryFolder();
    for (const name of readdirSync(staged)) writeFileSync(join(copy, name), readFileSync(join(staged, name)));
    await first.close();
    expect(readdirSync(staged)).toEqual([]);

    // As a killed process leaves it: its lock, and a line and an entry of the journal that were being written.
    const again = join(temporaryFolder(), 'calls.duckdb');
    await (await openWarehouse(again)).close();
    mkdirSync(`${again}.staged`, { recursive: true });
    for (const name of readdirSync(copy))
      writeFileSync(join(`${again}.staged`, name), readFileSync(join(copy, name)));
    const lock = join(`${again}.staged`, 'main.lock');
    writeFileSync(lock, ofEndedProcess(readFileSync(lock, 'utf8')));
    const lines = join(`${again}.staged`, 'main.lines');
    writeFileSync(lines, Buffer.concat([readFileSync(lines), Buffer.from('half a li')]));
    const journal = join(`${again}.staged`, 'main.journal');
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}{"bytes":99999`);
    const second = await openWarehouse(again);
    expect(await sids(second)).toEqual(['a', 'b']);
    expect(await second.get('a')).toEqual(call('a', { city: 'two\nlines' }));
    expect(stateAt(await second.sink('main').load())).toBe(2);
    expect(existsSync(lines)).toBe(false);
    await second.close();
  });

  test('a page that a full disk refused leaves neither calls nor a state', async () => {
    const path = join(temporaryFolder(), 'calls.duckdb');
    const first = await openWarehouse(path);
    const sink = first.sink('main');
    await sink.load();
    const batch = { calls: [call('a')], ...syncState(false, 0, 1) };
    // What a full disk says to the next write to any file.
    const any = await open(join(temporaryFolder(), 'any'), 'w');
    const write = vi.spyOn(Object.getPrototypeOf(any), 'write');
    write.mockRejectedValueOnce(
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    );
    await expect(sink.commit(batch)).rejects.toMatchObject({ code: 'disk_full' });
    expect(write).toHaveBeenCalledOnce();
    write.mockRestore();
    await any.close();
    await first.close();
    const second = await openWarehouse(path);
    expect(await second.sink('main').load()).toBeNull();
    expect(await sids(second)).toEqual([]);
    await second.sink('main').commit(batch);
    await second.close();
    const third = await openWarehouse(path);
    expect(await sids(third)).toEqual(['a']);
    expect(stateAt(await third.sink('main').load())).toBe(1);
    await third.close();
  });

  test('after a batch was stored, the next one is staged in the same file, and nothing of the first remains in it', async () => {
    const { warehouse } = await testWarehouse({ batch: 2 });
    const sink = warehouse.sink('main');
    await sink.load();
    const long = 'x'.repeat(5000);
    await sink.commit({ calls: [call('a', { city: long }), call('b', { city: long })], ...running });
    await sink.commit({ calls: [call('c')], ...running });
    await sink.commit({ calls: [call('d'), call('e', { ani: 'Anonymous' })], ...running });
    await sink.commit({ calls: [call('f', { first_name: 'a\u0000"b' })], ...finished });
    const found = await storedCalls(warehouse);
    expect([...found.keys()].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(found.get('f')).toEqual(call('f', { first_name: 'a\u0000"b' }));
  });

  test('calls are stored by the batch, and after a minute even when they are few', async () => {
    let now = Date.UTC(2026, 0, 1);
    const { warehouse } = await testWarehouse({ batch: 3, clock: { now: () => now } });
    const sink = warehouse.sink('main');
    await sink.load();
    await sink.commit({ calls: [call('a'), call('b')], ...running });
    expect(await sids(warehouse)).toEqual([]);
    await sink.commit({ calls: [call('c')], ...running });
    expect(await sids(warehouse)).toEqual(['a', 'b', 'c']);
    await sink.commit({ calls: [call('d')], ...running });
    expect((await sids(warehouse)).length).toBe(3);
    now += 61_000;
    await sink.commit({ calls: [call('e')], ...running });
    expect((await sids(warehouse)).length).toBe(5);
    // A page that goes over the end of a batch is divided, so that each batch is whole.
    await sink.commit({ calls: ['f', 'g', 'h', 'i'].map((sid) => call(sid)), ...running });
    expect((await sids(warehouse)).length).toBe(8);
    expect(await warehouse.lastSync()).toMatchObject([
      { storedAt: '2026-01-01T00:01:01.000Z', syncedAt: null },
    ]);
  });

  test('what was stored while more calls could come leaves no file behind, however long it took', async () => {
    let now = Date.UTC(2026, 0, 1);
    const clock = { now: () => (now += 61_000) };
    const { warehouse, path } = await testWarehouse({ clock });
    const staged = () => readdirSync(`${path}.staged`).filter((name) => name !== 'main.lock');
    expect(await warehouse.load('main', [call('a'), call('b')])).toMatchObject({ added: 2 });
    expect(staged()).toEqual([]);
    const sink = warehouse.sink('main');
    await sink.load();
    await sink.commit({ calls: [call('c')], ...running });
    expect(await sids(warehouse)).toEqual(['a', 'b', 'c']);
    expect(staged()).toContain('main.lines');
    await warehouse.close();
    expect(staged()).toEqual([]);
  });

  test('one account is filled by one sync at a time', async () => {
    const { warehouse, path } = await testWarehouse();
    await warehouse.sink('main').load();
    const other = await openWarehouse(path);
    await expect(other.sink('main').load()).rejects.toMatchObject({
      code: 'account_in_use',
      message: `Process ${process.pid} fills the account main. Wait until it ends; remove ${path}.staged/main.lock if that process is something else.`,
    });
    await warehouse.close();
    expect(await other.sink('main').load()).toBeNull();
    await other.close();
  });

  test('a call without a sid and an account without a usable name are refused', async () => {
    const { warehouse } = await testWarehouse();
    for (const sid of ['', null, undefined, {}, Number.NaN, '\ud800']) {
      await expect(warehouse.load('main', [call('a', { sid })])).rejects.toMatchObject({
        code: 'invalid_record',
      });
    }
    const notCalls = [null, undefined, 'a'] as unknown as Call[];
    for (const each of notCalls)
      await expect(warehouse.load('main', [each])).rejects.toMatchObject({ code: 'invalid_record' });
    for (const account of ['', 'a b', '../x', 'x'.repeat(65)]) {
      expect(() => warehouse.sink(account)).toThrow(/cannot be the name of an account/);
    }
  });
});

test('a sid is a string: 7 and "7" are one call', async () => {
  const { warehouse } = await testWarehouse();
  await warehouse.load('main', [call('7', { sid: 7 }), call('7', { city: 'Later' })]);
  expect(await sids(warehouse)).toEqual(['7']);
  expect(await warehouse.get('7', 'main')).toMatchObject({ sid: '7', city: 'Later' });
});

test('a value that is nested too deep is refused, and the calls before it stay', async () => {
  const { warehouse } = await testWarehouse();
  await warehouse.load('main', [call('a')]);
  const deep = Array.from({ length: 100_000 }).reduce<unknown>((inner) => [inner], 'end');
  await expect(warehouse.load('main', [call('b', { more: deep })])).rejects.toMatchObject({
    code: 'invalid_record',
  });
  await warehouse.load('main', [call('c')]);
  expect(await sids(warehouse)).toEqual(['a', 'c']);
});

test('accounts may be called like files of the warehouse', async () => {
  const { warehouse } = await testWarehouse();
  for (const account of ['.writer', '.again', '..a']) {
    expect(await warehouse.load(account, [call('a')])).toMatchObject({ stored: 1 });
  }
  expect((await warehouse.lastSync()).map(({ account }) => account)).toEqual(['..a', '.again', '.writer']);
});

describe('erased callers', () => {
  const number = '+1 (555) 555-0142';

  test('their calls go, however the number is written, and do not come back', async () => {
    const { warehouse, path } = await testWarehouse();
    const theirs = [
      call('a', { ani: '5555550142' }),
      call('b', { ani: number }),
      call('c', { ani: '15555550142' }),
    ];
    await warehouse.load('main', [...theirs, call('d', { ani: '5555550143' })]);
    await warehouse.load('other', [call('e', { ani: number })]);
    expect(await warehouse.erase('main', ['555-555-0142'])).toMatchObject({ deleted: [3], remains: [] });
    expect(await warehouse.erase('main', ['555-555-0142'])).toMatchObject({ deleted: [0] });
    expect(await sids(warehouse)).toEqual(['d', 'e']);
    expect(await warehouse.load('main', [...theirs, call('f')])).toEqual({
      stored: 1,
      added: 1,
      changed: 0,
      leftOut: 3,
    });
    const sink = warehouse.sink('main');
    await sink.load();
    await sink.commit({ calls: [call('g', { ani: number })], ...finished });
    expect(await sids(warehouse)).toEqual(['d', 'e', 'f']);
    expect(JSON.stringify(await rowsOf(warehouse, 'select * from erased'))).not.toContain('0142');
    await warehouse.close();
    const again = await openWarehouse(path);
    await again.load('main', theirs);
    expect(await sids(again)).toEqual(['d', 'e', 'f']);
    await again.close();
  });

  test('callers without digits are erased by what the API sent', async () => {
    const { warehouse } = await testWarehouse();
    const all = ['Anonymous', 'anonymous', '', null, '1234567890123456789012'].map((ani, i) =>
      call(`S${i}`, { ani }),
    );
    await warehouse.load('main', all);
    expect(await warehouse.erase('main', ['Anonymous'])).toMatchObject({ deleted: [1] });
    expect(await warehouse.erase('main', ['1234-567890123456789012'])).toMatchObject({ deleted: [1] });
    expect(await warehouse.load('main', all)).toEqual({ stored: 3, added: 0, changed: 0, leftOut: 2 });
    expect(await sids(warehouse)).toEqual(['S1', 'S2', 'S3']);
  });

  test('calls that are staged when the caller is erased are not stored', async () => {
    const { warehouse } = await testWarehouse();
    const sink = warehouse.sink('main');
    await sink.load();
    await sink.commit({ calls: [call('a', { ani: number }), call('b')], ...running });
    await warehouse.erase('main', [number]);
    await sink.commit({ calls: [], ...finished });
    expect(await sids(warehouse)).toEqual(['b']);
  });

  test('nobody is erased without a number', async () => {
    const { warehouse } = await testWarehouse();
    await warehouse.load('main', [call('a', { ani: '' })]);
    for (const callers of [[], [''], ['  '], [undefined], [5], [number, '']])
      await expect(warehouse.erase('main', callers as string[])).rejects.toMatchObject({
        code: 'invalid_question',
      });
    expect(await warehouse.load('main', [call('a', { ani: '' })])).toEqual({
      stored: 1,
      added: 0,
      changed: 0,
      leftOut: 0,
    });
  });
});

test('the state of a sync survives as it was', async () => {
  const { warehouse } = await testWarehouse();
  const state: SyncState = {
    ...syncState(true, 3, 1).state,
    seen: [['S1', '2024-01-01 00:00:00', "it's"]],
  };
  const sink = warehouse.sink('main');
  await sink.load();
  await sink.commit({ calls: [], state, isLast: true });
  expect(await sink.load()).toEqual(state);
});

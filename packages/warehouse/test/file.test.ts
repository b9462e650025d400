import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openWarehouse } from '../src/index.ts';
import { call, temporaryFolder } from './support.ts';

const some = (count: number) =>
  Array.from({ length: count }, (_, at) => call(`c${at}`, { more: `${at * 7919}`.repeat(40) }));

async function filled(count = 5_000) {
  const path = join(temporaryFolder(), 'calls.duckdb');
  const warehouse = await openWarehouse(path);
  await warehouse.load('main', some(count));
  return { warehouse, path };
}

/** Changes one byte in the middle of what is in the file. */
function changeByte(path: string): void {
  const bytes = readFileSync(path);
  // Every block, so that one of them is read: which ones a small load needs is DuckDB's affair.
  for (let at = 12_288 + 100; at < bytes.length; at += 262_144) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}

// An open file cannot be removed on Windows.
describe.skipIf(process.platform === 'win32')('a file that does not stay as it was', () => {
  test.each([
    ['removed', (path: string) => rmSync(path)],
    ['moved', (path: string) => renameSync(path, `${path}.moved`)],
    [
      'replaced by a copy',
      (path: string) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
    ['cut in half', (path: string) => truncateSync(path, statSync(path).size / 2)],
    ['emptied', (path: string) => truncateSync(path, 0)],
    ['damaged', changeByte],
  ])('a load and a question find out that it was %s', async (what, change) => {
    const { warehouse, path } = await filled();
    expect((await warehouse.count()).calls).toBe(5_000);
    change(path);
    const failure = { code: 'damaged', message: expect.stringContaining(path) };
    await expect(warehouse.load('main', [call('new')])).rejects.toMatchObject(failure);
    // What is left of a file that was cut may have the answer.
    if (what !== 'cut in half') await expect(warehouse.get('c1')).rejects.toMatchObject(failure);
    await warehouse.close().catch(() => {});
    // Nothing was made in its place.
    expect(readdirSync(dirname(path)).includes('calls.duckdb')).toBe(!['removed', 'moved'].includes(what));
  });

  test.each([
    ['in half', (size: number) => size / 2],
    ['by a block', (size: number) => size - 262_144],
    ['by a byte', (size: number) => size - 1],
  ])('a file that was cut %s while nobody had it open takes no call of a sync or a load', async (_, left) => {
    const { warehouse, path } = await filled();
    await warehouse.close();
    truncateSync(path, left(statSync(path).size));
    const damaged = { code: 'damaged', message: expect.stringContaining(path) };
    const opened = await openWarehouse(path).catch((error: unknown) => error);
    if (opened instanceof Error) return expect(opened).toMatchObject(damaged);
    const again = opened as typeof warehouse;
    await expect(again.sink('main').load()).rejects.toMatchObject(damaged);
    await expect(again.load('main', [call('new')])).rejects.toMatchObject(damaged);
    return again.close().catch(() => {});
  });
});

test('a warehouse that was closed is one file, which can be copied', async () => {
  const { warehouse, path } = await filled();
  await warehouse.close();
  expect(readdirSync(dirname(path)).sort()).toEqual(['calls.duckdb', 'calls.duckdb.staged']);
  expect(readdirSync(`${path}.staged`)).toEqual([]);
  copyFileSync(path, `${path}.copy`);
  const copy = await openWarehouse(`${path}.copy`, { create: false });
  expect((await copy.count()).calls).toBe(5_000);
  await copy.close();
});

test('a file that other processes and this one make larger and smaller is the same', async () => {
  const { warehouse, path } = await filled(100);
  const other = await openWarehouse(path);
  await other.load('other', some(20_000));
  await warehouse.load('main', [call('new')]);
  for (let i = 0; i < 3; i += 1) await other.load('other', some(20_000));
  expect((await warehouse.count()).calls).toBe(20_101);
  await Promise.all([warehouse.close(), other.close()]);
});

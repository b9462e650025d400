import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openDrill } from '@call-attribution/test-tools/drill';
import { openWarehouse } from '@call-attribution/warehouse';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Finished } from '../program.ts';
import { openStage } from '../stage.ts';

openDrill({
  name: 'partitions',
  kind: 'whole programs',
  what: 'A warehouse is exported in folders for each month; run again, it writes only what has changed',
  countTests: true,
});

const stage = openStage();
const folder = stage.folder();
const store = 'duckdb:calls.duckdb';
const month = ['export', '--partition', 'month', '--include-extensions'];

/** Runs `calls` where the warehouse is. */
const calls = (args: readonly string[]): Promise<Finished> =>
  stage.quick(args, { cwd: folder, env: { CALLS_BEARER_TOKEN: inject('callsToken') } });

beforeAll(async () => {
  await calls(['sync', '--store', store]);
});
afterAll(() => stage.close());

describe('calls export --partition', () => {
  const filesIn = (name: string): string[] =>
    readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.parquet'))
      .sort();

  test('it writes a folder for each month of the warehouse, which another one loads with the same calls', async () => {
    const own = await calls([...month, '-o', 'own/', '--store', store]);
    expect(own).toMatchObject({ code: 0, stderr: expect.stringMatching(/^own\/: 600 calls in 3 files, /m) });
    expect(filesIn('own')[0]).toBe(join('account=101', 'month=2026-08', 'part-0.parquet'));
    const loaded = await openWarehouse(join(folder, 'loaded.duckdb'));
    await loaded.loadParquet(join(folder, 'own'));
    const source = await openWarehouse(join(folder, 'calls.duckdb'));
    const all = async (from: typeof source): Promise<unknown[]> => Readable.from(from.calls()).toArray();
    expect(await all(loaded)).toEqual(await all(source));
    await Promise.all([loaded.close(), source.close()]);
  });

  test('calls of the API are refused before anything is read, with how to have them', async () => {
    const { code, stderr } = await calls([...month, '-o', 'api/', '--debug']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /--partition writes the calls of a warehouse\n.*calls sync --store duckdb:calls\.duckdb.*\n.*then calls export --store duckdb:calls\.duckdb --partition month -o api\//,
    );
    expect(stderr).not.toMatch(/GET /);
    expect(existsSync(join(folder, 'api'))).toBe(false);
  });

  test('it says that it writes, not that it waits for the warehouse', async () => {
    const args = ['export', '--partition', 'day', '--include-extensions', '-o', 'days/', '--store', store];
    const { code, stderr } = await stage.quick(args, { cwd: folder, patience: 1 });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^writing days\/$/m);
  });

  test('run again it writes only what has changed, and refuses to mix other calls in', async () => {
    const args = ['export', '-o', 'own', '--store', store, '--partition'];
    const again = await calls([...args, 'month', '--include-extensions']);
    expect(again.stderr).toMatch(/own: 600 calls in 3 files \(3 unchanged\)/);
    const other = await calls([...args, 'day']);
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/own holds an export of other calls/);
  });

  test.each([
    [['-o', 'a.csv', '--fields', 'sid'], /--fields cannot be used with --partition/],
    [['-o', 'a', '--format', 'csv'], /--format csv cannot be used with --partition/],
    [['-o', '-'], /--partition writes a folder, and --output - is not one/],
    [['-o', 'a-file'], /--output a-file is not one/],
    [['-o', 'own', '--store', store, '--resume'], /--resume is for exports from the API/],
  ])('%j is refused', async (args, message) => {
    writeFileSync(join(folder, 'a-file'), '');
    const { code, stderr } = await calls(['export', '--partition', 'month', ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});

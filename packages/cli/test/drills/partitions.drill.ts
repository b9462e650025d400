import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { openWarehouse } from '@call-attribution/warehouse';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Finished } from '../program.ts';
import { openStage } from '../stage.ts';

const stage = openStage();
const folder = stage.folder();
const store = 'duckdb:calls.duckdb';

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

  test('it writes a folder for each month, from the warehouse and from the API, with the same calls', async () => {
    const args = ['export', '--partition', 'month', '--include-extensions'];
    const own = await calls([...args, '-o', 'own/', '--store', store]);
    expect(own.stderr).toMatch(/^own\/: 600 calls in 3 files, /m);
    const api = await calls([...args, '-o', 'api/']);
    expect(api).toMatchObject({ code: 0 });
    expect(api.stderr).toMatch(/^complete: 600 calls, as many as the server counts$/m);
    expect(filesIn('own')[0]).toBe(join('account=101', 'month=2026-08', 'part-0.parquet'));
    expect(filesIn('api')).toEqual(filesIn('own'));
    for (const name of ['api.rows', 'api.rows.duckdb', 'api.rows.duckdb.staged'])
      expect(existsSync(join(folder, name))).toBe(false);
    const loaded = await openWarehouse(join(folder, 'loaded.duckdb'));
    await loaded.loadParquet(join(folder, 'api'));
    const source = await openWarehouse(join(folder, 'calls.duckdb'));
    const all = async (from: typeof source): Promise<unknown[]> => Readable.from(from.calls()).toArray();
    expect(await all(loaded)).toEqual(await all(source));
    await Promise.all([loaded.close(), source.close()]);
  });

  test('it says that it writes, not that it waits for the warehouse', async () => {
    const args = ['export', '--partition', 'day', '--include-extensions', '-o', 'days/', '--store', store];
    const { code, stderr } = await stage.quick(args, { cwd: folder, patience: 1 });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^writing days\/$/m);
  });

  test('an export from the API that was stopped continues with --resume', async () => {
    const stop = new AbortController();
    const args = ['export', '-o', 'cut', '--partition', 'month', '--include-extensions', '--rows', '20'];
    const run = stage.quick(args, { cwd: folder, signal: stop.signal });
    while (!existsSync(join(folder, 'cut.rows.checkpoint'))) await setTimeout(1);
    stop.abort();
    const { code, stderr } = await run;
    expect(code).toBe(130);
    expect(stderr).toMatch(/run the same command with --resume; the calls so far are in cut.rows.partial/);
    expect(existsSync(join(folder, 'cut'))).toBe(false);
    const resumed = await calls([...args, '--resume']);
    expect(resumed.stderr).toMatch(/^cut: 600 calls in \d+ files/m);
    expect(resumed.code).toBe(0);
    expect(existsSync(join(folder, 'cut.rows'))).toBe(false);
  });

  test('when the folder cannot be written, --resume writes it without reading again', async () => {
    const args = ['export', '-o', 'late', '--partition', 'month', '--include-extensions'];
    mkdirSync(join(folder, 'late'));
    writeFileSync(join(folder, 'late', 'notes.txt'), 'mine');
    const failed = await calls(args);
    expect(failed.code).toBe(2);
    expect(failed.stderr).toMatch(/late holds something that is not an export of calls \(notes.txt\)/);
    expect(failed.stderr).toMatch(/all calls were read and are in late.rows; .* with --resume/);
    rmSync(join(folder, 'late', 'notes.txt'));
    const changed = await calls([...args, '--from', '2026-10-30', '--resume']);
    expect(changed.code).toBe(2);
    expect(changed.stderr).toMatch(/cannot resume late: it was started with other options/);
    const written = await calls([...args, '--resume', '--verbose']);
    expect(written.stderr).toMatch(/^all calls were read before; writing the folder$/m);
    expect(written.stderr).not.toMatch(/GET /);
    expect(written.stderr).toMatch(/^late: 600 calls in 3 files/m);
    expect(written.stderr).toMatch(/^complete: 600 calls, as many as the server counts$/m);
    expect(written.code).toBe(0);
    for (const name of ['late.rows', 'late.rows.read']) expect(existsSync(join(folder, name))).toBe(false);
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
  ])('%j is refused', async (args, message) => {
    writeFileSync(join(folder, 'a-file'), '');
    const { code, stderr } = await calls(['export', '--partition', 'month', ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});

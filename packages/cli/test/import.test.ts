import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openWarehouse } from '@call-attribution/warehouse';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { nobody, openStage } from './stage.ts';

const stage = openStage();
afterAll(() => stage.close());

const lines = fixtureCalls(3000).map((call) => `${JSON.stringify({ ...call, acct_id: '101' })}\n`);
const store = ['--store', 'sqlite:calls.db', '--account', '101'];
let cwd = '';
const run = (...args: string[]) => stage.quick(args, { cwd, env: nobody });
beforeEach(async () => {
  cwd = stage.folder();
  await run('store', 'accounts', 'add', ...store);
});

async function stored(): Promise<number> {
  const { stdout } = await run('store', 'sizes', ...store.slice(0, 2));
  return JSON.parse(stdout).accounts[0].calls;
}

describe('calls store import', () => {
  test.each<[string, Buffer, number]>([
    ['in.ndjson', Buffer.from(lines.join('')), 3000],
    ['in.ndjson.gz', gzipSync(lines.join('')), 3000],
    ['mark.ndjson', Buffer.from(`\uFEFF${lines.join('')}`), 3000],
    ['mark.ndjson.gz', gzipSync(`\uFEFF${lines.slice(0, 2).join('')}`), 2],
    ['only-a-mark.ndjson', Buffer.from('\uFEFF'), 0],
    ['empty.ndjson', Buffer.alloc(0), 0],
  ])('it reads %s', async (name, bytes, calls) => {
    writeFileSync(join(cwd, name), bytes);
    const { code, stderr } = await run('store', 'import', name, ...store);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await stored()).toBe(calls);
  });

  test.each<[string, Buffer | null, number, RegExp]>([
    ['none.ndjson', null, 2, /^calls: there is no file none\.ndjson\n$/],
    ['none.ndjson.gz', null, 2, /^calls: there is no file none\.ndjson\.gz\n$/],
    ['folder', null, 1, /^calls: folder: it is a folder; name a file in it\n$/],
    [
      'cut.ndjson.gz',
      gzipSync(lines.join('')).subarray(0, -100),
      1,
      /^calls: cut\.ndjson\.gz: it is cut or damaged, and cannot be unpacked\n.*the calls before the damage are stored/,
    ],
    [
      'plain.ndjson.gz',
      Buffer.from(lines.join('')),
      1,
      /^calls: plain\.ndjson\.gz: it is cut or damaged, and cannot be unpacked\n/,
    ],
  ])('%s is refused in a sentence that names it', async (name, bytes, status, message) => {
    if (name === 'folder') mkdirSync(join(cwd, name));
    if (bytes !== null) writeFileSync(join(cwd, name), bytes);
    const { code, stderr } = await run('store', 'import', name, ...store);
    expect({ code, stderr }).toEqual({ code: status, stderr: expect.stringMatching(message) });
    expect(stderr).not.toMatch(/unexpected/);
  });

  test('a store that is not there is not made, and how it can be is said', async () => {
    writeFileSync(join(cwd, 'in.ndjson'), lines[0] ?? '');
    const { code, stderr } = await run(
      'store',
      'import',
      'in.ndjson',
      '--store',
      'sqlite:new.db',
      '--account',
      '101',
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /There is no store sqlite:.*new\.db\.\n.*calls sync .*\n.*calls store accounts add makes one/,
      ),
    });
  });

  test('that no sync of an account has finished is said once in a report', async () => {
    writeFileSync(join(cwd, 'in.ndjson'), lines.join(''));
    await run('store', 'import', 'in.ndjson', ...store);
    const warehouse = await openWarehouse(join(cwd, 'calls.duckdb'));
    await warehouse.load('101', fixtureCalls(30));
    await warehouse.close();
    for (const copy of ['sqlite:calls.db', 'duckdb:calls.duckdb'])
      expect((await run('report', '--store', copy)).stderr.match(/no sync of .*/gi)).toEqual([
        'no sync of account 101 has finished yet: calls may be missing',
      ]);
  });

  test('a file that was cut is imported again when it is whole', async () => {
    const bytes = gzipSync(lines.join(''));
    writeFileSync(join(cwd, 'in.ndjson.gz'), bytes.subarray(0, bytes.length / 2));
    expect((await run('store', 'import', 'in.ndjson.gz', ...store)).code).toBe(1);
    writeFileSync(join(cwd, 'in.ndjson.gz'), bytes);
    expect((await run('store', 'import', 'in.ndjson.gz', ...store)).code).toBe(0);
    expect(await stored()).toBe(3000);
    expect(readFileSync(join(cwd, 'in.ndjson.gz'))).toEqual(bytes);
  });
});

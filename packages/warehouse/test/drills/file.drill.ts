import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import { openWarehouse } from '../../src/index.ts';
import { call, cleanUp, rowsOf, storedCalls, temporaryFolder, testWarehouse } from '../support.ts';

const tally = openDrill({
  name: 'warehouse-files',
  kind: 'full disk',
  what: 'A disk that is full or cannot be written, and files of other programs and releases; what was acknowledged is there, and the same command runs again',
  countTests: true,
});

/** Runs statements on a file, past the warehouse. */
async function alter(path: string, ...statements: string[]): Promise<void> {
  const db = await DuckDBInstance.create(path);
  const connection = await db.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  db.closeSync();
}

afterAll(cleanUp);

describe('a file that is not a warehouse', () => {
  const folder = temporaryFolder();

  test('one that is not a DuckDB file is left as it is', async () => {
    const path = join(folder, 'notes.txt');
    writeFileSync(path, 'not a database '.repeat(1000));
    await expect(openWarehouse(path)).rejects.toMatchObject({
      code: 'not_a_warehouse',
      message: `${path} is not a DuckDB file. Name another file, or a new one and sync again.`,
    });
    expect(readFileSync(path, 'utf8')).toBe('not a database '.repeat(1000));
  });

  test('one that DuckDB would open in another way is refused too', async () => {
    for (const [name, text] of [
      ['calls.json', '{"a":1}'],
      ['calls.csv', 'a,b\n1,2\n'],
      ['calls.duckdb', 'x'],
    ] as const) {
      const path = join(folder, name);
      writeFileSync(path, text);
      await expect(openWarehouse(path)).rejects.toMatchObject({ code: 'not_a_warehouse' });
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
  });

  test('a DuckDB file with other tables is left as it is', async () => {
    const path = join(folder, 'other.duckdb');
    await alter(path, 'create table mine (x integer)');
    await expect(openWarehouse(path)).rejects.toMatchObject({
      code: 'not_a_warehouse',
      message: `${path} is a DuckDB file but not a warehouse of calls. Name another file.`,
    });
  });

  test('a folder, and a file that does not exist', async () => {
    await expect(openWarehouse(folder)).rejects.toMatchObject({
      code: 'not_a_warehouse',
      message: `${folder} is a folder. Name a file in it, such as ${join(folder, 'calls.duckdb')}.`,
    });
    const path = join(folder, 'missing.duckdb');
    await expect(openWarehouse(path, { create: false })).rejects.toMatchObject({
      code: 'not_found',
      summary: `There is no warehouse at ${path}.`,
    });
    await expect(openWarehouse(join(folder, 'nowhere', 'x.duckdb'))).rejects.toMatchObject({
      code: 'not_found',
      message: `There is no folder ${join(folder, 'nowhere')} to put a warehouse in.`,
    });
  });

  test('an empty file becomes a warehouse', async () => {
    const path = join(folder, 'empty.duckdb');
    writeFileSync(path, '');
    const warehouse = await openWarehouse(path);
    await warehouse.load('main', [call('a')]);
    expect(await warehouse.count()).toMatchObject({ calls: 1 });
    await warehouse.close();
  });
});

describe('another version', () => {
  test('a file of a later release is refused', async () => {
    const { warehouse, path } = await testWarehouse();
    await warehouse.load('main', [call('a')]);
    await alter(path, 'update meta set version = 99');
    const message = `${path} was written by a later release of @call-attribution/warehouse. Install that release, or a later one.`;
    await expect(openWarehouse(path)).rejects.toMatchObject({ code: 'not_a_warehouse', message });
    await alter(
      path,
      'update meta set version = 1',
      'alter table records add column field_of_tomorrow varchar',
    );
    await expect(openWarehouse(path)).rejects.toMatchObject({ code: 'not_a_warehouse', message });
  });

  test('in a file of version 1 callers get numbers, and accounts their counts', async () => {
    const { warehouse, path } = await testWarehouse();
    const anis = ['5555550100', '+1 (555) 555-0100', '5555550101', 'Anonymous', null];
    const calls = anis.map((ani, i) => call(`S${i}`, { ani, city: `C${i % 2}` }));
    await warehouse.load('main', calls);
    const question = { groupBy: ['city'], measures: ['callers', 'repeat_callers'] } as const;
    const before = await warehouse.analyze(question);
    const statuses = await warehouse.lastSync();
    await warehouse.close();
    await alter(
      path,
      'update meta set version = 1',
      'drop view calls',
      'drop table callers',
      'alter table records drop column caller_no',
      ...['calls', 'first_call', 'last_call', 'stored_at'].map(
        (name) => `alter table accounts drop column ${name}`,
      ),
    );
    const again = await openWarehouse(path);
    expect(await again.lastSync()).toEqual(statuses);
    expect((await again.analyze(question)).rows).toEqual(before.rows);
    for (const each of calls) expect(await again.get(String(each.sid))).toEqual(each);
    // Callers that come later get the numbers after those.
    await again.load('main', [call('S5', { ani: '5555550102' }), call('S6', { ani: '5555550100' })]);
    expect((await again.analyze({ measures: ['callers', 'repeat_callers'] })).total).toEqual({
      callers: 3,
      repeat_callers: 1,
    });
    expect(await rowsOf(again, 'select no from callers order by no')).toEqual([
      { no: 0 },
      { no: 1 },
      { no: 2 },
    ]);
    expect(await rowsOf(again, 'select version from meta')).toEqual([{ version: 2 }]);
    await again.close();
  });

  test('a file of a release that knew fewer fields gets their columns, and their values move there', async () => {
    const { warehouse, path } = await testWarehouse();
    const calls = [
      call('a', { custom_value: 'vip', landing_page: '/a', unknown: 1 }),
      call('b', { custom_value: null }),
      call('c'),
    ];
    delete (calls[2] as { custom_value?: unknown }).custom_value;
    delete (calls[2] as { landing_page?: unknown }).landing_page;
    await warehouse.load('main', calls);
    // As a release wrote it that had not heard of two of the fields.
    await alter(
      path,
      `update records set other = json_merge_patch(coalesce(other, '{}'), json_object('custom_value', custom_value, 'landing_page', landing_page))
         where sid = 'a'`,
      `update records set other = '{"custom_value":null,"landing_page":null}' where sid = 'b'`,
      `update records set absent = null where sid in ('a', 'b')`,
      `update records set absent = null where sid = 'c'`,
      'drop view calls',
      'alter table records drop column custom_value',
      'alter table records drop column landing_page',
    );
    const before = { ...calls[1], landing_page: null };
    const again = await openWarehouse(path);
    const found = await storedCalls(again);
    expect(found.get('a')).toEqual(
      JSON.parse(JSON.stringify({ ...calls[0], phone_number: null, call_logging_id: null, super_id: null })),
    );
    expect(found.get('b')).toMatchObject(JSON.parse(JSON.stringify(before)));
    expect(Object.hasOwn(found.get('c') ?? {}, 'custom_value')).toBe(false);
    expect(await rowsOf(again, 'select sid, custom_value, landing_page from calls order by sid')).toEqual([
      { sid: 'a', custom_value: 'vip', landing_page: '/a' },
      { sid: 'b', custom_value: null, landing_page: null },
      { sid: 'c', custom_value: null, landing_page: null },
    ]);
    expect(await again.get('a')).toMatchObject({ unknown: 1 });
    await again.close();
  });
});

describe('a disk that does not do as it should', () => {
  test('when it is full, what was stored is not lost, and the same command can be run again', async () => {
    const path = join(temporaryFolder(), 'calls.duckdb');
    const writer = await builtFile(new URL('../fixtures/writer.ts', import.meta.url).href);
    const run = (limit: string, from: number, to: number) =>
      spawnSync(
        'bash',
        [
          '-c',
          `trap '' XFSZ; ulimit -f ${limit}; exec "$0" "$@"`,
          process.execPath,
          writer,
          path,
          String(from),
          '3',
          String(to),
          '20000',
        ],
        { encoding: 'utf8' },
      );
    expect(run('unlimited', 0, 6).status).toBe(0);
    const size = Math.ceil(statSync(path).size / 1024);
    const full = run(String(size + 40), 6, 400);
    expect(full.status).not.toBe(0);
    expect(full.stderr).toContain(
      'is full. Nothing that was stored is lost: free some space and run the same command again.',
    );
    const acknowledged = full.stdout.trim().split('\n').map(Number).at(-1) ?? 5;
    const warehouse = await openWarehouse(path);
    const found = await storedCalls(warehouse);
    const batches = Array.from({ length: acknowledged + 1 }, (_, batch) => batch);
    tally.compare(
      batches.flatMap((batch) => Array.from({ length: 10 }, (_, i) => `S${batch * 10 + i}`)),
      [...found.keys()].map(String),
      [...found.keys()].map(String),
    );
    for (const batch of batches) expect(found.has(`S${batch * 10}`)).toBe(true);
    await warehouse.close();
    expect(run('unlimited', acknowledged + 1, acknowledged + 4).status).toBe(0);
  });

  test('when it fills up in the first file of an export, the folder is named, and the same command can be run again', async () => {
    const { warehouse, path } = await testWarehouse();
    const calls = Array.from({ length: 1000 }, (_, i) => call(`S${i}`, { landing_page: `/${Math.sin(i)}` }));
    await warehouse.load('main', calls);
    await warehouse.close();
    const script = await builtFile(new URL('../fixtures/export.ts', import.meta.url).href);
    const folder = join(temporaryFolder(), 'calls');
    const run = (limit: string) =>
      spawnSync(
        'bash',
        ['-c', `trap '' XFSZ; ulimit -f ${limit}; exec "$0" "$@"`, process.execPath, script, path, folder],
        { encoding: 'utf8' },
      ).stdout;
    expect(run('8')).toBe(
      `The disk of ${folder} is full. The files that are complete stay: free some space and run the same command again, which writes the others.\n`,
    );
    expect(run('unlimited')).toBe('1000 calls\n');
  });

  test.each([
    ['the folder cannot be written', 0o555, null],
    ['the file cannot be read', 0o755, 0o000],
  ])('when %s, it says so', async (_, folderMode, fileMode) => {
    const script = await builtFile(new URL('../fixtures/open.ts', import.meta.url).href);
    const folder = temporaryFolder();
    chmodSync(join(script, '../../..'), 0o755);
    const path = join(folder, 'calls.duckdb');
    if (fileMode !== null) {
      await (await openWarehouse(path)).close();
      chmodSync(path, fileMode);
    }
    chmodSync(folder, folderMode);
    // Nobody can keep root out, so root asks nobody.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { stdout } = spawnSync(process.execPath, [script, path], { encoding: 'utf8', ...user });
    expect(stdout).toMatch(
      /^not_writable: .*calls\.duckdb.* cannot be opened to read or write\. Check the permissions of the file and its folder\.$/,
    );
  });

  test('a folder on a read-only file system is said to be one', async () => {
    await expect(openWarehouse('/proc/calls.duckdb')).rejects.toMatchObject({
      code: expect.stringMatching(/not_writable|not_found/),
    });
  });
});

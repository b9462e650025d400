import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWarehouse, type Warehouse } from '../src/index.ts';
import { call, cleanUp, storedCalls, temporaryFolder } from './support.ts';

let warehouse: Warehouse;
let folder: string;
/** A file of an export with one call. */
let own: string;

beforeAll(async () => {
  folder = temporaryFolder();
  warehouse = await openWarehouse(join(folder, 'calls.duckdb'));
  await warehouse.load('main', [call('a', { ani: '5555550100' })]);
  const { files } = await warehouse.exportParquet(join(folder, 'own'));
  own = join(folder, 'own', files[0]?.path ?? '');
});
afterAll(async () => {
  await warehouse.close();
  await cleanUp();
});

const exported = (): string => `read_parquet('${own}', hive_partitioning = false)`;

let count = 0;
/** A Parquet file of a query, in a folder of its own. */
async function parquet(sql: string, options = ''): Promise<string> {
  const path = join(folder, `files-${count++}`, 'calls.parquet');
  mkdirSync(dirname(path));
  const db = await DuckDBInstance.create(':memory:');
  const connection = await db.connect();
  await connection.run(`COPY (${sql}) TO '${path}' (FORMAT parquet${options})`);
  connection.closeSync();
  db.closeSync();
  return path;
}

const file = (name: string, contents: string | Buffer): string => {
  const path = join(folder, `files-${count++}`, name);
  mkdirSync(dirname(path));
  writeFileSync(path, contents);
  return path;
};

describe('a Parquet file that is not what it seems is refused in one sentence that names it', () => {
  const changed = (columns: string) => parquet(`SELECT * REPLACE (${columns}) FROM ${exported()}`);
  test.each<[string, () => Promise<string> | string, string]>([
    ['of text', () => file('calls.parquet', 'PAR1 not at all PAR1'), 'cannot be read as a Parquet file'],
    ['empty', () => file('calls.parquet', ''), 'cannot be read as a Parquet file'],
    [
      'that was cut',
      () => {
        const path = file('calls.parquet', readFileSync(own));
        truncateSync(path, 4000);
        return path;
      },
      'cannot be read as a Parquet file',
    ],
    [
      'whose pages are damaged',
      () => {
        const bytes = readFileSync(own);
        bytes.fill(0xff, 4, 3000);
        return file('calls.parquet', bytes);
      },
      'cannot be read as a Parquet file',
    ],
    ['without sid', () => parquet('SELECT 1 AS a'), 'has no column sid: it does not hold calls'],
    ['of an export without a sid', () => changed('NULL::VARCHAR AS sid'), 'values that no export writes'],
    ['of an export with an empty sid', () => changed("'' AS sid"), 'values that no export writes'],
    [
      'of an export with a wire that is no JSON',
      () => changed("'secret' AS wire"),
      'values that no export writes',
    ],
    [
      'of an export with a wire that is no object',
      () => changed("'!7' AS wire"),
      'values that no export writes',
    ],
    [
      'of an export with other that is no object',
      () => changed("'[' AS other"),
      'values that no export writes',
    ],
    [
      'of an export with nested values',
      () => changed("{'a': [1, 2]} AS wire"),
      'values that no export writes',
    ],
    [
      'of an export with times in words',
      () => changed("'secret' AS date_added"),
      'has values that do not fit their columns',
    ],
    [
      'of an export with numbers in words',
      () => changed("'secret' AS talk_minutes"),
      'has values that do not fit their columns',
    ],
  ])('%s', async (_, make, said) => {
    const path = await make();
    const before = await storedCalls(warehouse);
    for (const place of [path, dirname(path)]) {
      const loaded = warehouse.loadParquet(place, 'main');
      await expect(loaded).rejects.toMatchObject({
        code: 'invalid_dataset',
        message: expect.stringMatching(/^[^\n]*[^.\n]\.(?: Nothing of it was loaded\.)?$/),
      });
      await expect(loaded).rejects.toThrow(`${path} `);
      await expect(loaded).rejects.toThrow(said);
      await expect(loaded).rejects.not.toThrow('secret');
    }
    expect(await storedCalls(warehouse)).toEqual(before);
  });

  test.runIf(process.platform !== 'win32')(
    'a pipe is not waited for, and no link leads out of the folder',
    async () => {
      const pipe = join(folder, `files-${count++}`, 'calls.parquet');
      mkdirSync(dirname(pipe));
      execFileSync('mkfifo', [pipe]);
      const link = join(folder, `files-${count++}`, 'calls.parquet');
      mkdirSync(dirname(link));
      symlinkSync(own, link);
      for (const place of [pipe, dirname(pipe)])
        await expect(warehouse.loadParquet(place, 'main')).rejects.toMatchObject({
          code: 'invalid_dataset',
          message: `${pipe} is not a regular file. Nothing was loaded.`,
        });
      await expect(warehouse.loadParquet(dirname(link), 'main')).rejects.toMatchObject({
        code: 'invalid_dataset',
        message: `${link} is a link that leads out of ${dirname(link)}. Nothing was loaded: put the file itself there.`,
      });
      // Who names a link means it.
      expect(await warehouse.loadParquet(link, 'linked')).toMatchObject([{ stored: 1 }]);
    },
  );
});

describe('a Parquet file with unusual names and types is loaded as it is', () => {
  test.each<[string, Record<string, string>]>([
    ['names that are SQL', { '"; DROP TABLE records; --': "'x'", "a' || 'b": "'y'" }],
    ['names of properties', { __proto__: "'x'", constructor: "'y'", toString: "'z'" }],
    ['names with controls', { 'a\u001b[2J\n': "'x'", '\u202e': "'y'" }],
    ['nested values', { deep: "{'a': [{'b': MAP {'c': 1}}]}" }],
    ['many columns', Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`c${i}`, `'${i}'`]))],
    ['a very long value', { long: "repeat('x', 5_000_000)" }],
  ])('%s', async (what, columns) => {
    const cells = Object.entries(columns).map(([name, sql]) => `${sql} AS "${name.replaceAll('"', '""')}"`);
    const path = await parquet(`SELECT 's' AS sid, ${cells.join(', ')}`);
    const account = what.replaceAll(' ', '-');
    expect(await warehouse.loadParquet(path, account)).toEqual([
      { account, stored: 1, added: 1, changed: 0, leftOut: 0 },
    ]);
    const loaded = await warehouse.get('s', account);
    expect(Object.keys(loaded ?? {}).filter((name) => name in columns)).toHaveLength(
      Object.keys(columns).length,
    );
    expect({}.constructor).toBe(Object);
  });
});

test('all rows of a file are loaded, whatever it says about their number', async () => {
  const path = await parquet(`SELECT * REPLACE ('s' || range AS sid) FROM ${exported()}, range(300)`);
  const bytes = readFileSync(path);
  // 300 as the number of rows, in the footer and of the row group: 600, 4 and 98 in the form of Thrift.
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const [from, to] = [Buffer.from([0x16, 0xd8, 0x04]), Buffer.from([0x16, 0xe2, 0x00])];
  const at = bytes.indexOf(from, footer);
  expect(at).toBeGreaterThan(0);
  to.copy(bytes, at);
  const lying = file('calls.parquet', bytes);
  expect(await warehouse.loadParquet(lying, 'lying')).toMatchObject([{ stored: 300 }]);
  expect((await storedCalls(warehouse, 'lying')).size).toBe(300);
});

test('an export of values that DuckDB takes for no JSON is loaded as it was', async () => {
  const odd = call('odd', { new_field: [0, '\ud800'], first_name: 'a\u0000b', city: '' });
  await warehouse.load('odd', [odd]);
  const out = join(folder, 'odd');
  await warehouse.exportParquet(out, { accounts: ['odd'] });
  expect(await warehouse.loadParquet(out, 'again')).toMatchObject([{ stored: 1 }]);
  expect(await warehouse.get('odd', 'again')).toEqual(odd);
});

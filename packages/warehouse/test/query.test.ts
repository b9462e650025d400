import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWarehouse, type Warehouse } from '../src/index.ts';
import { call, cleanUp, rowsOf, temporaryFolder, testWarehouse } from './support.ts';

let warehouse: Warehouse;
afterAll(cleanUp);
beforeAll(async () => {
  ({ warehouse } = await testWarehouse());
  await warehouse.load('main', [
    call('a', { ppc_campaign: 'Brand', talk_minutes: '1.5' }),
    call('b', { ppc_campaign: null, talk_minutes: '0.0', extra: { deep: [1] } }),
  ]);
});

describe('SQL of your own', () => {
  test('it reads the view with its derived columns, and gives typed values', async () => {
    const result = await warehouse.query(
      `select sid, talk_minutes as talk, missed, day, date_added, other->>'extra' as extra, 9007199254740993::bigint as big,
         1.5::double as half, [1, 2] as list from calls order by sid`,
    );
    expect(result.columns.map(({ name, type }) => [name, type])).toEqual([
      ['sid', 'string'],
      ['talk', 'decimal(9,1)'],
      ['missed', 'boolean'],
      ['day', 'date'],
      ['date_added', 'timestamp'],
      ['extra', 'string'],
      ['big', 'integer'],
      ['half', 'decimal'],
      ['list', 'string'],
    ]);
    const rows = [];
    for await (const row of result) rows.push(row);
    expect(rows).toMatchObject([
      { sid: 'a', talk: 1.5, missed: false, extra: null, big: '9007199254740993', half: 1.5, list: [1, 2] },
      { sid: 'b', talk: 0, missed: true, extra: '{"deep":[1]}' },
    ]);
  });

  test('await using closes a result that was not read, and a warehouse', async () => {
    const { warehouse: other, path } = await testWarehouse();
    {
      await using opened = await openWarehouse(path);
      await opened.load('main', [call('a')]);
      await using result = await opened.query('select sid from calls');
      expect(result.columns).toHaveLength(1);
    }
    expect((await other.count()).calls).toBe(1);
  });

  test('leaving the loop early closes the file', async () => {
    for await (const row of await warehouse.query('select i from range(1000000) t(i)')) {
      expect(row).toEqual({ i: 0 });
      break;
    }
    await (await warehouse.query('select i from range(1000000) t(i)')).close();
    // Writing needs the file alone.
    await warehouse.load('main', [call('c', { ppc_campaign: 'Brand' })]);
    expect(await rowsOf(warehouse, 'select count(*) as n from calls')).toEqual([{ n: 3 }]);
  });

  test('a mistake is passed on in the words of DuckDB', async () => {
    await expect(warehouse.query('select * from cals')).rejects.toMatchObject({
      code: 'invalid_sql',
      message: expect.stringContaining('Did you mean "calls'),
    });
    await expect(warehouse.query('')).rejects.toMatchObject({
      code: 'invalid_sql',
      message: 'There is no statement in the SQL.',
    });
    await expect(warehouse.query('select 1; select 2')).rejects.toMatchObject({
      code: 'invalid_sql',
      message: 'One statement at a time, please.',
    });
  });
});

const folder = temporaryFolder();
const file = join(folder, 'secret.csv');
writeFileSync(file, 'a,b\n1,2\n');

describe('a locked session refuses', () => {
  test.each([
    `select * from read_csv('${file}')`,
    `select * from '${file}'`,
    `select * from read_text('${file}')`,
    `select * from glob('${folder}/*')`,
    `copy calls to '${join(folder, 'out.csv')}'`,
    `copy (select 1) to '${join(folder, 'out.parquet')}' (format parquet)`,
    `attach '${join(folder, 'other.duckdb')}'`,
    `attach ':memory:' as other`,
    'install httpfs',
    'load httpfs',
    `load '${file}'`,
    'set enable_external_access = true',
    "set memory_limit = '100GB'",
    'set threads = 64',
    'reset lock_configuration',
    "pragma enable_profiling = 'json'",
    "set temp_directory = '/tmp'",
    'delete from records',
    'update records set sid = 1',
    'insert into records (sid) values (1)',
    'drop table records',
    'drop view calls',
    'create table mine as select 1',
    'create or replace view calls as select 1',
    'alter table records add column x integer',
    `export database '${folder}/dump'`,
    `import database '${folder}/dump'`,
    'create secret s (type s3)',
    `select * from sniff_csv('${file}')`,
    `select * from parquet_metadata('${file}')`,
    "select getenv('HOME')",
    `call enable_logging(storage = 'file', storage_path = '${join(folder, 'out.csv')}')`,
    "call enable_logging(storage = 'stdout')",
    'call disable_logging()',
    'call truncate_duckdb_logs()',
    'pragma version',
    'begin transaction',
    'prepare mine as select 1',
    'set variable mine = 1',
    'checkpoint',
    'vacuum',
    'use memory',
    'explain analyze delete from records',
  ])('%s', async (sql) => {
    const run = async () => {
      const rows = [];
      for await (const row of await warehouse.query(sql)) rows.push(row);
      return rows;
    };
    await expect(run()).rejects.toMatchObject({ code: 'invalid_sql' });
    expect(existsSync(join(folder, 'out.csv')) || existsSync(join(folder, 'other.duckdb'))).toBe(false);
    expect(await warehouse.count()).toMatchObject({ calls: 3 });
  });

  test('more memory than the warehouse may use', async () => {
    const { warehouse: small } = await testWarehouse({ memory: '60MB', threads: 1 });
    await small.load('main', [call('a')]);
    const sql = `select max(x) from (select list(i || repeat('x', 100)) as x from range(5000000) t(i))`;
    await expect(rowsOf(small, sql)).rejects.toMatchObject({ code: 'memory_limit' });
    expect(await small.count()).toMatchObject({ calls: 1 });
  });
});

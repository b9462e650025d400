import { fields } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { hostileCalls } from '@call-attribution/test-tools/hostile-calls';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, test } from 'vitest';
import { cleanUp, rowsOf, testWarehouse } from './support.ts';

afterAll(cleanUp);

test('any DuckDB reads the view calls of the file: what is not of its type is null, and nothing ends a query', async () => {
  const { warehouse, path } = await testWarehouse();
  const calls = hostileCalls(fixtureCalls(400));
  await warehouse.load('101', calls);
  const kept = await Promise.all(calls.map(({ sid }) => warehouse.get(sid)));
  await warehouse.close();
  expect(kept).toEqual(calls);

  const database = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await database.connect();
  try {
    const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
    const rows = await query('SELECT * FROM calls');
    expect(rows).toHaveLength(calls.length);
    expect(Object.keys(rows[0] ?? {})).toEqual(
      expect.arrayContaining(['account', ...fields.map(({ name }) => name)]),
    );
    const of = (sid: string) => rows.find((row) => row.sid === sid);
    const nothing = { talk_minutes: null, date_added: null, rank: null };
    expect(of('types')).toMatchObject(nothing);
    expect(of('more')).toMatchObject(nothing);
    expect(of('year')).toMatchObject({ rank: null });
    expect(of('half')).toMatchObject({ landing_page: '😀' });
    expect(of('empty')).toMatchObject({ ppc_campaign: '', city: '' });
    const groups = await query(
      `select ppc_campaign, count(*), count(*) filter (where talk_minutes = 0) from calls where date_added >= '2024-01-01' group by 1 order by 2 desc`,
    );
    expect(groups.length).toBeGreaterThan(1);
  } finally {
    connection.closeSync();
    database.closeSync();
  }
});

test('no column of the tables is a word that SQL reserves, so that questions write their names as they are', async () => {
  const { warehouse } = await testWarehouse();
  const found = await rowsOf(
    warehouse,
    `select column_name as name, column_name in (select keyword_name from duckdb_keywords() where keyword_category <> 'unreserved') as reserved
      from duckdb_columns() where table_name = 'records'`,
  );
  const names = found.map(({ name }) => String(name));
  expect(names).toEqual(expect.arrayContaining(fields.map(({ name }) => name)));
  expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
  expect(found.filter(({ reserved }) => reserved)).toEqual([]);
});

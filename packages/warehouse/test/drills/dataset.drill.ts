import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Call, fields } from '@call-attribution/core';
import { toParquet } from '@call-attribution/node-stream/encoders';
import { fileSink } from '@call-attribution/node-stream/sinks';
import { openDrill } from '@call-attribution/test-tools/drill';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import type { Warehouse } from '../../src/index.ts';
import { call, rowsOf, storedCalls, temporaryFolder, testWarehouse } from '../support.ts';

openDrill({
  name: 'warehouse-datasets',
  kind: 'kills',
  what: 'Parquet files are written, interrupted, resumed and loaded back; each file is whole or absent, and the calls are the same',
  countTests: true,
});

const dates = [
  '2026-09-30 23:59:59',
  '2026-10-01 00:00:00',
  '2026-10-15 12:00:00',
  '2026-11-02 08:00:00',
  '2026-02-31 00:00:00',
];
const some: readonly Call[] = dates.map((date_added, i) =>
  call(`S${i}`, {
    date_added,
    talk_minutes: '1.50',
    city: '',
    state: null,
    new_field: [i, '\ud800'],
    first_name: 'a\u0000b',
    ani: `555555010${i}`,
  }),
);

async function filled(): Promise<Warehouse> {
  const { warehouse } = await testWarehouse();
  await warehouse.load('main', some);
  await warehouse.load('second', [call('T0', { date_added: '2026-10-01 00:00:00' })]);
  return warehouse;
}

describe('a folder of Parquet files', () => {
  test('has a file for each account and month, and loading it back gives the same calls', async () => {
    const warehouse = await filled();
    const folder = join(temporaryFolder(), 'calls');
    const summary = await warehouse.exportParquet(folder);
    expect(summary.files.map(({ path, calls }) => [path, calls])).toEqual([
      ['account=main/month=2026-09/part-0.parquet', 1],
      ['account=main/month=2026-10/part-0.parquet', 2],
      ['account=main/month=2026-11/part-0.parquet', 1],
      ['account=main/month=__HIVE_DEFAULT_PARTITION__/part-0.parquet', 1],
      ['account=second/month=2026-10/part-0.parquet', 1],
    ]);
    expect(summary).toMatchObject({ calls: 6, removed: 0 });
    for (const { path, bytes } of summary.files) expect(statSync(join(folder, path)).size).toBe(bytes);

    const { warehouse: again } = await testWarehouse();
    expect(await again.loadParquet(folder)).toEqual([
      { account: 'main', stored: 5, leftOut: 0, added: 5, changed: 0 },
      { account: 'second', stored: 1, leftOut: 0, added: 1, changed: 0 },
    ]);
    expect(await storedCalls(again, 'main')).toEqual(await storedCalls(warehouse, 'main'));
    for (const each of some) expect(await again.get(each.sid)).toEqual(JSON.parse(JSON.stringify(each)));
    const question = {
      groupBy: ['account', 'month', 'caller_type'],
      measures: ['calls', 'callers', 'talk_sum'],
    } as const;
    expect((await again.analyze(question)).rows).toEqual((await warehouse.analyze(question)).rows);
  });

  test('other engines read it: typed columns, partitions from the paths', async () => {
    const warehouse = await filled();
    const folder = join(temporaryFolder(), 'calls');
    await warehouse.exportParquet(folder, { partition: 'day' });
    const db = await DuckDBInstance.create(':memory:');
    const connection = await db.connect();
    const all = async (sql: string) => (await connection.run(sql)).getRowObjectsJson();
    const files = `read_parquet('${folder}/*/*/*.parquet', hive_partitioning = true)`;
    expect(
      await all(
        `select account, day::varchar as day, count(*)::int as n, sum(talk_minutes)::varchar as talk from ${files} group by all order by all limit 2`,
      ),
    ).toEqual([
      { account: 'main', day: '2026-09-30', n: 1, talk: '1.5' },
      { account: 'main', day: '2026-10-01', n: 1, talk: '1.5' },
    ]);
    const types = await all(`describe select * from ${files}`);
    const typeOf = (name: string) => types.find((row) => row.column_name === name)?.column_type;
    expect([
      typeOf('date_added'),
      typeOf('talk_minutes'),
      typeOf('pool_id'),
      typeOf('rank'),
      typeOf('city'),
    ]).toEqual(['TIMESTAMP', 'DECIMAL(9,1)', 'BIGINT', 'INTEGER', 'VARCHAR']);
    const [{ codec } = { codec: '' }] = await all(
      `select distinct compression as codec from parquet_metadata('${folder}/account=main/*/*.parquet')`,
    );
    expect(codec).toBe('GZIP');
    connection.closeSync();
    db.closeSync();
  });

  test('a second run writes only what has changed, and deletes what is gone', async () => {
    const warehouse = await filled();
    const folder = join(temporaryFolder(), 'calls');
    await warehouse.exportParquet(folder);
    const unchanged = await warehouse.exportParquet(folder);
    expect(unchanged.files.every(({ isUnchanged }) => isUnchanged)).toBe(true);

    await warehouse.load('main', [
      call('S1', { date_added: '2026-10-01 00:00:00', city: 'changed', ani: '5555550101' }),
    ]);
    await warehouse.erase('main', ['5555550103']);
    const { files, removed } = await warehouse.exportParquet(folder);
    expect(files.filter(({ isUnchanged }) => !isUnchanged).map(({ path }) => path)).toEqual([
      'account=main/month=2026-10/part-0.parquet',
    ]);
    expect(removed).toBe(1);
    expect(existsSync(join(folder, 'account=main/month=2026-11/part-0.parquet'))).toBe(false);
    const { warehouse: again } = await testWarehouse();
    await again.loadParquet(folder);
    expect(await storedCalls(again)).toEqual(await storedCalls(warehouse));
  });

  test('an interrupted run is resumed: whole files stay, half a file has no name', async () => {
    const warehouse = await filled();
    const folder = join(temporaryFolder(), 'calls');
    const controller = new AbortController();
    const seen: string[] = [];
    const onFile = ({ path }: { path: string }) => {
      seen.push(path);
      if (seen.length === 2) controller.abort();
    };
    await expect(
      warehouse.exportParquet(folder, { signal: controller.signal, onFile }),
    ).rejects.toMatchObject({ code: 'aborted' });
    const half = join(folder, 'account=main/month=2026-11');
    writeFileSync(join(folder, 'account=main/month=2026-10/part-0.parquet.partial'), 'half a file');
    expect(existsSync(half) && readdirSync(half).some((name) => name.endsWith('.parquet'))).toBe(false);
    const { files } = await warehouse.exportParquet(folder);
    expect(files.filter(({ isUnchanged }) => isUnchanged).map(({ path }) => path)).toEqual(seen);
    const { warehouse: again } = await testWarehouse();
    await again.loadParquet(folder);
    expect((await storedCalls(again)).size).toBe(6);
  });

  test('large partitions are cut by whole days, and a selection chooses calls', async () => {
    const { warehouse } = await testWarehouse();
    const days = ['01', '01', '02', '03', '03', '04'];
    await warehouse.load(
      'main',
      days.map((day, i) => call(`S${i}`, { date_added: `2026-10-${day} 10:00:00`, talk_minutes: `${i}.0` })),
    );
    const folder = join(temporaryFolder(), 'calls');
    const { files } = await warehouse.exportParquet(folder, {
      maxCalls: 3,
      from: '2026-10-01',
      where: 'talk_minutes < 5',
    });
    expect(files.map(({ path, calls }) => [path, calls])).toEqual([
      ['account=main/month=2026-10/part-0.parquet', 3],
      ['account=main/month=2026-10/part-1.parquet', 2],
    ]);
    await expect(warehouse.exportParquet(folder)).rejects.toMatchObject({
      code: 'invalid_dataset',
      message: expect.stringContaining('an export of other calls'),
    });
  });

  test('a folder with something else in it is left alone', async () => {
    const warehouse = await filled();
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await expect(warehouse.exportParquet(folder)).rejects.toMatchObject({
      code: 'invalid_dataset',
      message: `${folder} holds something that is not an export of calls (notes.txt). Export into an empty folder.`,
    });
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
  });
});

describe('Parquet files that something else wrote', () => {
  test('those of toParquet are loaded by the names of their columns', async () => {
    const file = join(temporaryFolder(), 'calls.parquet');
    const calls = [
      call('a', { talk_minutes: '3.0', talk_start: '2024-01-01 10:00:00.0', rank: '2' }),
      call('b', { talk_minutes: '0.3', city: null }),
    ];
    await pipeline(calls, fileSink(file, { encode: toParquet() }));
    const { warehouse } = await testWarehouse();
    expect(await warehouse.loadParquet(file, 'main')).toEqual([
      { account: 'main', stored: 2, leftOut: 0, added: 2, changed: 0 },
    ]);
    const found = await storedCalls(warehouse);
    for (const each of calls) {
      const all = Object.fromEntries(
        fields.map(({ name }) => [name, (each as unknown as Record<string, unknown>)[name] ?? null]),
      );
      expect(found.get(each.sid)).toEqual(all);
    }
  });

  test('columns that are not fields are kept, and a call that is there twice counts once', async () => {
    const folder = temporaryFolder();
    const db = await DuckDBInstance.create(':memory:');
    const connection = await db.connect();
    await connection.run(
      `copy (select 'a' as sid, '2026-10-01 00:00:00' as date_added, 'x' as note) to '${join(folder, '1.parquet')}' (format parquet)`,
    );
    await connection.run(
      `copy (select 'a' as sid, '2026-10-01 00:00:00' as date_added, 'y' as note) to '${join(folder, '2.parquet')}' (format parquet)`,
    );
    await connection.run(`copy (select 1 as x) to '${join(folder, '_ignored.parquet')}' (format parquet)`);
    const { warehouse } = await testWarehouse();
    await warehouse.loadParquet(folder, 'main');
    expect(await warehouse.get('a')).toEqual({ sid: 'a', date_added: '2026-10-01 00:00:00', note: 'y' });
    await connection.run(`copy (select 1 as x) to '${join(folder, 'other.parquet')}' (format parquet)`);
    await expect(warehouse.loadParquet(folder, 'main')).rejects.toMatchObject({
      code: 'invalid_dataset',
      message: expect.stringContaining('has no column sid'),
    });
    connection.closeSync();
    db.closeSync();
  });

  test('what cannot be loaded is refused in one sentence', async () => {
    const { warehouse } = await testWarehouse();
    const folder = temporaryFolder();
    await expect(warehouse.loadParquet(folder, 'main')).rejects.toMatchObject({
      message: `There are no Parquet files in ${folder}.`,
    });
    await expect(warehouse.loadParquet(join(folder, 'nowhere'), 'main')).rejects.toMatchObject({
      code: 'not_found',
    });
    writeFileSync(join(folder, 'a.parquet'), 'not Parquet at all');
    await expect(warehouse.loadParquet(folder)).rejects.toMatchObject({
      code: 'invalid_dataset',
      message: expect.stringContaining('name the account'),
    });
    await expect(warehouse.loadParquet(folder, 'main')).rejects.toMatchObject({ code: 'invalid_dataset' });
    expect(await rowsOf(warehouse, 'select count(*) as n from calls')).toEqual([{ n: 0 }]);
  });
});

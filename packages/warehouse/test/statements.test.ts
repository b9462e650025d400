import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBExtractedStatements } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Warehouse } from '../src/index.ts';
import { call, cleanUp, rowsOf, temporaryFolder, testWarehouse } from './support.ts';

let warehouse: Warehouse;
let folder: string;
afterAll(cleanUp);
beforeAll(async () => {
  folder = temporaryFolder();
  ({ warehouse } = await testWarehouse());
  await warehouse.load('main', [call('a', { talk_minutes: '1.5' }), call('b', { talk_minutes: '0.0' })]);
});

describe('what is like a SELECT is allowed', () => {
  test.each([
    'show tables',
    'describe calls',
    'summarize calls',
    'explain select 1',
    'explain (select 1)',
    'explain analyze select count(*) from calls',
    '-- why\nexplain (format json) from calls',
    'values (1)',
    'table calls',
    'from calls pivot (count(*) for missed in (true, false))',
    'unpivot (select 1 as a, 2 as b) on a, b',
    'from histogram(calls, talk_minutes)',
    'with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select * from t',
    "from duckdb_columns() where table_name = 'calls'",
    "select * from generate_series(1, 2), unnest([1]), repeat('x', 2)",
  ])('%s', async (sql) => {
    expect(await rowsOf(warehouse, sql)).not.toEqual([]);
  });

  test('and questions within the rows of another', async () => {
    for await (const { sid } of await warehouse.query('select sid from calls order by sid limit 2')) {
      expect(await warehouse.get(String(sid))).toMatchObject({ sid });
      expect(await rowsOf(warehouse, `select count(*) as n from calls where sid = '${sid}'`)).toEqual([
        { n: 1 },
      ]);
    }
  });
});

describe('a statement that DuckDB cannot interrupt', () => {
  const long = "select levenshtein(repeat('a', 12000), repeat('b', 12000))";

  test('ends two seconds after it was stopped, and the file is let go when DuckDB is done', async () => {
    const { warehouse: own } = await testWarehouse();
    await own.load('main', [call('a')]);
    const prepare = vi.spyOn(DuckDBExtractedStatements.prototype, 'prepare');
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const ended = expect(own.query(long, { timeLimit: 50 })).rejects.toMatchObject({ code: 'time_limit' });
    while (prepare.mock.calls.length === 0) await new Promise((done) => setImmediate(done));
    vi.advanceTimersByTime(50);
    expect(own.isAtWork).toBe(false);
    vi.advanceTimersByTime(2_000);
    vi.useRealTimers();
    prepare.mockRestore();
    await ended;
    expect(own.isAtWork).toBe(true);
    expect((await own.count()).calls).toBe(1);
    await own.load('main', [call('b')]);
    expect(own.isAtWork).toBe(false);
    expect((await own.count()).calls).toBe(2);
  });

  test('a process that grows beyond its limit ends the statement', async () => {
    const statement = warehouse.query('select count(*) from range(1000000000000)', { excess: 0 });
    const rss = vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(600_000_001);
    await expect(statement.then((result) => result[Symbol.asyncIterator]().next())).rejects.toMatchObject({
      code: 'memory_limit',
    });
    rss.mockRestore();
    expect((await warehouse.count()).calls).toBeGreaterThan(1);
  });
});

describe('refused is', () => {
  test.each([
    "from enable_logging(storage = 'file', storage_path = '/FOLDER/out.csv')",
    "select * from system.main.enable_logging(storage = 'stdout')",
    `select 1 where exists (from "Enable_Logging"())`,
    "with a as (from enable_logging(storage = 'stdout')) select 1",
    "explain analyze from enable_logging(storage = 'stdout')",
    "-- all\nexplain (analyze, format json) from enable_logging(storage = 'stdout')",
    "from query('from enable_' || 'logging()')",
    'from disable_logging()',
    'from truncate_duckdb_logs()',
    'from checkpoint()',
    'from enable_profiling()',
    'from enable_peg_parser()',
    'select * from arrow_scan(1, 2, 3)',
    'summarize from force_checkpoint()',
    // A comment in which DuckDB sees another.
    "/* /* */ explain select 1 -- */ explain analyze from enable_logging(storage = 'stdout')",
  ])('what changes DuckDB itself, while other questions use it: %s', async (text) => {
    const sql = text.replace('/FOLDER', folder);
    for await (const { sid } of warehouse.calls({ limit: 1 })) {
      await expect(rowsOf(warehouse, sql)).rejects.toMatchObject({
        code: 'invalid_sql',
        hint: expect.stringContaining('SQL may only read'),
      });
      expect(await warehouse.get(sid)).toMatchObject({ sid });
      expect(await rowsOf(warehouse, 'select count(*) as n from duckdb_logs()')).toEqual([{ n: 0 }]);
      expect(
        await rowsOf(warehouse, "select value from duckdb_settings() where name = 'enable_logging'"),
      ).toEqual([{ value: '0' }]);
    }
    expect(existsSync(join(folder, 'out.csv'))).toBe(false);
  });

  test('no function of DuckDB in FROM that this release does not know', async () => {
    const sql =
      "select distinct function_name as name from duckdb_functions() where function_type like 'table%'";
    const names = (await rowsOf(warehouse, sql)).map(({ name }) => String(name));
    const known = names.filter((name) => !/^(duckdb|pragma)_/.test(name));
    // A new one in this list is harmless or not: `reading.ts` names those that are.
    expect(known.sort()).toMatchInlineSnapshot(`
      [
        "arrow_scan",
        "arrow_scan_dumb",
        "check_peg_parser",
        "checkpoint",
        "disable_logging",
        "disable_peg_parser",
        "disable_profiling",
        "enable_logging",
        "enable_peg_parser",
        "enable_profiling",
        "force_checkpoint",
        "generate_series",
        "glob",
        "histogram",
        "histogram_values",
        "icu_calendar_names",
        "json_each",
        "json_execute_serialized_sql",
        "json_tree",
        "parquet_bloom_probe",
        "parquet_file_metadata",
        "parquet_full_metadata",
        "parquet_kv_metadata",
        "parquet_metadata",
        "parquet_scan",
        "parquet_schema",
        "pg_timezone_names",
        "query",
        "query_table",
        "range",
        "read_blob",
        "read_csv",
        "read_csv_auto",
        "read_duckdb",
        "read_json",
        "read_json_auto",
        "read_json_objects",
        "read_json_objects_auto",
        "read_ndjson",
        "read_ndjson_auto",
        "read_ndjson_objects",
        "read_parquet",
        "read_text",
        "repeat",
        "repeat_row",
        "seq_scan",
        "sniff_csv",
        "sql_auto_complete",
        "summary",
        "test_all_types",
        "test_vector_types",
        "truncate_duckdb_logs",
        "unnest",
        "which_secret",
      ]
    `);
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ParquetType, toParquet } from '@call-attribution/node-stream/encoders';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqlRow, Warehouse } from '../src/index.ts';
import { cleanUp, rowsOf, temporaryFolder, testWarehouse } from './support.ts';

let warehouse: Warehouse;
afterAll(cleanUp);
beforeAll(async () => {
  ({ warehouse } = await testWarehouse());
});

describe('values of a statement', () => {
  test('are text where JSON has no type for them, as DuckDB writes it', async () => {
    const sources = [
      "interval '1 month 2 days 3 seconds'",
      "interval '-14 months -1 days -96.5 seconds'",
      "interval '0 days'",
      "timestamp '2026-01-01 00:01:36' - timestamp '2026-01-01'",
      ...['date', 'timestamp', 'timestamp_s', 'timestamp_ms', 'timestamp_ns', 'timestamptz'].flatMap(
        (type) => [`'infinity'::${type}`, `'-infinity'::${type}`],
      ),
      "date '0044-03-15 (BC)'",
      "date '10000-01-01'",
      "'2026-01-01 00:00:00.123456789'::timestamp_ns",
      '18446744073709551615::ubigint',
      '170141183460469231731687303715884105727::hugeint',
      '12345678901234567890.1234567890::decimal(38,10)',
      '0.0000001::decimal(38,10)',
    ];
    const columns = sources.flatMap((sql, i) => [`${sql} as v${i}`, `(${sql})::varchar as t${i}`]);
    const [row = {}] = await rowsOf(warehouse, `select ${columns.join(', ')}`);
    const written = sources.map((sql, i) => [sql, row[`v${i}`]]);
    expect(written).toEqual(sources.map((sql, i) => [sql, row[`t${i}`]]));
  });

  test.each([
    ['0.1::float', 0.1],
    ['1e30::float', 1e30],
    ['16777217::float', 16777216],
    ['1.1754944e-38::float', 1.1754944e-38],
    ["'nan'::float", 'NaN'],
    ['0.1::double', 0.1],
    ['sum(1)', 1],
    ['9007199254740991::hugeint', 9007199254740991],
    ['1.50::decimal(9,2)', 1.5],
    ['[1::bigint, 9223372036854775807]', [1, '9223372036854775807']],
    ["{'a': 0.1::float, 'b': interval '1 day'}", { a: 0.1, b: '1 day' }],
  ])('%s is %j', async (sql, value) => {
    expect(await rowsOf(warehouse, `select ${sql} as v`)).toEqual([{ v: value }]);
  });

  test('in a Parquet file have a type that keeps every digit', async () => {
    const sources: readonly (readonly [sql: string, type: ParquetType, parquet: string])[] = [
      ['1.5::decimal(9,1)', 'decimal(9,1)', 'DECIMAL(9,1)'],
      ['-99999999999999.99::decimal(16,2)', 'decimal(16,2)', 'DECIMAL(16,2)'],
      ['12345678901234567890.1234567890::decimal(38,10)', 'decimal(38,10)', 'DECIMAL(38,10)'],
      ['-0.0000001::decimal(38,10)', 'decimal(38,10)', 'DECIMAL(38,10)'],
      ['18446744073709551615::ubigint', 'decimal(20,0)', 'DECIMAL(20,0)'],
      ['340282366920938463463374607431768211455::uhugeint', 'string', 'VARCHAR'],
      ['sum(9223372036854775807)', 'integer', 'BIGINT'],
      ['-9223372036854775808', 'integer', 'BIGINT'],
      ["date '1969-12-31'", 'date', 'DATE'],
      ["timestamp '2026-01-01 00:00:00.123456'", 'timestamp', 'TIMESTAMP'],
      ["timestamp '1960-01-01 00:00:00.000001'", 'timestamp', 'TIMESTAMP'],
      ["'2026-01-01 00:00:00.123456789'::timestamp_ns", 'string', 'VARCHAR'],
      ["interval '96 seconds'", 'string', 'VARCHAR'],
      ['true', 'boolean', 'BOOLEAN'],
      ['0.1::double', 'decimal', 'DOUBLE'],
      ['-1 / 0', 'decimal', 'DOUBLE'],
      ["'nan'::float", 'decimal', 'DOUBLE'],
    ];
    const columns = sources.flatMap(([sql], i) => [`${sql} as v${i}`, `(${sql})::varchar as t${i}`]);
    const result = await warehouse.query(`select ${columns.join(', ')}`);
    const types = result.columns.filter(({ name }) => name.startsWith('v')).map(({ type }) => type);
    expect(types).toEqual(sources.map(([, type]) => type));
    const file = join(temporaryFolder(), 'values.parquet');
    const encoder = toParquet<SqlRow>({
      columns: result.columns.map(({ name, type }) => ({ name, type, value: (row) => row[name] as string })),
    });
    await writeFile(file, encoder(result));
    const db = await DuckDBInstance.create(':memory:');
    const connection = await db.connect();
    const read = sources.map((_, i) => `typeof(v${i}) as p${i}, v${i}::varchar as r${i}, t${i}`).join(', ');
    const [row = {}] = await (await connection.run(`select ${read} from '${file}'`)).getRowObjectsJson();
    expect(sources.map((_, i) => [row[`p${i}`], row[`r${i}`]])).toEqual(
      sources.map(([, , parquet], i) => [parquet, row[`t${i}`]]),
    );
    const bounds = `select count(*)::int as n from '${file}' where v2 > 12345678901234567890 and v8 < '1970-01-01'`;
    expect(await (await connection.run(bounds)).getRowObjectsJson()).toEqual([{ n: 1 }]);
    connection.closeSync();
    db.closeSync();
  });
});

import type { SqlColumn, SqlRow } from '@call-attribution/store';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { encodedRows } from '../../src/commands/typed/output.ts';

async function written(type: SqlColumn['type'], value: SqlRow[string]): Promise<Buffer> {
  const rows = async function* (): AsyncGenerator<SqlRow> {
    yield { v: value };
  };

  const target = { format: 'parquet', gzip: false } as const;
  const parts: Uint8Array[] = [];
  for await (const part of encodedRows(rows(), [{ key: 'v', title: 'v', type }], target))
    parts.push(part);
  return Buffer.concat(parts);
}

describe('rows of a statement as a Parquet file', () => {
  test.each([
    ['integer', '9223372036854775807', 9223372036854775807n],
    ['date', '2026-10-31', new Date('2026-10-31')],
    ['decimal', 'Infinity', Number.POSITIVE_INFINITY],
  ] as const)('have the type of their column: %s', async (type, value, stored) => {
    const file = new Uint8Array(await written(type, value)).buffer;
    expect(await parquetReadObjects({ file })).toEqual([{ v: stored }]);
  });

  test.each([
    [
      'integer',
      '9223372036854775808',
      'column v has type integer, which a string value does not fit',
    ],
    ['date', 'infinity', 'column v has type date, which a string value does not fit'],
  ] as const)(
    'are refused where %s does not hold the value, with a way to write it',
    async (type, value, message) => {
      await expect(written(type, value)).rejects.toMatchObject({
        message,
        exitCode: 2,
        hints: ['cast the column in the SQL, such as cast(sum(x) as text)'],
      });
    },
  );
});

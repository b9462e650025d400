import { gunzipSync } from 'node:zlib';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Cell, cellTexts } from '../encoders/row-text.ts';
import type { RowTaker } from './read-rows.ts';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The values as they are stored: times in microseconds, dates in days. */
const parsers = {
  timestampFromMilliseconds: (millis: bigint) => millis,
  timestampFromMicroseconds: (micros: bigint) => micros,
  timestampFromNanoseconds: (nanos: bigint) => nanos,
  dateFromDays: (days: number) => days,
  stringFromBytes: (bytes: Uint8Array) => bytes && decoder.decode(bytes),
};

const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gunzipSync(bytes)) };

/** Reads the rows of a Parquet file, group by group. */
export async function readParquet(path: string, { onFields, onRow }: RowTaker): Promise<void> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await peer();
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const names = metadata.schema.slice(1).map(({ name }) => name);
  onFields(names, false);
  const texts = cellTexts(names);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, parsers, compressors });
    for (const record of rows) onRow({ record, text: texts(names.map((name) => cellOf(record[name]))) });
    rowStart = rowEnd;
  }
}

function cellOf(value: unknown): Cell {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      return null;
  }
}

async function peer(): Promise<typeof import('hyparquet')> {
  try {
    return await import('hyparquet');
  } catch (cause) {
    throw new ConfigurationError(
      'missing_package',
      'Reading a Parquet file back needs the package hyparquet. Install it with: npm install hyparquet',
      { cause },
    );
  }
}

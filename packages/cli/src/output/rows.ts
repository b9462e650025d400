import { CallsError } from '@call-attribution/core/errors';
import { UsageError, unfitValue } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { type Column, fitTable } from '../terminal/table.ts';
import { saveResult, screenOf, showResult } from './file.ts';
import type { FileFormat, Target } from './target.ts';

/** A row: values by the keys of columns, and whatever else its JSON has. */
export type Row = Readonly<Record<string, unknown>>;

/** A column of rows: where its values are, what Parquet stores them as, and how it looks in a table. */
export interface RowColumn extends Column {
  readonly key: string;
  readonly type?: ColumnType;
}

type ColumnType = NonNullable<import('@call-attribution/node-stream/encoders').ParquetColumn['type']>;

/** Writes rows to where a command was told: as a table for people, or in a format for programs. A column may be its key alone. */
export async function writeRows(
  rows: AsyncIterable<Row> | Iterable<Row>,
  named: readonly (string | RowColumn)[],
  target: Target<FileFormat | 'table'>,
  io: Io,
  { above = () => [], more = '' }: { readonly above?: () => readonly string[]; readonly more?: string } = {},
): Promise<void> {
  const { format } = target;
  const columns = named.map((column) =>
    typeof column === 'string' ? { key: column, title: column } : column,
  );
  if (format !== 'table') return saveResult(target, encodedRows(rows, columns, { ...target, format }), io);
  const cells: string[][] = [];
  for await (const row of rows) cells.push(columns.map(({ key }) => cellText(row[key])));
  const head = above();
  const table = cells.length === 0 ? null : fitTable(columns, cells, screenOf(target, io));
  const between = table !== null && head.length > 0 ? [''] : [];
  await showResult(target, [...head, ...between, ...(table?.lines ?? [])], io);
  if (table !== null && table.dropped.length > 0)
    say(io, `not enough width for ${table.dropped.join(', ')}${more}`);
}

/** A value as a person reads it. */
const cellText = (value: unknown): string => (value === null || value === undefined ? '' : String(value));

/** Rows in the bytes of a file. JSON has them as they are, the other formats their columns. */
export async function* encodedRows(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly RowColumn[],
  { format, gzip }: { readonly format: FileFormat; readonly gzip: boolean },
): AsyncGenerator<Uint8Array> {
  const { encodingOf } = await import('./encode.ts');
  const { through } = await import('@call-attribution/node-stream/operators');
  const own = columns.map(({ key, type = 'string' }) => ({
    name: key,
    type,
    value: (row: Row) => (row[key] ?? null) as string | null,
  }));
  const [encoder, ...others] = encodingOf<Row>({ format, gzip, isForSpreadsheet: false }, own);
  try {
    yield* through(rows, encoder, ...others) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!CallsError.is(error, 'unfit_value')) throw error;
    if (format !== 'parquet') throw unfitValue(error.summary, error);
    // Only Parquet has types that a value may not fit, such as a sum beyond 64 bits.
    throw new UsageError(error.summary, {
      hints: ['cast the column in the SQL, such as cast(sum(x) as text)'],
      cause: error,
    });
  }
}

import { CallsError } from '@call-attribution/core/errors';
import { toCsv, toGzip, toJsonArray, toNdjson, toParquet } from '@call-attribution/node-stream/encoders';
import type { Operator } from '@call-attribution/node-stream/operators';
import type { SqlColumn, SqlResult, SqlRow } from '@call-attribution/store';
import { UsageError } from '../errors.ts';
import { type Io, say, show } from '../io.ts';
import { cellText } from '../reading/fields.ts';
import { count, plural } from '../term/numbers.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { fitTable } from '../term/table.ts';
import type { Target } from './target.ts';

/** What the rows of a statement are written as. */
export const sqlFormats = ['table', 'csv', 'json', 'ndjson', 'parquet'] as const;

/** Where the rows of a statement go. */
export type RowTarget = Target<(typeof sqlFormats)[number]>;

/** The rows in the bytes of a file. */
export async function* encodedRows(
  rows: AsyncIterable<SqlRow>,
  columns: readonly SqlColumn[],
  { format, gzip }: Pick<RowTarget, 'format' | 'gzip'>,
): AsyncGenerator<Uint8Array> {
  const bytes = encoderOf(format, columns)(rows);
  try {
    yield* gzip ? toGzip()(bytes) : bytes;
  } catch (error) {
    throw isUnfit(error) ? unfitValue(error) : error;
  }
}

const isUnfit = (error: unknown): error is CallsError => CallsError.is(error) && error.name === 'ItemError';

/** Only Parquet has types that a value may not fit, such as a sum beyond 64 bits. */
const unfitValue = (error: CallsError): UsageError =>
  new UsageError(error.summary, {
    hints: ['cast the column in the SQL, such as cast(sum(x) as text)'],
    cause: error,
  });

function encoderOf(format: RowTarget['format'], columns: readonly SqlColumn[]): Operator<SqlRow, Uint8Array> {
  const cellOf = (name: string) => (row: SqlRow) => row[name] ?? null;
  switch (format) {
    case 'csv':
      return toCsv<SqlRow>({ columns: columns.map(({ name }) => ({ header: name, value: cellOf(name) })) });
    case 'parquet':
      return toParquet<SqlRow>({
        columns: columns.map(({ name, type }) => ({ name, type, value: cellOf(name) })),
      });
    case 'json':
      return toJsonArray<SqlRow>();
    default:
      return toNdjson<SqlRow>();
  }
}

/** Shows the first rows as a table, and says how many there are. */
export async function showRows(result: SqlResult, most: number, io: Io): Promise<void> {
  const rows: string[][] = [];
  let isCut = false;
  for await (const row of result) {
    isCut = rows.length === most;
    if (isCut) break;
    rows.push(result.columns.map(({ name }) => cellText(row[name] ?? null)));
  }
  const columns = result.columns.map(({ name, type }) => ({
    title: name,
    align: type === 'integer' || type.startsWith('decimal') ? ('right' as const) : ('left' as const),
  }));
  const style = styleFor(io.stdout, io.env);
  const table = fitTable(columns, rows, { width: widthOf(io.stdout, io.env), style });
  await show(io, table.lines);
  say(io, isCut ? `the first ${plural(rows.length, 'row')}; there are more` : plural(rows.length, 'row'));
  if (isCut)
    say(io, `--limit ${count(most * 10).replaceAll(',', '')} shows more, --format csv gives all rows`);
  if (table.dropped.length > 0) say(io, `not enough width for ${table.dropped.join(', ')}`);
}

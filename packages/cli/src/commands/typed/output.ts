// Where results go: the one reader of --output and --format, and the writers of files, of rows and
// of lines for people.

import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CallsError } from '@call-attribution/core/errors';
import type { Args } from '../../args.ts';
import { UsageError, unfitValue } from '../../errors.ts';
import { fileError, type Io, isSpecial, say, show, write } from '../../io.ts';
import { type FileFormat, formatOfName, type Target } from '../../output/encode.ts';
import { oneOf } from '../../terminal/numbers.ts';
import { type Style, styleFor, widthOf } from '../../terminal/style.ts';
import { type Column, renderTable } from '../../terminal/table.ts';

/** What the commands that print rows write. */
export const rowFormats = ['table', 'csv', 'json', 'ndjson'] as const;

/** What the rows of a statement are written as. */
export const sqlFormats = ['table', 'csv', 'json', 'ndjson', 'parquet'] as const;

/**
 * The one reader of --output, --format and --json: the option says the format, else the extension
 * of the file; on stdout it is the first of those that the command writes. `gzip`: it writes
 * compressed files, too.
 */
export function targetOf<F extends string>(
  args: Args,
  formats: readonly [F, ...F[]],
  { gzip: compresses = false } = {},
): Target<F> {
  const typed = args.flag('json') ? 'json' : args.text('format');
  const output = args.text('output') === '-' ? null : args.text('output');
  const isForSpreadsheet = typed === 'spreadsheet';
  const named = formats.find((format) => format === (isForSpreadsheet ? 'csv' : typed));
  const { format: extension, gzip } = formatOfName(output ?? '');
  const isPage = /\.html?$/i.test(output ?? '');
  const known = isPage ? 'html' : extension;
  const isJson = (each: string | null) => each === 'json' || each === 'ndjson';
  const isOther = named !== undefined && known !== null && named !== known;
  if (isOther && !(isJson(named) && isJson(known)))
    throw new UsageError(
      `--output ${output} names ${known}, and ${args.flag('json') ? '--json' : `--format ${typed}`} another format`,
      ['leave that option out, or end the name in another way'],
    );

  const format =
    named ??
    (output === null
      ? formats[0]
      : formats.find((format) => format === known && format !== 'table'));
  if (format === undefined || (gzip && !compresses))
    throw noFormat(output ?? '', formats, compresses);
  const packed = packedFormats.get(format);
  if (packed !== undefined && output === null)
    throw new UsageError(`${packed} cannot be written to stdout; name a file with --output`);
  if (packed !== undefined && gzip)
    throw new UsageError(`${packed} is already compressed; remove .gz from its name`);
  return { format, gzip, isForSpreadsheet, output };
}

const packedFormats: ReadonlyMap<string, string> = new Map([
  ['parquet', 'a Parquet file'],
  ['xlsx', 'an Excel file'],
]);

function noFormat(output: string, formats: readonly string[], compresses: boolean): UsageError {
  const names = formats.filter((format) => format !== 'table').map((format) => `.${format}`);
  return new UsageError(`--output ${output}: the extension does not name a format`, [
    ...(output === 'json' ? ['--json prints JSON'] : []),
    `end the name in ${oneOf(names)}${compresses ? ' (.gz after it compresses)' : ''}, or add --format`,
    ...(/\.pdf$/i.test(output) && names.includes('.html')
      ? ['open the .html in a browser and print it as PDF']
      : []),
    ...(/\.(?:xlsx?|ods|numbers)$/i.test(output) && compresses
      ? ['--format spreadsheet writes CSV that Excel and other spreadsheets open']
      : []),
    ...(compresses ? [] : ['calls export also writes .gz and .parquet']),
  ]);
}

/** The value of `--output` of a command that needs it. */
export function outputOf(args: Args): string {
  const output = args.text('output');
  if (output) return output;
  throw new UsageError(`calls ${args.command} needs a file: --output calls.csv`, [
    'the extension says the format; - writes to stdout',
  ]);
}

type Lines = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Where something goes: the file of --output as it was typed, or stdout for null. */
type Place = Pick<Target<string>, 'output'>;

/**
 * Writes lines to a file that appears when it is complete, to a pipe or device as it is, or to
 * stdout for `-`.
 */
export async function saveLines(shown: string, lines: Lines, io: Io): Promise<void> {
  if (shown === '-') {
    for await (const line of lines) await write(io.stdout, line);
    return;
  }

  const path = resolve(io.cwd, shown);
  try {
    if (isSpecial(path))
      await pipeline(Readable.from(lines), createWriteStream(path, { flags: 'r+' }));
    else await (await import('@call-attribution/node-stream/files')).writeWholeFile(path, lines);
  } catch (error) {
    throw fileError(error, shown);
  }
}

/** The same for the result of a command, whose file is named at the end. */
export async function saveResult({ output }: Place, lines: Lines, io: Io): Promise<void> {
  await saveLines(output ?? '-', lines, io);
  if (output !== null) say(io, `wrote ${output}`);
}

/** The width and the colors of where lines for people go. */
export function screenOf(
  { output }: Place,
  io: Io,
): { readonly width: number | null; readonly style: Style } {
  const screen = output === null ? io.stdout : {};
  return { width: widthOf(screen, io.env), style: styleFor(screen, io.env) };
}

/** Lines for people: on the terminal, or in the file of --output. */
export async function showResult(place: Place, lines: readonly string[], io: Io): Promise<void> {
  if (place.output !== null) await saveResult(place, [`${lines.join('\n')}\n`], io);
  else if (lines.length > 0) await show(io, lines);
}

/** A row: values by the keys of columns, and whatever else its JSON has. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A column of rows: where its values are, what Parquet stores them as, and how it looks in a table.
 */
export interface RowColumn extends Column {
  readonly key: string;
  readonly type?: ColumnType;
}

type ColumnType = NonNullable<
  import('@call-attribution/node-stream/encoders').ParquetColumn['type']
>;

/**
 * Writes rows to where a command was told: as a table for people, or in a format for programs. A
 * column may be its key alone.
 */
export async function writeRows(
  rows: AsyncIterable<Row> | Iterable<Row>,
  named: readonly (string | RowColumn)[],
  target: Target<FileFormat | 'table'>,
  io: Io,
  {
    above = () => [],
    more = '',
  }: { readonly above?: () => readonly string[]; readonly more?: string } = {},
): Promise<void> {
  const { format } = target;
  const columns = named.map((column) =>
    typeof column === 'string' ? { key: column, title: column } : column,
  );
  if (format !== 'table')
    return saveResult(target, encodedRows(rows, columns, { ...target, format }), io);
  const cells: string[][] = [];
  for await (const row of rows) cells.push(columns.map(({ key }) => cellText(row[key])));
  const head = above();
  const table = cells.length === 0 ? null : renderTable(columns, cells, screenOf(target, io));
  const between = table !== null && head.length > 0 ? [''] : [];
  await showResult(target, [...head, ...between, ...(table?.lines ?? [])], io);
  if (table !== null && table.dropped.length > 0)
    say(io, `not enough width for ${table.dropped.join(', ')}${more}`);
}

/** A value as a person reads it. */
const cellText = (value: unknown): string =>
  value === null || value === undefined ? '' : String(value);

/** Rows in the bytes of a file. JSON has them as they are, the other formats their columns. */
export async function* encodedRows(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly RowColumn[],
  { format, gzip }: { readonly format: FileFormat; readonly gzip: boolean },
): AsyncGenerator<Uint8Array> {
  const { encodingOf } = await import('../../output/encode.ts');
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
    throw new UsageError(
      error.summary,
      ['cast the column in the SQL, such as cast(sum(x) as text)'],
      {
        cause: error,
      },
    );
  }
}

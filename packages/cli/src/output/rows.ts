import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { type Output, write } from '../io.ts';

/** Formats that a file can have. */
export const fileFormats = ['ndjson', 'csv', 'json', 'parquet'] as const;

/** A format that a file can have. */
export type FileFormat = (typeof fileFormats)[number];

/** The format that the name of a file ends in; null when it says none. */
export function formatOfName(name: string): { readonly format: FileFormat | null; readonly gzip: boolean } {
  const gzip = name.endsWith('.gz');
  const extension = /\.([a-z]+)$/i.exec(gzip ? name.slice(0, -3) : name)?.[1]?.toLowerCase();
  const known = extension === 'jsonl' ? 'ndjson' : fileFormats.find((format) => format === extension);
  return { format: known ?? null, gzip };
}

/** How rows are shown or written. */
export type OutputFormat = 'table' | Exclude<FileFormat, 'parquet'>;

const formats = ['table', 'json', 'ndjson', 'csv'] as const;

/** The format of --json or --format; null when neither was typed. */
export function typedFormat<F extends string>(args: Args, names: readonly F[]): F | 'json' | null {
  const named = args.text('format');
  if (!args.flag('json')) return names.find((name) => name === named) ?? null;
  if (named === null) return 'json';
  throw new UsageError(`--json and --format ${named} exclude each other; use one`);
}

/** The format that the options or the extension of --output select; a table by default. */
export function formatOf(args: Args): OutputFormat {
  const typed = typedFormat(args, formats);
  const output = args.text('output');
  if (typed !== null || output === null || output === '-') return typed ?? 'table';
  const { format, gzip } = formatOfName(output);
  if (format !== null && format !== 'parquet' && !gzip) return format;
  throw new UsageError(`--output ${output}: the extension does not name a format`, {
    hints: [
      ...(output === 'json' ? ['--json prints JSON'] : []),
      'end the name in .csv, .json or .ndjson, or add --format',
      'calls export also writes .gz and .parquet',
    ],
  });
}

/** Writes rows in one of the data formats. */
export async function writeRows(
  output: Output,
  format: Exclude<OutputFormat, 'table'>,
  rows: readonly Readonly<Record<string, unknown>>[],
  names: readonly string[] = Object.keys(rows[0] ?? {}),
): Promise<void> {
  if (format === 'json') return write(output, `${JSON.stringify(rows, null, 2)}\n`);
  if (format === 'ndjson') return write(output, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const { csvLine } = await import('@call-attribution/node-stream/encoders');
  await write(output, csvLine(names) + rows.map((row) => csvLine(names.map((name) => row[name]))).join(''));
}

import type { Args } from '../args.ts';
import { UsageError } from '../errors.ts';

/** Formats that a file of records can have. */
export const fileFormats = ['ndjson', 'csv', 'json', 'parquet'] as const;

/** A format that a file of records can have. */
export type FileFormat = (typeof fileFormats)[number];

/** The format that the name of a file ends in; null when it says none. */
export function formatOfName(name: string): { readonly format: FileFormat | null; readonly gzip: boolean } {
  const gzip = name.endsWith('.gz');
  const extension = /\.([a-z]+)$/i.exec(gzip ? name.slice(0, -3) : name)?.[1]?.toLowerCase();
  const known = extension === 'jsonl' ? 'ndjson' : fileFormats.find((format) => format === extension);
  return { format: known ?? null, gzip };
}

/** Where a command writes, and in which form. */
export interface Target<F extends string> {
  readonly format: F;
  readonly gzip: boolean;
  /** With a byte order mark, and an apostrophe before strings that a spreadsheet would run as formulas. */
  readonly isForSpreadsheet: boolean;
  /** The file as typed; null for stdout. */
  readonly output: string | null;
}

/** What the commands that print rows write. */
export const rowFormats = ['table', 'csv', 'json', 'ndjson'] as const;

/** What the rows of a statement are written as. */
export const sqlFormats = ['table', 'csv', 'json', 'ndjson', 'parquet'] as const;

/**
 * The one reader of --output, --format and --json: the option says the format, else the extension of the file; on stdout it is the first
 * of those that the command writes. `gzip`: it writes compressed files, too.
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
  const format =
    named ??
    (output === null ? formats[0] : formats.find((format) => format === known && format !== 'table'));
  if (format === undefined || (gzip && !compresses)) throw noFormat(output ?? '', formats, compresses);
  if (format === 'parquet' && output === null)
    throw new UsageError('a Parquet file cannot be written to stdout; name a file with --output');
  if (format === 'parquet' && gzip)
    throw new UsageError('a Parquet file is already compressed; remove .gz from its name');
  return { format, gzip, isForSpreadsheet, output };
}

function noFormat(output: string, formats: readonly string[], compresses: boolean): UsageError {
  const names = formats.filter((format) => format !== 'table').map((format) => `.${format}`);
  const list = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  return new UsageError(`--output ${output}: the extension does not name a format`, {
    hints: [
      ...(output === 'json' ? ['--json prints JSON'] : []),
      `end the name in ${list}${compresses ? ' (.gz after it compresses)' : ''}, or add --format`,
      ...(compresses ? [] : ['calls export also writes .gz and .parquet']),
    ],
  });
}

/** The value of `--output` of a command that needs it. A file name in `--to`, where other programs have it, is pointed out. */
export function outputOf(args: Args): string {
  const to = args.text('to');
  if (to !== null && formatOfName(to).format !== null) {
    throw new UsageError(`--to ${to}: --to is the end of the time range`, {
      hints: [`the file is --output ${to}`],
    });
  }
  const output = args.text('output');
  if (output) return output;
  throw new UsageError(`calls ${args.command} needs a file: --output calls.csv`, {
    hints: ['the extension says the format; - writes to stdout'],
  });
}

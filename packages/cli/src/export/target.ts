import { resolve } from 'node:path';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { isSpecial } from '../io.ts';
import { type FileFormat, fileFormats, formatOfName } from '../output/rows.ts';

/** Where an export goes. */
export interface Target {
  /** Absolute path, or null for stdout. */
  readonly path: string | null;
  /** The path names a pipe or a device, which is written to as it is and never replaced. */
  readonly isSpecial: boolean;
  /** As typed, for messages. */
  readonly shown: string;
  readonly format: FileFormat;
  readonly gzip: boolean;
  /** With a byte order mark, and an apostrophe before strings that a spreadsheet would run as formulas. */
  readonly isForSpreadsheet: boolean;
}

/** The file of `--output`. Its extension selects the format unless `--format` does. */
export function readTarget(args: Args, cwd: string): Target {
  const shown = outputOf(args);
  const typed = args.text('format');
  const isForSpreadsheet = typed === 'spreadsheet';
  const named = isForSpreadsheet ? 'csv' : (fileFormats.find((format) => format === typed) ?? null);
  if (shown === '-') {
    const format = named ?? 'ndjson';
    if (format === 'parquet')
      throw new UsageError('a Parquet file cannot be written to stdout; name a file with --output');
    return { path: null, shown: 'stdout', format, gzip: false, isForSpreadsheet, isSpecial: false };
  }
  const { format: known, gzip } = formatOfName(shown);
  const format = named ?? known;
  if (format === null) {
    throw new UsageError(`--output ${shown}: the extension does not name a format`, {
      hints: ['end the name in .ndjson, .csv, .json or .parquet (and .gz), or add --format'],
    });
  }
  if (gzip && format === 'parquet')
    throw new UsageError('a Parquet file is already compressed; remove .gz from its name');
  const path = resolve(cwd, shown);
  return { path, shown, format, gzip, isForSpreadsheet, isSpecial: isSpecial(path) };
}

/** The value of `--output`. A file name in `--to`, where it once belonged, is pointed out. */
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

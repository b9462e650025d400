import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseTime } from '@call-attribution/core/time';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';

/** Formats a file of calls can have. */
export type FileFormat = 'ndjson' | 'csv' | 'json' | 'parquet';

/** Where an export goes. */
export interface Target {
  /** Absolute path, or null for stdout. */
  readonly path: string | null;
  /** What is there already and is no file, such as a pipe or a device: written to as it is, never replaced. */
  readonly special: boolean;
  /** As typed, for messages. */
  readonly shown: string;
  readonly format: FileFormat;
  readonly gzip: boolean;
}

const formats = ['ndjson', 'csv', 'json', 'parquet'] as const;

/** The file of `--to`, its format by its ending unless `--format` says it. */
export function readTarget(args: Args, cwd: string): Target {
  const shown = pathOf(args);
  const asked = formats.find((format) => format === args.text('format')) ?? null;
  if (shown === '-') {
    const format = asked ?? 'ndjson';
    if (format === 'parquet')
      throw new UsageError('a Parquet file cannot go to stdout; name a file with --to');
    return { path: null, shown: 'stdout', format, gzip: false, special: false };
  }
  const gzip = shown.endsWith('.gz');
  const ending = /\.([a-z]+)$/i.exec(gzip ? shown.slice(0, -3) : shown)?.[1]?.toLowerCase();
  const format = asked ?? formats.find((known) => known === ending) ?? (ending === 'jsonl' ? 'ndjson' : null);
  if (format === null) {
    throw new UsageError(`--to ${shown}: the ending does not say the format`, {
      hints: ['end it in .ndjson, .csv, .json or .parquet (and .gz), or add --format'],
    });
  }
  if (gzip && format === 'parquet') {
    throw new UsageError('a Parquet file is compressed inside already; leave .gz out');
  }
  const path = resolve(cwd, shown);
  return { path, shown, format, gzip, special: isSpecial(path) };
}

/** Whether the path names a pipe or a device. */
export function isSpecial(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw new UsageError(`${path} is a folder; name a file in it`);
  return found !== undefined && !found.isFile();
}

/** The value of `--to`, which in export is a file; a time there is a slip worth naming. */
export function pathOf(args: Args): string {
  const to = args.text('to');
  if (!to) {
    throw new UsageError('calls export needs a file: --to calls.csv', {
      hints: ['.ndjson, .csv, .json or .parquet; - writes to stdout; the end of the range is --until'],
    });
  }
  if (parseTime(to) || /^(now|today|yesterday|\d+(m|h|d|w|mo))$/.test(to)) {
    throw new UsageError(`--to ${to}: in export, --to is the file`, {
      hints: [`the end of the range is --until ${to}`],
    });
  }
  return to;
}

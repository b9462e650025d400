import { resolve } from 'node:path';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { isSpecial } from '../io.ts';
import {
  type FileFormat,
  fileFormats,
  formatOfName,
  type Target as Output,
  targetOf,
} from '../output/target.ts';

/** Where an export goes. */
export interface Target extends Omit<Output<FileFormat>, 'output'> {
  /** Absolute path, or null for stdout. */
  readonly path: string | null;
  /** The path names a pipe or a device, which is written to as it is and never replaced. */
  readonly isSpecial: boolean;
  /** As typed, for messages. */
  readonly shown: string;
}

/** The file of `--output`. Its extension selects the format unless `--format` does. */
export function readTarget(args: Args, cwd: string): Target {
  outputOf(args);
  const { output, ...form } = targetOf(args, fileFormats, { gzip: true });
  if (output === null) return { ...form, path: null, shown: 'stdout', isSpecial: false };
  const path = resolve(cwd, output);
  return { ...form, path, shown: output, isSpecial: isSpecial(path) };
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

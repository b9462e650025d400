import type { Args } from '../args.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { Writer } from '../export/job.ts';
import type { Io } from '../io.ts';
import { accounts, changes, connection, only, output, whichCalls } from '../options.ts';
import type { FileFormat, Target } from '../output/encode.ts';
import type { Planner } from './runs/export.ts';

/** `calls export`: all calls that match, as a file; for several accounts, each with its own. */
export const exportCalls = command({
  name: 'export',
  summary: 'write all calls that match to a file',
  about:
    'The extension of the file selects the format: .ndjson, .csv, .json, .parquet or .xlsx; .gz after one of the first three ' +
    'compresses it. The file appears under its name only when it is complete. After an interruption, the same command ' +
    'with --resume continues. The exit status is 3 when the server did not return all the calls that it counted.',
  options: {
    '-o, --output <file>':
      'file to write, or - for stdout; {account} and {date} in the name are replaced',
    '--format <ndjson|csv|json|parquet|xlsx|spreadsheet>':
      'format, when the extension does not say it; spreadsheet is CSV that Excel reads as UTF-8 and in which nothing runs as a formula; xlsx needs the package write-excel-file',
    '--partition <month>':
      'write a folder of Parquet files, one a month, each with its receipt: account=101/month=2026-10.parquet; run again, it writes what has changed',
    '--receipt':
      'write FILE.receipt.json as well: what was read and proved, and what the file holds; calls verify compares them later',
    '--resume': 'continue an interrupted export of the same file',
    '--rows <n>': 'calls per request; fewer if the server sends fewer (default: 1000)',
    ...whichCalls,
    ...changes,
    ...only(output, '--fields <fields>'),
    ...accounts,
    ...connection,
  },
  choices: { partition: ['month'] },
  examples: {
    'calls export -o calls.parquet --period "last 3 months" --time-zone America/New_York':
      'three months, typed columns',
    'calls export -o calls/ --partition month':
      'a folder of Parquet files for DuckDB, Spark, BigQuery or pandas',
    'calls export -o calls.ndjson.gz --resume': 'continue after Ctrl-C or a crash',
  },
  async run(args, io) {
    const { exportEach } = await import('./runs/export.ts');
    const { sayExtensions } = await import('./typed/filter.ts');

    for (const option of ['partition', 'receipt'] as const)
      if (args.flag('changed-since') && args.flag(option))
        throw new UsageError(
          `--${option} is about all calls of a filter, and cannot be used with --changed-since`,
          ['--partition month alone writes the months that have changed'],
        );

    const planOf: Planner = async (args, context) => {
      const write = args.flag('partition')
        ? await monthsOf(args, io)
        : await fileOf(args, context.version, io);
      return {
        async write(job) {
          await sayExtensions(job.filter, context.version, io);
          return write(job);
        },
      };
    };

    return exportEach(planOf, args, io);
  },
});

/** Writes a folder of months. */
async function monthsOf(args: Args, { cwd }: Io): Promise<Writer> {
  const { monthsWriter } = await import('../export/months.ts');
  const { outputOf } = await import('./typed/output.ts');
  const wrong = ['format', 'fields', 'resume'].find(
    (name) => args.flag(name) && args.text(name) !== 'parquet',
  );
  if (wrong === undefined) return monthsWriter(outputOf(args), cwd);
  throw new UsageError(
    `--${wrong} cannot be used with --partition: the folder has Parquet files with all fields, and the same command writes what is missing`,
    [`remove --${wrong}`],
  );
}

/** Writes a file, or to stdout. */
async function fileOf(args: Args, version: 'v2' | 'v3', io: Io): Promise<Writer> {
  const { callsWriter } = await import('../export/calls.ts');
  const { readFields } = await import('../input/fields.ts');
  const { fileFormats } = await import('../output/encode.ts');
  const { saveLines, targetOf } = await import('./typed/output.ts');
  const target = targetOf(args, fileFormats, { gzip: true });
  return callsWriter({
    target,
    fields: readFields(args.list('fields')),
    typed: typedOptions(args, version, target),
    resume: args.flag('resume'),
    receipt: args.flag('receipt'),
    cwd: io.cwd,
    has: args.has,
    save: (shown, chunks) => saveLines(shown, chunks, io),
  });
}

/** The options that decide what is in a file. */
function typedOptions(
  args: Args,
  version: 'v2' | 'v3',
  { format, gzip, isForSpreadsheet }: Target<FileFormat>,
) {
  const values = ['q', 'where', 'from', 'to', 'period', 'min-talk', 'fields']
    .filter((name) => args.flag(name))
    .map((name) => `--${name} ${args.list(name).join(',')}`);
  const flags = ['include-extensions', 'receipt'].filter((name) => args.flag(name));
  return [
    `--api-version ${version}`,
    `--format ${isForSpreadsheet ? 'spreadsheet' : format}${gzip ? ' (.gz)' : ''}`,
    ...values,
    ...flags.map((name) => `--${name}`),
  ].join(' ');
}

import { stat } from 'node:fs/promises';
import type { Settings } from '@call-attribution/core/settings';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import { type Filter, printFilter } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args/command.ts';
import { type BadRecords, badRecords, withWayOut } from '../bad-records/policy.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import {
  type DatasetTarget,
  exportDataset,
  partitionNeedsWarehouse,
  readDataset,
} from '../export/dataset.ts';
import type { FormatOptions } from '../export/encode.ts';
import { exportToFile, saveCalls } from '../export/file.ts';
import { exportToParquet } from '../export/parquet.ts';
import { exportRequest } from '../export/request.ts';
import { exportToOutput } from '../export/stream.ts';
import { outputOf, readTarget, type Target } from '../export/target.ts';
import { type Io, say } from '../io.ts';
import { chooseAccounts, type ReadAccount } from '../reading/accounts.ts';
import { contextOf } from '../reading/connect.ts';
import { eachAccount, planEach } from '../reading/each-account.ts';
import { readFields } from '../reading/fields.ts';
import { filterOf, sayExtensions, withExtensions } from '../reading/filter.ts';
import type { Source } from '../reading/source.ts';
import { type Ending, judge, watch } from '../reading/verdict.ts';
import { isWarehouse } from '../reading/warehouse-source.ts';
import { bytes } from '../term/numbers.ts';
import type { ProgressLine } from '../term/progress.ts';
import { exportSheet } from '../uploads/sheet.ts';
import { readSheetRequest, type SheetRequest } from '../uploads/sheet-options.ts';

/** What all kinds of export need. */
interface Job {
  readonly args: Args;
  readonly io: Io;
  readonly settings: Settings;
  readonly source: Source;
  /** The source, with a line that shows how far it is read. */
  readonly calls: Pick<Source, 'read'>;
  readonly filter: Filter;
  readonly stream: CallStreamOptions;
  readonly bad: BadRecords;
}

/** Writes the calls in one of the ways that the options choose. Resolves with how the reading ended, where there was one. */
type Writer = (job: Job) => Promise<Ending | null>;

/** `calls export`: all calls that match, as a file or an upload sheet; for several accounts, each with its own. */
export const exportCalls: Handler = async (args, io) => {
  const accounts = await chooseAccounts(args, io);
  if (accounts.every(({ name }) => name === null))
    return eachAccount(accounts, args, io, (account) => exportAccount(account, args, io));
  const planned = await planEach(accounts, ({ name }) => argsOfAccount(args, name ?? ''));
  return eachAccount(planned, args, io, (account) => exportAccount(account, account.plan, io));
};

const account = '{account}';

/** The options for one of several accounts: {account} in the names of files becomes its name, so that no file is shared. */
function argsOfAccount(args: Args, name: string): Args {
  const output = outputOf(args);
  for (const option of ['output', 'left-out', 'ledger', 'bad-records']) {
    const file = args.text(option);
    if (file !== null && !file.includes(account)) {
      const [, stem = '', extension = ''] =
        /^(.*?)((?:\.\w+)*[/\\]?)$/s.exec(file === '-' ? 'calls.csv' : file) ?? [];
      throw new UsageError(`--${option} ${file}: each account has a file of its own`, {
        hints: [
          `put ${account} in the name: --${option} ${stem}-${account}${extension}`,
          ...(output === '-' ? ['calls list --all writes the calls of several accounts to stdout'] : []),
        ],
      });
    }
  }
  return { ...args, text: (option) => args.text(option)?.replaceAll(account, name) ?? null };
}

async function exportAccount({ settings, open }: ReadAccount, args: Args, io: Io): Promise<number> {
  const context = contextOf(settings, io);
  const sheet = await readSheetRequest(args, context, io);
  const write = sheet ? sheetWriter(sheet) : otherWriter(args, settings, io);
  const filter = filterOf(args, context, sheet);
  const shown = outputOf(args);
  const bad = badRecords(args, io, {
    version: settings.apiVersion.value,
    account: null,
    besides: shown === '-' ? 'calls' : shown,
  });
  const source = await open();
  const { line, onProgress } = watch(io, 'calls');
  try {
    if (isWarehouse(source) && args.flag('resume'))
      throw new UsageError('--resume is for exports from the API; one from a warehouse starts over', {
        hints: ['remove --resume'],
      });
    const rows = args.integer('rows', { min: 1 });
    const stream = { ...(rows === null ? {} : { rows }), filter, onProgress, onError: bad.onError };
    const verdict = await write({
      args,
      io,
      settings,
      source,
      calls: ending(source, line),
      stream,
      filter,
      bad,
    });
    await bad.settle();
    return verdict === null ? exitCodes.ok : judge(verdict, io, bad);
  } catch (error) {
    throw await withWayOut(error);
  } finally {
    line.end();
    await source.close();
  }
}

/** Reads from the source, and ends the line of its progress with the last call: what is said then comes below it. */
function ending(source: Source, line: ProgressLine): Pick<Source, 'read'> {
  return {
    read(options) {
      const reading = source.read(options);
      reading.stream.once('end', () => line.end());
      return reading;
    },
  };
}

function otherWriter(args: Args, settings: Settings, io: Io): Writer {
  const dataset = readDataset(args, settings, io);
  return dataset ? datasetWriter(dataset) : callsWriter(readTarget(args, io.cwd), readFields(args));
}

const datasetWriter =
  (dataset: DatasetTarget): Writer =>
  async ({ source, settings, filter, io }) => {
    if (!isWarehouse(source)) throw partitionNeedsWarehouse(dataset);
    sayExtensions(filter, settings.apiVersion.value, io);
    await exportDataset(source, dataset, filter, io);
    return null;
  };

const sheetWriter =
  (sheet: SheetRequest): Writer =>
  ({ args, calls, settings, filter, stream, io }) => {
    const version = settings.apiVersion.value;
    // Conversions are matched by caller number only for calls through extensions, which v3 leaves out by default.
    const needsExtensions = sheet.format.accepts.onlyExtensions;
    if (!needsExtensions) sayExtensions(filter, version, io);
    const matching = needsExtensions && version === 'v3' ? withExtensions(filter) : filter;
    return exportSheet(calls, outputOf(args), sheet, { ...stream, filter: matching }, io);
  };

/** Writes the calls as they are: to stdout, a pipe or a device, or to a file. */
const callsWriter =
  (target: Target, fields: FormatOptions['fields']): Writer =>
  async ({ args, source, calls, settings, filter, stream, bad, io }) => {
    const resume = args.flag('resume');
    const version = settings.apiVersion.value;
    const spreadsheet = args.flag('spreadsheet');
    const format = { fields, version, bom: spreadsheet, spreadsheetSafe: spreadsheet };
    sayExtensions(filter, version, io);
    const { path, shown } = target;
    if (path === null || target.isSpecial) {
      if (resume)
        throw new UsageError(`cannot resume ${shown}, because it is not a file; name a file with --output`);
      return exportToOutput(calls, target, { format, stream, io });
    }
    const file = { ...target, path };
    let verdict: Ending;
    if (isWarehouse(source)) verdict = await saveCalls(calls, file, { format, stream, io });
    else {
      const request = exportRequest(args, settings, target, printFilter(filter));
      const save = target.format === 'parquet' ? exportToParquet : exportToFile;
      ({ verdict } = await save(calls, file, { format, stream, request, resume, bad, io }));
    }
    say(io, `${shown}: ${bytes((await stat(path)).size)}`);
    return verdict;
  };

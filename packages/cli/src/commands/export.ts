import { stat } from 'node:fs/promises';
import type { Settings } from '@call-attribution/core/settings';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import { type Filter, printFilter } from '@call-attribution/query-dsl';
import { eachAccount, planEach } from '../accounts/each-account.ts';
import type { Args, Handler } from '../args/command.ts';
import { type BadRecords, badRecords, withWayOut } from '../bad-records/policy.ts';
import { contextOf } from '../calls/connect.ts';
import { readFields } from '../calls/fields.ts';
import { filterOf, sayExtensions, withExtensions } from '../calls/filter.ts';
import { judge, watch } from '../calls/reading.ts';
import type { Source } from '../calls/source.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { FormatOptions } from '../export/encode.ts';
import { exportToFile, finishParquet, openTarget, saveCalls } from '../export/file.ts';
import { exportToOutput } from '../export/output.ts';
import { exportRequest, keptRequest } from '../export/request.ts';
import { exportSheet } from '../export/sheet.ts';
import { readSheetRequest, type SheetRequest } from '../export/sheet-options.ts';
import { outputOf, readTarget, type Target } from '../export/target.ts';
import { type Io, say } from '../io.ts';
import { bytes } from '../term/numbers.ts';
import { chooseAccounts, type ReadAccount } from '../warehouse/accounts.ts';
import { type DatasetTarget, exportFromApi, exportFromWarehouse, readDataset } from '../warehouse/dataset.ts';
import { isWarehouse } from '../warehouse/source.ts';

/** What all kinds of export need. */
interface Job {
  readonly args: Args;
  readonly io: Io;
  readonly settings: Settings;
  readonly source: Source;
  readonly filter: Filter;
  readonly fields: FormatOptions['fields'];
  readonly stream: CallStreamOptions;
  readonly bad: BadRecords;
}

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
  const dataset = readDataset(args, io.cwd);
  const target = sheet || dataset ? null : readTarget(args, io.cwd);
  const shown = outputOf(args);
  const fields = readFields(args);
  const filter = filterOf(args, context, sheet);
  const bad = badRecords(args, io, {
    version: settings.apiVersion.value,
    account: null,
    besides: shown === '-' ? 'calls' : shown.replace(/[/\\]+$/, ''),
  });
  const source = await open();
  const { line, onProgress } = watch(io, 'calls');
  try {
    const stream = { ...streamOptions(args, onProgress), onError: bad.onError };
    const job = { args, io, settings, source, filter, fields, stream, bad };
    if (dataset) return await exportDataset(dataset, job, () => line.end());
    if (target) return await exportFile(target, job, () => line.end());
    return await exportOneSheet(sheet as SheetRequest, shown, job, () => line.end());
  } catch (error) {
    throw await withWayOut(error);
  } finally {
    line.end();
    await source.close();
  }
}

async function exportOneSheet(
  sheet: SheetRequest,
  shown: string,
  { source, settings, filter, stream, bad, io }: Job,
  finished: () => void,
): Promise<number> {
  const version = settings.apiVersion.value;
  // Conversions are matched by caller number only for calls through extensions, which v3 leaves out by default.
  const needsExtensions = sheet.format.accepts.onlyExtensions;
  if (!needsExtensions) sayExtensions(filter, version, io);
  const matching = needsExtensions && version === 'v3' ? withExtensions(filter) : filter;
  const verdict = await exportSheet(source, shown, sheet, {
    stream: { ...stream, filter: matching },
    io,
    finished,
  });
  await bad.settle();
  return judge(verdict, io, bad);
}

async function exportDataset(
  dataset: DatasetTarget,
  { args, bad, source, filter, stream, settings, io }: Job,
  finished: () => void,
): Promise<number> {
  const version = settings.apiVersion.value;
  sayExtensions(filter, version, io);
  if (isWarehouse(source)) {
    await exportFromWarehouse(source, dataset, filter, io);
    return exitCodes.ok;
  }
  const request = exportRequest(args, settings, { format: 'parquet', gzip: false }, printFilter(filter));
  const resume = args.flag('resume');
  const verdict = await exportFromApi(source, dataset, {
    filter,
    stream,
    request,
    version,
    resume,
    bad,
    io,
  }).finally(finished);
  return judge(verdict, io, bad);
}

async function exportFile(target: Target, job: Job, finished: () => void): Promise<number> {
  const { args, bad, source, filter, io, settings } = job;
  const resume = args.flag('resume');
  const format: FormatOptions = {
    fields: job.fields,
    version: settings.apiVersion.value,
    bom: args.flag('bom'),
    spreadsheetSafe: args.flag('spreadsheet-safe'),
  };
  sayExtensions(filter, settings.apiVersion.value, io);
  const { path } = target;
  if (path === null || target.isSpecial) {
    if (resume)
      throw new UsageError(
        `cannot resume ${target.shown}, because it is not a file; name a file with --output`,
      );
    const stream = { ...job.stream, filter };
    const verdict = await exportToOutput(source, target, { format, stream, io }).finally(finished);
    await bad.settle();
    return judge(verdict, io, bad);
  }
  const file = { ...target, path };
  if (isWarehouse(source)) {
    if (resume)
      throw new UsageError('--resume is for exports from the API; one from a warehouse starts over', {
        hints: ['remove --resume'],
      });
    const verdict = await saveCalls(source, file, { format, stream: { ...job.stream, filter }, io });
    say(io, `${target.shown}: ${bytes((await stat(path)).size)}`);
    return judge(verdict, io);
  }
  const request = exportRequest(args, settings, target, printFilter(filter));
  const done = resume ? await finishParquet(file, format, request, io) : null;
  if (done !== null) {
    say(io, `${target.shown}: ${bytes((await stat(path)).size)}`);
    return judge(done, io, bad);
  }
  const sink = openTarget(file, format, request, resume);
  try {
    const kept = keptRequest(sink, request, target.shown);
    if (resume && !kept) say(io, 'there is nothing to resume; starting from the beginning');
    // Relative times have moved since, and the file must hold the calls of one query.
    if (kept && kept.filter !== request.filter) say(io, `resuming the export of ${kept.filter}`);
    const stream = { ...job.stream, filter: kept ? kept.filter : filter };
    const verdict = await exportToFile(source, sink, file, {
      format,
      stream,
      request: kept ?? request,
      bad,
      io,
    }).finally(finished);
    say(io, `${target.shown}: ${bytes((await stat(path)).size)}`);
    return judge(verdict, io, bad);
  } catch (error) {
    sink.destroy();
    throw error;
  }
}

function streamOptions(
  args: Args,
  onProgress: NonNullable<CallStreamOptions['onProgress']>,
): CallStreamOptions {
  const rows = args.integer('rows', { min: 1 });
  const prefetch = args.integer('prefetch', { min: 1, max: 64 });
  return { onProgress, ...(rows === null ? {} : { rows }), ...(prefetch === null ? {} : { prefetch }) };
}

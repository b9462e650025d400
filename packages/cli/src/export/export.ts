import { rm, stat } from 'node:fs/promises';
import { removalsEnding } from '@call-attribution/node-stream/copies';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import { printFilter } from '@call-attribution/query-dsl';
import type { Handler } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { say } from '../io.ts';
import { type CopySource, isCopy } from '../reading/copy-source.ts';
import { readFields } from '../reading/fields.ts';
import { sayExtensions } from '../reading/filter.ts';
import type { Ending } from '../reading/verdict.ts';
import { bytes } from '../term/numbers.ts';
import { exportEach, type Planner, type Writer } from './each.ts';
import type { FormatOptions } from './encode.ts';
import { exportToFile, type FileTarget, saveCalls } from './file.ts';
import { monthsWriter } from './months.ts';
import { exportToParquet } from './parquet.ts';
import { receiptAbout, refuseReceipt } from './receipt.ts';
import { exportRequest } from './request.ts';
import { exportToOutput } from './stream.ts';
import { readTarget, type Target } from './target.ts';

/** `calls export`: all calls that match, as a file; for several accounts, each with its own. */
export const exportCalls: Handler = (args, io) => exportEach(planOf, args, io);

const planOf: Planner = async (args, _settings, _context, io) => {
  const write = monthsWriter(args, io.cwd) ?? callsWriter(readTarget(args, io.cwd), readFields(args));
  return { write: refusingResume(write), rows: args.integer('rows', { min: 1 }) };
};

/** What is read from a copy is read at once. */
const refusingResume =
  (write: Writer): Writer =>
  (job) => {
    if (!isCopy(job.source) || !job.args.flag('resume')) return write(job);
    throw new UsageError('--resume is for exports from the API; one from a copy starts over', {
      hints: ['remove --resume'],
    });
  };

/** A Parquet file has beside it who was erased, for whoever loads it. */
async function saveRemovals(source: CopySource, { path, format }: FileTarget): Promise<void> {
  const removals = format === 'parquet' ? await source.removals() : null;
  const beside = `${path}${removalsEnding}`;
  if (removals === null) await rm(beside, { force: true });
  else await writeWholeFile(beside, removals);
}

/** Writes the calls as they are: to stdout, a pipe or a device, or to a file. */
const callsWriter =
  (target: Target, fields: FormatOptions['fields']): Writer =>
  async ({ args, source, calls, settings, filter, stream, io }) => {
    const resume = args.flag('resume');
    const version = settings.apiVersion.value;
    const { isForSpreadsheet } = target;
    const format = { fields, version, bom: isForSpreadsheet, spreadsheetSafe: isForSpreadsheet };
    sayExtensions(filter, version, io);
    const { path, shown } = target;
    if (path === null || target.isSpecial) {
      refuseReceipt(args, `${shown} is not a file; name a file with --output`);
      if (resume)
        throw new UsageError(`cannot resume ${shown}, because it is not a file; name a file with --output`);
      return exportToOutput(calls, target, { format, stream, io });
    }
    const file = { ...target, path };
    const receipt = receiptAbout(args, settings, source.address, fields);
    const text = printFilter(filter);
    let verdict: Ending;
    if (isCopy(source)) {
      verdict = await saveCalls(calls, file, { format, stream, receipt, filter: text, io });
      await saveRemovals(source, file);
    } else {
      const request = exportRequest(args, settings, target, text);
      const save = target.format === 'parquet' ? exportToParquet : exportToFile;
      ({ verdict } = await save(calls, file, { format, stream, request, resume, receipt, io }));
    }
    say(io, `${shown}: ${bytes((await stat(path)).size)}`);
    return verdict;
  };

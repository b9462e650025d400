import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  exportMonths,
  type MonthFile,
  type MonthsSummary,
  monthFolder,
} from '@call-attribution/node-stream';
import { Interrupted, UsageError } from '../errors.ts';
import type { ReadResult } from '../input/verdict.ts';
import { fileError } from '../io.ts';
import { bytes, plural } from '../terminal/numbers.ts';
import type { Job, Writer } from './job.ts';

/** Writes a folder of Parquet files, a file a month, each with its receipt. */
export function monthsWriter(shown: string, cwd: string): Writer {
  const path = resolve(cwd, shown);
  if (shown === '-' || statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`--partition writes a folder, and --output ${shown} is not one`);
  return (job) => exportByMonth(path, shown, job);
}

/** Months that have not changed since an earlier run stay as they are. */
async function exportByMonth(path: string, shown: string, job: Job): Promise<ReadResult> {
  const { source, settings, filter, where, stream, signal, clock, onNote } = job;
  const version = settings.apiVersion.value;

  /** What receipts say of where the calls come from. */
  const origin = { version, address: source.address, ...(where === null ? {} : { where }) };
  const target = monthFolder(path);
  const files: MonthFile[] = [];
  const verdicts: MonthsSummary['verdict'][] = [];
  const options = {
    ...(stream.onError === undefined ? {} : { onError: stream.onError }),
    ...(settings.account === null ? {} : { name: settings.account.name }),
    signal,
    clock,
    onFile: (file: MonthFile) => files.push(file),
  };
  const months = await source.months({ ...stream, filter });
  for (const line of months.said) onNote(line);
  try {
    for (const { account: known, filter, ...calls } of months.accounts) {
      const account = known ?? settings.account?.id;
      const own = { ...options, filter, ...(account ? { account } : {}) };
      const { verdict } = await exportMonths({ ...origin, ...calls }, target, own);
      verdicts.push(verdict);
    }
  } catch (error) {
    if (!signal.aborted) throw fileError(error, shown);
    throw new Interrupted([
      'each file that was written is complete; run the same command again for the others',
    ]);
  }

  const calls = files.reduce((sum, file) => sum + file.calls, 0);
  const kept = files.filter(({ isKept }) => isKept).length;
  const size = files.reduce((sum, file) => sum + file.bytes, 0);
  const note = kept > 0 ? ` (${kept} unchanged)` : '';
  onNote(
    `${shown}: ${plural(calls, 'call')} in ${plural(files.length, 'file')}${note}, ${bytes(size)}`,
  );
  return months.result(calls, verdicts);
}

import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import type {
  CallSelection,
  ExportedFile,
  ExportOptions,
  ExportSummary,
  Warehouse,
} from '@call-attribution/warehouse';
import type { Args } from '../args/command.ts';
import type { BadRecords } from '../bad-records/policy.ts';
import type { Ending } from '../calls/reading.ts';
import type { Source } from '../calls/source.ts';
import { Interrupted, UsageError } from '../errors.ts';
import {
  type CompleteRead,
  callsIn,
  exportToFile,
  type FileTarget,
  forgetRead,
  fromRows,
  keepRead,
  openTarget,
  readBefore,
} from '../export/file.ts';
import { type ExportRequest, keptRequest, sameRequest } from '../export/request.ts';
import { outputOf } from '../export/target.ts';
import { type Io, say } from '../io.ts';
import { bytes, plural } from '../term/numbers.ts';
import { progressLine } from '../term/progress.ts';
import { whileWaiting } from '../term/waiting.ts';
import { loadLibrary } from './library.ts';
import type { WarehouseSource } from './source.ts';

/** A folder of Parquet files to write. */
export interface DatasetTarget {
  readonly path: string;
  /** As typed, for messages. */
  readonly shown: string;
  readonly partition: NonNullable<ExportOptions['partition']>;
}

const fileOnly = ['for', 'fields', 'bom', 'spreadsheet-safe'];

/** The folder that --partition asks for; null without it. */
export function readDataset(args: Args, cwd: string): DatasetTarget | null {
  const partition = args.text('partition');
  if (partition === null) return null;
  const stray = fileOnly.find((name) => args.text(name) !== null);
  const format = args.text('format');
  if (stray !== undefined || (format !== null && format !== 'parquet')) {
    throw new UsageError(
      `--${stray ?? `format ${format}`} cannot be used with --partition: the folder has Parquet files with all fields`,
    );
  }
  const shown = outputOf(args);
  const path = resolve(cwd, shown);
  if (shown === '-' || statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`--partition writes a folder, and --output ${shown} is not one`);
  return { path, shown, partition: partition === 'day' ? 'day' : 'month' };
}

/** Writes the calls of a warehouse. Files whose calls have not changed since an earlier run stay as they are. */
export async function exportFromWarehouse(
  source: WarehouseSource,
  target: DatasetTarget,
  filter: Filter,
  io: Io,
): Promise<void> {
  await source.sayAnswered();
  await writeDataset(source.warehouse, target, source.selection(filter), io);
}

/**
 * Reads the calls of the API into a file next to the folder, which an interrupted export resumes; a warehouse that exists
 * for a moment then turns them into the folder.
 */
export async function exportFromApi(
  source: Source,
  target: DatasetTarget,
  job: {
    readonly filter: Filter;
    readonly stream: CallStreamOptions;
    readonly request: ExportRequest;
    readonly version: 'v2' | 'v3';
    readonly resume: boolean;
    readonly bad: BadRecords;
    readonly io: Io;
  },
): Promise<Ending> {
  const { bad, io, request, resume } = job;
  // Before anything is read: without the package all of it would be in vain.
  await loadLibrary();
  const format = { fields: null, version: job.version, bom: false, spreadsheetSafe: false };
  const rows: FileTarget = {
    path: `${target.path}.rows`,
    shown: `${target.shown.replace(/[/\\]+$/, '')}.rows`,
    format: 'ndjson',
    gzip: false,
    isSpecial: false,
  };
  const read = resume ? await readBefore(rows.path) : null;
  if (read !== null) {
    const kept = sameRequest(read.request, request, target.shown);
    say(io, 'all calls were read before; writing the folder');
    await toDataset(rows.path, target, { ...job, q: kept.filter });
    return read.verdict;
  }
  const sink = openTarget(rows, format, request, resume);
  try {
    await forgetRead(rows.path);
    const kept = keptRequest(sink, request, target.shown);
    if (resume && !kept) say(io, 'there is nothing to resume; starting from the beginning');
    const stream = { ...job.stream, filter: kept ? kept.filter : job.filter };
    const verdict = await exportToFile(source, sink, rows, {
      format,
      stream,
      request: kept ?? request,
      bad,
      io,
    });
    const done: CompleteRead = { request: kept ?? request, verdict };
    await keepRead(rows.path, done);
    await toDataset(rows.path, target, { ...job, q: done.request.filter });
    return verdict;
  } catch (error) {
    sink.destroy();
    throw error;
  }
}

/** Writes the folder from rows that were read completely. */
function toDataset(...args: Parameters<typeof loadAndWrite>): Promise<void> {
  const [rows, target] = args;
  return fromRows(rows, target.shown.replace(/[/\\]+$/, ''), () => loadAndWrite(...args));
}

async function loadAndWrite(
  rows: string,
  target: DatasetTarget,
  { q, version, io }: { q: string; version: 'v2' | 'v3'; io: Io },
): Promise<void> {
  const account = await accountIn(rows);
  if (account === null) {
    say(io, 'no calls match; nothing was written');
    return;
  }
  const file = `${rows}.duckdb`;
  await removeWarehouse(file);
  const { openWarehouse } = await loadLibrary();
  const warehouse = await openWarehouse(file);
  try {
    await warehouse.load(account, callsIn(rows));
    const calls = version === 'v2' ? { calls: 'all' as const } : {};
    await writeDataset(warehouse, target, { accounts: [account], q, ...calls }, io);
  } finally {
    await warehouse.close();
    await removeWarehouse(file);
  }
}

async function accountIn(rows: string): Promise<string | null> {
  for await (const { acct_id } of callsIn(rows)) {
    if (typeof acct_id === 'string' && acct_id !== '') return acct_id;
    return 'unknown';
  }
  return null;
}

async function removeWarehouse(file: string): Promise<void> {
  for (const path of [file, `${file}.wal`, `${file}.staged`])
    await rm(path, { recursive: true, force: true });
}

async function writeDataset(
  warehouse: Warehouse,
  { path, shown, partition }: DatasetTarget,
  selection: CallSelection,
  io: Io,
): Promise<void> {
  let summary: ExportSummary;
  const { calls: total } = await warehouse.count({ ...selection, signal: io.signal });
  const progress = watchFiles(total, shown, io);
  try {
    const options = { ...selection, partition, signal: io.signal, onFile: progress.onFile };
    summary = await whileWaiting(`writing ${shown}`, () => warehouse.exportParquet(path, options)).finally(
      progress.end,
    );
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new Interrupted([
      'each file that was written is complete; run the same command again for the others',
    ]);
  }
  const { files, calls, removed } = summary;
  const unchanged = files.filter(({ isUnchanged }) => isUnchanged).length;
  const size = files.reduce((sum, file) => sum + file.bytes, 0);
  const notes = [
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  say(io, `${shown}: ${plural(calls, 'call')} in ${plural(files.length, 'file')}${note}, ${bytes(size)}`);
}

/** Shows how many calls are in files already. */
function watchFiles(total: number, shown: string, io: Io) {
  const line = progressLine(io.stderr, {
    label: shown,
    now: () => performance.now(),
    isDumb: io.env.TERM === 'dumb',
  });
  const start = performance.now();
  let [files, done] = [0, 0];
  return {
    onFile({ calls }: ExportedFile): void {
      files += 1;
      done += calls;
      const rate = (done * 1000) / Math.max(1, performance.now() - start);
      line.update({ done, total, rate, note: plural(files, 'file') });
    },
    end: () => line.end(),
  };
}

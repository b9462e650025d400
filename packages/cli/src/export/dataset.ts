import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '@call-attribution/core/settings';
import type { Filter } from '@call-attribution/query-dsl';
import type { ExportedFile, ExportOptions, ExportSummary } from '@call-attribution/warehouse';
import type { Args } from '../args/command.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import type { WarehouseSource } from '../reading/warehouse-copy.ts';
import { chooseWarehouse } from '../stores/choose-copy.ts';
import { bytes, plural } from '../term/numbers.ts';
import { progressLine } from '../term/progress.ts';
import { whileWaiting } from '../term/waiting.ts';
import { outputOf } from './target.ts';

/** A folder of Parquet files to write. */
export interface DatasetTarget {
  readonly path: string;
  /** As typed, for messages. */
  readonly shown: string;
  readonly partition: NonNullable<ExportOptions['partition']>;
}

/** The folder that --partition asks for; null without it. */
export function readDataset(args: Args, settings: Settings, io: Io): DatasetTarget | null {
  const partition = args.text('partition');
  if (partition === null) return null;
  const format = args.text('format');
  const isOther = format !== null && format !== 'parquet';
  if (isOther || args.text('fields') !== null) {
    throw new UsageError(
      `--${isOther ? `format ${format}` : 'fields'} cannot be used with --partition: the folder has Parquet files with all fields`,
    );
  }
  const shown = outputOf(args);
  const path = resolve(io.cwd, shown);
  if (shown === '-' || statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`--partition writes a folder, and --output ${shown} is not one`);
  const target = { path, shown, partition: partition === 'day' ? 'day' : 'month' } as const;
  if (chooseWarehouse(args, settings, io) === null) throw partitionNeedsWarehouse(target);
  return target;
}

/** The calls of the API come one after the other, and files by month need all of them at once. */
export function partitionNeedsWarehouse({ partition, shown }: DatasetTarget): UsageError {
  return new UsageError('--partition writes the calls of a warehouse', {
    hints: [
      'calls sync --store duckdb:calls.duckdb fills a warehouse',
      `then calls export --store duckdb:calls.duckdb --partition ${partition} -o ${shown}`,
    ],
  });
}

/** Writes the calls of a warehouse. Files whose calls have not changed since an earlier run stay as they are. */
export async function exportDataset(
  source: WarehouseSource,
  { path, shown, partition, receipt }: DatasetTarget & { readonly receipt: boolean },
  filter: Filter,
  io: Io,
): Promise<void> {
  await source.sayAnswered();
  const { warehouse } = source.copy;
  const selection = source.copy.selection(filter);
  let summary: ExportSummary;
  const { calls: total } = await warehouse.count({ ...selection, signal: io.signal });
  const progress = watchFiles(total, shown, io);
  try {
    const options = { ...selection, partition, receipt, signal: io.signal, onFile: progress.onFile };
    summary = await whileWaiting(`writing ${shown}`, () => warehouse.exportParquet(path, options)).finally(
      progress.close,
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
    clock: performance,
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
    close: () => line.close(),
  };
}

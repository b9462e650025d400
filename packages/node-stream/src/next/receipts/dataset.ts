import { basename, join } from 'node:path';
import { removeReceipt } from '../files/whole-file.ts';
import { type ReceiptFacts, type ReceiptFile, receiptOf, writeReceipt } from './receipt.ts';
import { type RowCount, RowDigest } from './row-digest.ts';

/** The name of a dataset in its folder, from which that of its receipt is made: readers of Parquet pass over such a name. */
const datasetName = '_calls';

/** The path by which the receipt of a folder of files is written and read. */
export const datasetPath = (folder: string): string => join(folder, datasetName);

/** Adds up the files of a dataset: how many rows they have, and a digest over their paths, rows and bytes. */
export function filesDigest(files: readonly ReceiptFile[]): RowCount {
  const digest = new RowDigest();
  for (const { path, rows, bytes } of files)
    digest.add(JSON.stringify([path, rows, bytes.length, bytes.sha256]));
  return { count: files.reduce((sum, { rows }) => sum + rows, 0), digest: digest.result().digest };
}

/** What the receipt of a dataset says besides where its rows come from. */
export interface DatasetContents {
  /** Its files, with what was counted in each. */
  readonly files: readonly ReceiptFile[];
  /** The columns of all files. */
  readonly fields: readonly string[];
  /** When it was written, in milliseconds since 1970. */
  readonly at: number;
}

/** Writes the receipt of a folder of files, into the folder: one for all of them, so that a file that is gone is missed. */
export function writeDatasetReceipt(
  folder: string,
  facts: ReceiptFacts,
  { files, fields, at }: DatasetContents,
): Promise<void> {
  const rows = { format: 'dataset', fields, delimiter: null, ...filesDigest(files) } as const;
  const writtenAt = new Date(at).toISOString();
  const receipt = receiptOf(basename(folder), facts, { rows, bytes: null, files, writtenAt });
  return writeReceipt(datasetPath(folder), receipt);
}

/** Removes the receipt of a folder whose files are about to change. */
export function removeDatasetReceipt(folder: string): Promise<void> {
  return removeReceipt(datasetPath(folder));
}

import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSmallFile } from '@call-attribution/core/settings';
import { day } from '@call-attribution/core/time';
import { csvLine } from '@call-attribution/node-stream/encoders';
import { makeFolder } from '@call-attribution/node-stream/files';
import * as z from 'zod';
import { ToolError } from '../text/failures.ts';
import type { Table } from './table.ts';
import type { ToolContext } from './tool.ts';

/**
 * The argument of the tools whose rows can go into a file. Servers without a folder for files do
 * not list it.
 */
export const toFileShape = { to_file: z.boolean().describe('All rows to a CSV file') };

/** Most rows of a file. Whoever needs more runs `calls export`. */
export const rowsOfFile = 10_000;

/** The folder for the rows of a call; null when they are not to go into a file. */
export const folderFor = (
  args: { readonly to_file?: boolean | undefined },
  { exportFolder }: Pick<ToolContext, 'exportFolder'>,
): string | null => (args.to_file === true ? exportFolder : null);

/** The error for rows that are not all of them: nobody could tell their file from a whole one. */
export const rowsMissing = (tool: string, said: readonly string[]): ToolError =>
  new ToolError('rows_missing', {
    what: `${tool} wrote no file`,
    why: `Not all rows could be read. ${said.join(' ')}`,
    next: 'Repeat the call with a shorter period, or with the accounts that can be read.',
    retry: 'Yes, when the API responds again.',
  });

/**
 * Writes rows to a file that the host can open. Returns the sentence that says where it is, and the
 * notes on it.
 */
export async function writeRows(
  tool: string,
  folder: string,
  { columns, rows }: Pick<Table, 'columns' | 'rows'>,
): Promise<{ readonly summary: string; readonly notes: readonly string[] }> {
  await makeFolder(folder, 0o700);
  await removeOld(folder);
  const name = `${tool}-${randomBytes(6).toString('hex')}.csv`;

  // Text from visitors may begin like a formula, and people open these files in spreadsheets.
  const lines = [columns, ...rows].map((cells) => csvLine(cells, { safe: true }));
  const bytes = Buffer.from(lines.join(''));

  // A process that is killed between the two leaves no file that nobody removes.
  const kept = { mode: 0o600, flag: 'wx' };
  await writeFile(join(folder, `.${name}.written`), digestOf(bytes), kept);
  const file = join(folder, name);
  await writeFile(file, bytes, kept);
  return {
    summary: `Wrote ${rows.length} rows as CSV to ${file}.`,
    notes:
      rows.length < rowsOfFile
        ? []
        : [`A file has at most ${rowsOfFile} rows; calls export writes more.`],
  };
}

/** Files of rows are removed so long after they were written. */
const keptFor = 30 * day;

/** The receipt of a file that was written here: its digest. */
const receiptForm = /^\.((?:list|analyze)_calls-[0-9a-f]{12}\.csv)\.written$/;

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Removes the files that were written here long ago and are as they were written, with their
 * receipts: the folder may hold others, and people go on with files. Another server may do the same
 * at the same time.
 */
async function removeOld(folder: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    const name = receiptForm.exec(entry)?.[1];
    if (name === undefined) continue;
    const file = join(folder, name);
    const receipt = join(folder, entry);
    const found = await statsOf(file);
    const { mtimeMs } = found ?? (await statsOf(receipt)) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs <= keptFor) continue;
    if (found?.isFile() && (await isAsWritten(file, receipt))) await rm(file, { force: true });
    await rm(receipt, { force: true });
  }
}

const statsOf = (path: string): Promise<Stats | null> => lstat(path).catch(() => null);

async function isAsWritten(file: string, receipt: string): Promise<boolean> {
  try {
    return readSmallFile(receipt).text === digestOf(await readFile(file));
  } catch {
    // Another server has removed it meanwhile, or it cannot be read.
    return false;
  }
}

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { csvLine } from '@call-attribution/node-stream/encoders';
import { makeFolder } from '@call-attribution/node-stream/files';
import * as z from 'zod';
import { removeUnused } from '../copy/place.ts';
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
  removeUnused(folder);
  const file = join(folder, `${tool}-${randomBytes(6).toString('hex')}.csv`);

  // Text from visitors may begin like a formula, and people open these files in spreadsheets.
  const lines = [columns, ...rows].map((cells) => csvLine(cells, { safe: true }));
  await writeFile(file, lines.join(''), { mode: 0o600, flag: 'wx' });
  return {
    summary: `Wrote ${rows.length} rows as CSV to ${file}.`,
    notes:
      rows.length < rowsOfFile
        ? []
        : [`A file has at most ${rowsOfFile} rows; calls export writes more.`],
  };
}

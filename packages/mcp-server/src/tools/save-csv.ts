import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSmallFile } from '@call-attribution/core/settings';
import { day } from '@call-attribution/core/time';
import { csvLine } from '@call-attribution/node-stream/encoders';
import { makeFolder } from '@call-attribution/node-stream/files';
import * as z from 'zod';
import { parseJson } from '../messages.ts';
import { ToolError } from '../text/failures.ts';
import { readArguments } from './arguments.ts';
import type { Callable } from './call.ts';
import type { Table } from './table.ts';
import { type ToolInfo, tableOutput, toJsonSchema } from './tool.ts';

/** Most rows of a file. Whoever needs more runs `calls export`. */
export const rowsOfFile = 10_000;

/** The tools whose rows can go into a file. */
const ofRows = ['analyze_calls', 'list_calls'] as const;

const input = z.object({
  tool: z.enum(ofRows),
  arguments: z.string().max(8000).optional().describe('Its arguments, as JSON'),
});
const { summary, notes } = tableOutput;
const output = z.object({ summary, notes });

/** The one tool that writes: what another tool has to say goes into a file, all of it. */
export const saveCsvInfo: ToolInfo = {
  name: 'save_csv',
  title: 'Save rows as a CSV file',
  description: `All rows of another tool to a new CSV file on this machine, ${rowsOfFile} at most.`,
  input,
  output,
};

/** Makes it callable. It runs the other `tools` as they are, and writes to `folder`. */
export function saveCsv(tools: readonly Callable[], folder: string): Callable {
  const { name, title, description } = saveCsvInfo;
  return {
    name,
    definition: {
      title,
      description,
      inputSchema: toJsonSchema(input, 'input'),
      outputSchema: toJsonSchema(output, 'output'),
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    input,
    isCustom: false,
    async run(args, run) {
      const { tool: of, arguments: text = '{}' } = args as z.infer<typeof input>;
      const tool = tools.find((each) => each.name === of);
      if (tool === undefined) throw new Error(`There is no tool ${of} to save the rows of.`);
      return tool.run(readArguments(of, tool.input, parseJson(text)), { ...run, folder });
    },
  };
}

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
  said: readonly string[],
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
    notes: [
      ...said,
      ...(rows.length < rowsOfFile
        ? []
        : [`A file has at most ${rowsOfFile} rows; calls export writes more.`]),
    ],
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

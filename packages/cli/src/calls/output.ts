import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { type Output, write } from '../io.ts';

/** How records are written to stdout. */
export type OutputFormat = 'table' | 'json' | 'ndjson' | 'csv';

/** The format that the options select; a table by default. */
export function formatOf(args: Args): OutputFormat {
  const chosen = (['json', 'ndjson', 'csv'] as const).filter((name) => args.flag(name));
  if (chosen.length > 1) throw new UsageError(`--${chosen.join(' and --')} exclude each other; use one`);
  return chosen[0] ?? 'table';
}

/** Writes rows in one of the data formats. */
export async function writeRows(
  output: Output,
  format: Exclude<OutputFormat, 'table'>,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  if (format === 'json') return write(output, `${JSON.stringify(rows, null, 2)}\n`);
  if (format === 'ndjson') return write(output, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const { csvLine } = await import('@call-attribution/node-stream');
  const names = Object.keys(rows[0] ?? {});
  await write(output, csvLine(names) + rows.map((row) => csvLine(names.map((name) => row[name]))).join(''));
}

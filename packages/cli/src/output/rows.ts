import { type Output, write } from '../io.ts';
import type { RowFormat } from './target.ts';

/** Writes rows in one of the data formats. */
export async function writeRows(
  output: Output,
  format: Exclude<RowFormat, 'table'>,
  rows: readonly Readonly<Record<string, unknown>>[],
  names: readonly string[] = Object.keys(rows[0] ?? {}),
): Promise<void> {
  if (format === 'json') return write(output, `${JSON.stringify(rows, null, 2)}\n`);
  if (format === 'ndjson') return write(output, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const { csvLine } = await import('@call-attribution/node-stream/encoders');
  await write(output, csvLine(names) + rows.map((row) => csvLine(names.map((name) => row[name]))).join(''));
}

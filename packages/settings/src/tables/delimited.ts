import type { ParseError } from 'papaparse';
import { type TableRow, tableProblem } from './table.ts';

// Rows of texts between commas, semicolons or tabs.

/** Reads rows that are separated by what separates most of them into equally many cells. */
export async function readDelimited(text: string, called: string): Promise<TableRow[]> {
  const { default: papa } = await import('papaparse');

  const read = (delimiter: string) => {
    const rows: TableRow[] = [];
    const errors: { readonly line: number; readonly error: ParseError }[] = [];
    let line = 1;
    let from = 0;
    papa.parse<string[]>(text, {
      delimiter,
      step({ data, meta, errors: [error] }) {
        if (error !== undefined) errors.push({ line, error });
        const cells = data.map((cell) => cell.trim());
        if (cells.some((cell) => cell !== '')) rows.push({ line, cells });
        line += text.slice(from, meta.cursor).match(/\r\n|\n|\r/g)?.length ?? 0;
        from = meta.cursor;
      },
    });
    return { rows, errors };
  };

  const [best = read(',')] = [',', ';', '\t']
    .map(read)
    .sort((one, other) => alike(other.rows) - alike(one.rows));
  const [wrong] = best.errors;
  if (wrong === undefined) return best.rows;
  throw tableProblem(
    called,
    wrong.line,
    wrong.error.code === 'MissingQuotes'
      ? 'a value in quotes does not end'
      : 'the quotes of a value are not doubled',
    'download the file again: it may be cut',
  );
}

/** How many rows have the most frequent number of cells, of which one alone is no table. */
function alike(rows: readonly TableRow[]): number {
  const widths = new Map<number, number>();
  for (const { cells } of rows)
    if (cells.length > 1) widths.set(cells.length, (widths.get(cells.length) ?? 0) + 1);
  return Math.max(0, ...widths.values());
}

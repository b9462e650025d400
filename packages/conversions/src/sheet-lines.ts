import { csvLine } from '@call-attribution/node-stream/encoders';
import type { ConversionRules } from './conversion.ts';
import type { SheetColumn, SheetLayout } from './sheet-format.ts';

type Cells = readonly (string | null)[];

/** One line of a sheet with its line end. In a sheet with tabs, which has no quotes, tabs and line breaks become spaces. */
export function sheetLine(cells: Cells, delimiter: SheetLayout['delimiter']): string {
  if (delimiter === ',') return csvLine(cells);
  return `${cells.map((cell) => (cell ?? '').replace(/[\t\r\n]+/g, ' ')).join('\t')}\r\n`;
}

/** The lines above the rows: the headings, and what some tools want before or after them. */
export function headOf<T>({ preamble, columns }: SheetLayout<T>, rules: ConversionRules): Cells[] {
  const titles = columns(rules).map(({ title }) => title);
  const { before, after } = preamble?.(rules) ?? {};
  const filled = (cells: readonly string[] | undefined): Cells[] =>
    cells ? [titles.map((_, at) => cells[at] || null)] : [];
  return [...filled(before), titles, ...filled(after)];
}

/** What the tool recognises a repeated row by; null when it does not. */
export function keyOf(columns: readonly Pick<SheetColumn, 'isKey'>[], cells: Cells): string | null {
  const key = cells.filter((_, at) => columns[at]?.isKey);
  return key.length > 0 ? key.join('\u0000') : null;
}

/** Reads a sheet back into lines of cells. */
export function readSheet(
  text: string,
  delimiter: SheetLayout['delimiter'],
): { readonly lines: string[][]; readonly isQuoteOpen: boolean } {
  if (delimiter === '\t') {
    const lines = text.split(/\r?\n/).filter((line) => line !== '');
    return { lines: lines.map((line) => line.split('\t')), isQuoteOpen: false };
  }
  const lines: string[][] = [];
  let cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (character === '"' && cell === '') quoted = true;
    else if (character === ',') {
      cells.push(cell);
      cell = '';
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && text[at + 1] === '\n') at++;
      lines.push([...cells, cell]);
      cells = [];
      cell = '';
    } else cell += character;
  }
  if (cell !== '' || cells.length > 0) lines.push([...cells, cell]);
  return { lines, isQuoteOpen: quoted };
}

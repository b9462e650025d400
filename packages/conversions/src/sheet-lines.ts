import { csvLine } from '@call-attribution/node-stream/encoders';
import type { ConversionRules } from './conversion.ts';
import { toE164 } from './phone.ts';
import type { SheetFault } from './reasons.ts';
import type { SheetColumn, SheetLayout, SheetRow } from './sheet-format.ts';

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

/** Makes the rows of a sheet, and checks each. */
export function rowMaker<T>(
  columnsOf: SheetLayout<T>['columns'],
  rules: ConversionRules,
): (item: T) => Pick<SheetRow, 'cells' | 'faults'> {
  const columns = columnsOf(rules);
  return (item) => {
    const cells = columns.map((column) => column.cell(item, rules));
    return { cells, faults: rowFaults(cells, columns) };
  };
}

/** What the tool would refuse in one row. */
function rowFaults(cells: readonly (string | null)[], columns: readonly SheetColumn<never>[]): SheetFault[] {
  return columns.flatMap(({ title: column, pattern, example, isOptional, holdsPhone }, at): SheetFault[] => {
    const cell = cells[at] ?? '';
    // The cell itself is not in the problem: it may be what should not have been there.
    if (!holdsPhone && looksPersonal(cell)) return [{ code: 'personal_data', column }];
    const isBad = cell === '' ? !isOptional : !pattern.test(cell);
    return isBad ? [{ code: 'wrong_form', column, example }] : [];
  });
}

const email = /[\p{L}\p{N}._%+'-]@[\p{L}\p{N}-]+\.[\p{L}\p{N}]/u;

/** An email address, also one that a form has encoded, or a phone number as tools take it. */
function looksPersonal(cell: string): boolean {
  // Wide letters and signs become plain ones; two layers of encoding are what redirects make.
  const plain = cell
    .normalize('NFKC')
    .replace(/%(?:25)*40/g, '@')
    .replace(/%(?:25)*2e/gi, '.');
  return email.test(plain) || toE164(cell) === cell;
}

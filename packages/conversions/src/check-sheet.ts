import type { ConversionRules } from './conversion.ts';
import { toE164 } from './phone.ts';
import type { SheetFault, SheetProblem } from './reasons.ts';
import type { SheetColumn, SheetLayout, SheetRow } from './sheet-format.ts';
import { headOf, keyOf, readSheet, sheetLine } from './sheet-lines.ts';

/**
 * Everything in a finished sheet that the tool would refuse, in the order of the lines; empty when the sheet is good.
 * The lines above the rows must be exact, each cell must have the form of its column, no cell may look like an email
 * address or, except where the tool wants one, a phone number, and no row may be repeated.
 *
 * @example
 * for (const problem of checkSheet(text, sheetFormats.sa360, rules))
 *   console.log(`line ${problem.line}: ${sheetProblemText(problem)}`);
 */
export function checkSheet<T>(text: string, format: SheetLayout<T>, rules: ConversionRules): SheetProblem[] {
  const columns = format.columns(rules);
  const head = headOf(format, rules).map((cells) => sheetLine(cells, format.delimiter));
  const { lines, isQuoteOpen } = readSheet(text, format.delimiter);
  const problems: SheetProblem[] = isQuoteOpen ? [{ line: lines.length, code: 'open_quote' }] : [];
  for (const [at, expected] of head.entries()) {
    const found = lines[at]?.map((cell) => cell || null) ?? [];
    if (sheetLine(found, format.delimiter) !== expected)
      problems.push({ line: at + 1, code: 'wrong_head', expected: expected.trim() });
  }
  const seen = new Map<string, number>();
  for (const [at, cells] of lines.entries()) {
    if (at < head.length) continue;
    const line = at + 1;
    problems.push(...rowFaults(cells, columns).map((fault) => ({ line, ...fault })));
    if (cells.length !== columns.length) continue;
    const key = keyOf(columns, cells);
    if (key === null) continue;
    const firstLine = seen.get(key);
    if (firstLine === undefined) seen.set(key, line);
    else problems.push({ line, code: 'repeated_row', firstLine });
  }
  return problems;
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
  if (cells.length !== columns.length)
    return [{ code: 'wrong_cell_count', found: cells.length, expected: columns.length }];
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

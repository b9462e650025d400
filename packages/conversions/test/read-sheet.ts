import type { ConversionRules, SheetLayout } from '@call-attribution/conversions';

/** The lines of a sheet as cells. */
export function readSheet(text: string, delimiter: SheetLayout['delimiter']): string[][] {
  if (delimiter === '\t') return text.split(/\r\n(?=.)/).map((line) => line.trimEnd().split('\t'));
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g,
  )) {
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') lines.push([]);
  }

  return lines.slice(0, -1);
}

/**
 * The cells of a finished sheet that do not have the form of their column, or look like an email
 * address.
 */
export function wrongCells<T>(
  text: string,
  format: SheetLayout<T>,
  rules: ConversionRules,
): string[] {
  const columns = format.columns(rules);
  const lines = readSheet(text, format.delimiter);
  const head = lines.findIndex((line) => line.join() === columns.map(({ title }) => title).join());
  if (head < 0) return ['there are no headings'];
  const rows = lines.slice(head + (format.preamble?.(rules).after ? 2 : 1));
  return rows.flatMap((cells, row) => {
    if (cells.length !== columns.length) return [`row ${row} has ${cells.length} cells`];
    return columns.flatMap(({ title, pattern, isOptional }, at) => {
      const cell = cells[at] ?? '';
      const isRight =
        cell === '' ? isOptional === true : pattern.test(cell) && !/\w@\w+\.\w/.test(cell);
      return isRight ? [] : [`${title} is ${cell}`];
    });
  });
}

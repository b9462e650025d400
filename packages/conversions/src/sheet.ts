import type { SheetProblem } from './format.ts';

/** One line of a sheet, quoted where RFC 4180 wants it. */
export function sheetLine(cells: readonly string[], delimiter: ',' | '\t'): string {
  // Tab files know no quotes: a tab or line break inside a cell becomes a space.
  if (delimiter === '\t') return `${cells.map((cell) => cell.replace(/[\t\r\n]+/g, ' ')).join('\t')}\r\n`;
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

/** Reads a sheet back into lines of cells; a quote that never ends is a problem. */
export function readSheet(
  text: string,
  delimiter: ',' | '\t',
): { lines: string[][]; problems: SheetProblem[] } {
  if (delimiter === '\t') {
    return {
      lines: text
        .split(/\r?\n/)
        .filter((line) => line !== '')
        .map((line) => line.split('\t')),
      problems: [],
    };
  }
  const lines: string[][] = [];
  let cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (char === '"' && cell === '') quoted = true;
    else if (char === ',') {
      cells.push(cell);
      cell = '';
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[at + 1] === '\n') at++;
      lines.push([...cells, cell]);
      cells = [];
      cell = '';
    } else cell += char;
  }
  if (cell !== '' || cells.length > 0) lines.push([...cells, cell]);
  return {
    lines,
    problems: quoted ? [{ line: lines.length, message: 'a quote is opened and never closed' }] : [],
  };
}

/** What a column of a sheet may hold. */
export interface ColumnRule {
  readonly title: string;
  readonly pattern: RegExp;
  /** How a good value looks. */
  readonly example: string;
  readonly optional?: boolean;
}

/** Value columns that several tools share. */
export const amount = { pattern: /^\d+(\.\d{1,6})?$/, example: '25.00', optional: true } as const;
export const currencyCode = { pattern: /^[A-Z]{3}$/, example: 'USD', optional: true } as const;
export const conversionName = { pattern: /^\S.{0,99}$/u, example: 'Phone lead' } as const;

/**
 * Checks a finished sheet: the given first lines word for word, the headings, each cell by its column's rule, nothing
 * that looks like a mail address or, where numbers are not wanted, a phone number, and no row twice.
 */
export function validateSheet(
  text: string,
  rules: {
    readonly delimiter: ',' | '\t';
    readonly head: readonly (readonly string[])[];
    readonly columns: readonly ColumnRule[];
    readonly keyColumns: readonly number[];
    readonly phoneColumns?: readonly number[];
  },
): SheetProblem[] {
  const { lines, problems } = readSheet(text, rules.delimiter);
  for (const [at, expected] of rules.head.entries()) {
    if (lines[at]?.join('\u0000') !== expected.join('\u0000')) {
      problems.push({
        line: at + 1,
        message: `expected the line ${sheetLine(expected, rules.delimiter).trim()}`,
      });
    }
  }
  const seen = new Map<string, number>();
  for (const [at, cells] of lines.entries()) {
    if (at < rules.head.length) continue;
    const line = at + 1;
    if (cells.length !== rules.columns.length) {
      problems.push({ line, message: `${cells.length} cells instead of ${rules.columns.length}` });
      continue;
    }
    for (const [column, rule] of rules.columns.entries()) {
      const cell = cells[column] ?? '';
      const personal = !rules.phoneColumns?.includes(column) && looksPersonal(cell);
      // The cell itself is not shown: it may be what should not have been there.
      if (personal) problems.push({ line, message: `${rule.title} holds personal data` });
      else if (cell === '' ? !rule.optional : !rule.pattern.test(cell)) {
        problems.push({ line, message: `${rule.title} must look like ${rule.example}` });
      }
    }
    const key = rules.keyColumns.map((column) => cells[column]).join('\u0000');
    const before = seen.get(key);
    if (before !== undefined && rules.keyColumns.length > 0)
      problems.push({ line, message: `repeats line ${before}` });
    seen.set(key, line);
  }
  return problems;
}

function looksPersonal(cell: string): boolean {
  return /[^\s@]+@[^\s@]+\.[a-z]{2,}/i.test(cell) || /^\+[1-9]\d{9,14}$/.test(cell);
}

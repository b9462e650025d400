import type { Style } from './style.ts';
import { fit, pad, printable, textWidth } from './width.ts';

/** One column of a table. */
export interface Column {
  readonly title: string;
  /** What it is called where it does not stand below its head. Default: the title. */
  readonly name?: string;
  /** Default: left. */
  readonly align?: 'left' | 'right';
  /** The least width; when it does not fit, columns are dropped. Default 6. */
  readonly min?: number;
  /** Columns with a higher rank are dropped first. Default: the last ones. */
  readonly rank?: number;
}

/** A finished table, and the names of the columns that did not fit. */
export interface RenderedTable {
  readonly lines: readonly string[];
  readonly dropped: readonly string[];
}

const gap = 2;

/** Below this width, rows of more columns than fit are shown one value below the other. */
const narrow = 60;

/** A table, or, where it is too narrow for all columns, the rows one below the other, each with a line for each value. */
export function fitTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: { width: number | null; style: Style },
): RenderedTable {
  const table = renderTable(columns, rows, options);
  const { width, style } = options;
  if (width === null || width >= narrow || table.dropped.length === 0) return table;
  const names = Math.min(18, Math.max(...columns.map((column) => textWidth(nameOf(column)))));
  const lines = rows.flatMap((cells, row) => [
    ...(row > 0 ? [''] : []),
    ...columns.flatMap((column, at) => {
      const cell = printable(cells[at] ?? '').trim();
      if (cell === '') return [];
      return [
        `${style.bold(pad(fit(nameOf(column), names), names))}${' '.repeat(gap)}${fit(cell, width - names - gap)}`,
      ];
    }),
  ]);
  return { lines, dropped: [] };
}

/** Lays out rows in columns. To fit `width`, the widest columns shrink first; then columns are dropped, by their rank. */
export function renderTable(
  given: readonly Column[],
  givenRows: readonly (readonly string[])[],
  options: { width: number | null; style: Style },
): RenderedTable {
  const kept = keptColumns(given, givenRows, options.width);
  const columns = given.filter((_, at) => kept.has(at));
  const rows = givenRows.map((row) => given.flatMap((_, at) => (kept.has(at) ? [row[at] ?? ''] : [])));
  const cells = rows.map((row) => columns.map((_, at) => printable(row[at] ?? '')));
  const natural = naturalWidths(columns, cells);
  const widths = options.width === null ? natural : shrink(columns, natural, options.width);
  const shown = columns.slice(0, widths.length);
  const line = (row: readonly string[], paint: (text: string) => string = (text) => text): string =>
    shown
      .map((column, at) => {
        const width = widths[at] ?? 0;
        const text = fit(row[at] ?? '', width);
        const last = at === shown.length - 1;
        if (column.align === 'right') return paint(pad(text, width, 'right'));
        return last ? paint(text) : paint(text) + ' '.repeat(width - textWidth(text));
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return {
    lines: [
      line(
        columns.map((column) => column.title),
        options.style.bold,
      ),
      ...cells.map((row) => line(row)),
    ],
    dropped: given.flatMap((column, at) => (kept.has(at) ? [] : [nameOf(column)])),
  };
}

function naturalWidths(columns: readonly Column[], cells: readonly (readonly string[])[]): number[] {
  return columns.map((column, at) =>
    cells.reduce((width, row) => Math.max(width, textWidth(row[at] ?? '')), textWidth(column.title)),
  );
}

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, cells) => sum + cells, 0) + gap * Math.max(0, widths.length - 1);

const leastWidths = (columns: readonly Column[], natural: readonly number[]): number[] =>
  natural.map((cells, at) => Math.min(cells, columns[at]?.min ?? 6));

/** The columns for which there is space, at least one: those of the highest rank are left out until the others fit. */
function keptColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | null,
): ReadonlySet<number> {
  const kept = new Set(columns.keys());
  if (width === null) return kept;
  const cells = rows.map((row) => row.map(printable));
  const least = leastWidths(columns, naturalWidths(columns, cells));
  const byRank = [...columns.keys()].sort((a, b) => rankOf(columns, b) - rankOf(columns, a));
  for (const at of byRank) {
    if (kept.size === 1 || total([...kept].map((at) => least[at] ?? 0)) <= width) break;
    kept.delete(at);
  }
  return kept;
}

const nameOf = ({ name, title }: Column): string => name ?? title;

const rankOf = (columns: readonly Column[], at: number): number => columns[at]?.rank ?? at;

/** The widths of columns that fit when each has its least width. */
function shrink(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const least = leastWidths(columns, natural);
  const widths = [...natural];
  while (total(widths) > width) {
    let widest = -1;
    for (const [at, cells] of widths.entries()) {
      if (cells > (least[at] ?? 0) && cells > (widths[widest] ?? 0)) widest = at;
    }
    if (widest < 0) return [width];
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

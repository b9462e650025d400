import type { Style } from './style.ts';
import { fit, pad, printable, textWidth } from './width.ts';

/** One column of a table. */
export interface Column {
  readonly title: string;
  /** Default: left. */
  readonly align?: 'left' | 'right';
  /** The least width; when it does not fit, the last columns are dropped. Default 6. */
  readonly min?: number;
}

/** A finished table, and the titles of the columns that did not fit. */
export interface RenderedTable {
  readonly lines: readonly string[];
  readonly dropped: readonly string[];
}

const gap = 2;

/** Lays out rows in columns. To fit `width`, the widest columns shrink first; then the last ones are dropped. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: { width: number | null; style: Style },
): RenderedTable {
  const cells = rows.map((row) => columns.map((_, at) => printable(row[at] ?? '')));
  const natural = columns.map((column, at) =>
    Math.max(textWidth(column.title), ...cells.map((row) => textWidth(row[at] ?? ''))),
  );
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
    dropped: columns.slice(widths.length).map((column) => column.title),
  };
}

function shrink(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  let count = natural.length;
  const least = natural.map((cells, at) => Math.min(cells, columns[at]?.min ?? 6));
  const total = (widths: readonly number[]): number =>
    widths.reduce((sum, cells) => sum + cells, 0) + gap * Math.max(0, widths.length - 1);
  while (count > 1 && total(least.slice(0, count)) > width) count--;
  const widths = natural.slice(0, count);
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

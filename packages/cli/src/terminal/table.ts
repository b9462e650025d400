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

/** Lays out rows in columns. To fit `width`, columns are dropped by their rank, then the widest ones shrink. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, style }: { width: number | null; style: Style },
): RenderedTable {
  const cells = rows.map((row) => columns.map((_, at) => printable(row[at] ?? '')));
  const natural = columns.map(({ title }, at) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), textWidth(title)),
  );
  const least = natural.map((own, at) => Math.min(own, columns[at]?.min ?? 6));
  const kept = keptColumns(columns, least, width);
  const widths = shrunk(kept, natural, least, width);
  const last = kept.at(-1);
  const line = (row: readonly string[], paint: (text: string) => string = (text) => text): string =>
    kept
      .map((at) => {
        const own = widths[at] ?? 0;
        const text = fit(row[at] ?? '', own);
        if (columns[at]?.align === 'right') return paint(pad(text, own, 'right'));
        return at === last ? paint(text) : paint(text) + ' '.repeat(own - textWidth(text));
      })
      .join(' '.repeat(gap))
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  return {
    lines: [line(titles, style.bold), ...cells.map((row) => line(row))],
    dropped: columns.filter((_, at) => !kept.includes(at)).map(nameOf),
  };
}

const nameOf = ({ name, title }: Column): string => name ?? title;

const total = (kept: readonly number[], widths: readonly number[]): number =>
  kept.reduce((sum, at) => sum + (widths[at] ?? 0), gap * Math.max(0, kept.length - 1));

/** The places of the columns for which there is space, at least one: those of the highest rank are left out until the others fit. */
function keptColumns(
  columns: readonly Column[],
  least: readonly number[],
  width: number | null,
): readonly number[] {
  const rankOf = (at: number): number => columns[at]?.rank ?? at;
  const byRank = [...columns.keys()].sort((a, b) => rankOf(a) - rankOf(b));
  while (width !== null && byRank.length > 1 && total(byRank, least) > width) byRank.pop();
  return byRank.sort((a, b) => a - b);
}

/** The widths of columns: their own, or less until the table fits. */
function shrunk(
  kept: readonly number[],
  natural: readonly number[],
  least: readonly number[],
  width: number | null,
): readonly number[] {
  const widths = [...natural];
  while (width !== null && total(kept, widths) > width) {
    const [widest] = kept
      .filter((at) => (widths[at] ?? 0) > (least[at] ?? 0))
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined) return kept.length === 1 ? widths.map(() => width) : widths;
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

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

const gap = '  ';

/**
 * Lays out rows in columns, and names those that did not fit: to fit `width`, columns are dropped
 * by their rank, then the widest ones shrink.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, style }: { readonly width: number | null; readonly style: Style },
): { readonly lines: readonly string[]; readonly dropped: readonly string[] } {
  const cells = rows.map((row) => columns.map((_, at) => printable(row[at] ?? '')));
  const widths = columns.map(({ title }, at) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), textWidth(title)),
  );
  const least = widths.map((own, at) => Math.min(own, columns[at]?.min ?? 6));
  const most = width ?? Number.POSITIVE_INFINITY;
  const kept = keptColumns(columns, least, most);
  while (total(kept, widths) > most) {
    const [widest] = kept
      .filter((at) => (widths[at] ?? 0) > (kept.length === 1 ? most : (least[at] ?? 0)))
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 1) - 1;
  }

  const line = (row: readonly string[], paint: (text: string) => string): string =>
    kept
      .map((at) => {
        const own = widths[at] ?? 0;
        const text = fit(row[at] ?? '', own);
        if (columns[at]?.align === 'right') return paint(pad(text, own, 'right'));
        return paint(text) + ' '.repeat(own - textWidth(text));
      })
      .join(gap)
      .trimEnd();

  const titles = columns.map(({ title }) => title);
  return {
    lines: [line(titles, style.bold), ...cells.map((row) => line(row, (text) => text))],
    dropped: columns.filter((_, at) => !kept.includes(at)).map(({ name, title }) => name ?? title),
  };
}

const total = (kept: readonly number[], widths: readonly number[]): number =>
  kept.reduce((sum, at) => sum + (widths[at] ?? 0), gap.length * Math.max(0, kept.length - 1));

/**
 * The places of the columns for which there is space, at least one: those of the highest rank are
 * left out until the others fit.
 */
function keptColumns(
  columns: readonly Column[],
  least: readonly number[],
  most: number,
): readonly number[] {
  const rankOf = (at: number): number => columns[at]?.rank ?? at;
  const byRank = [...columns.keys()].sort((a, b) => rankOf(a) - rankOf(b));
  while (byRank.length > 1 && total(byRank, least) > most) byRank.pop();
  return byRank.sort((a, b) => a - b);
}

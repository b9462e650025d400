import { bar, sparkline, squeeze } from '../terminal/chart.ts';
import { count } from '../terminal/numbers.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, fitTable } from '../terminal/table.ts';
import { textWidth } from '../terminal/width.ts';
import type { Report, ReportColumn, ReportRow } from './view.ts';

/** The report as lines for a terminal: figures, and for each row a bar or its development along the group that goes across. */
export function reportLines(report: Report, options: { width: number | null; style: Style }): string[] {
  const { rows, total, hidden } = report;
  const columns = report.columns.map(columnOf);
  const width = options.width ?? 100;
  const most = Math.max(...rows.map(({ value }) => value), 0);
  // Labels and figures come first. The picture gets the rest, up to a width that the eye can follow.
  const lines = [columns.map(({ title }) => title), ...rows.map(({ cells }) => cells), total.cells];
  const taken = columns.reduce(
    (sum, _, at) => sum + Math.max(...lines.map((row) => textWidth(row[at] ?? ''))) + 2,
    0,
  );
  const picture = Math.max(10, Math.min(60, width - taken));
  const table = fitTable(
    [...columns, { title: pictureTitle(report), name: '', min: 10, rank: Number.POSITIVE_INFINITY }],
    [...rows.map((row) => [...row.cells, drawing(report, row, most, picture)]), [...total.cells, '']],
    { width: options.width, style: options.style },
  );
  const dropped = table.dropped.filter((name) => name !== '').join(', ');
  const missing = dropped === '' ? [] : [`Not enough width for ${dropped}; --json has all.`];
  return [...table.lines, ...[...missing, ...hidden].map((line) => options.style.dim(line))];
}

// A part of a figure is another figure: such a column is left out rather than narrowed, first the figures of the period compared with.
function columnOf({ title, kind }: ReportColumn, at: number): Column {
  if (kind === 'group') return { title, min: 24, rank: -1 };
  return {
    title: kind === 'measure' ? title : kind,
    name: title,
    align: 'right',
    min: Number.POSITIVE_INFINITY,
    rank: at + leavesFirst[kind],
  };
}

const leavesFirst = { before: 2_000, change: 1_000, measure: 0 } as const;

function pictureTitle({ across }: Report): string {
  if (across === null) return '';
  if (!across.isTime) return `By ${across.title.toLowerCase()}`;
  return `${across.axis[0] ?? ''}..${across.axis.at(-1) ?? ''}`;
}

function drawing({ across }: Report, { value, series }: ReportRow, most: number, width: number): string {
  if (across === null) return bar(value, most, width);
  if (across.isTime) return sparkline(squeeze(series, width));
  const parts = across.axis
    .map((name, at) => ({ name, calls: series[at] ?? 0 }))
    .filter((part) => part.calls > 0)
    .sort((a, b) => b.calls - a.calls);
  const shown = parts.slice(0, 3).map((part) => `${part.name} ${count(part.calls)}`);
  return [...shown, ...(parts.length > 3 ? [`${parts.length - 3} more`] : [])].join(', ');
}

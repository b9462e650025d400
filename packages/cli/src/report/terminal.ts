import { markInWords } from '@call-attribution/questions/chart';
import type { Style } from '../terminal/style.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import { textWidth } from '../terminal/width.ts';
import type { Report, ReportColumn, ReportRow } from './view.ts';

/**
 * The report as lines for a terminal: figures, and for each row a bar or its development in time.
 */
export function reportLines(
  report: Report,
  options: { width: number | null; style: Style },
): string[] {
  const { rows, total, hidden, across } = report;
  const columns = report.columns.map(columnOf);
  const width = options.width ?? 100;
  const most = Math.max(...rows.map(({ value }) => value), 0);

  // Labels and figures come first. The picture gets the rest, up to a width that the eye can
  // follow.
  const lines = [columns.map(({ title }) => title), ...rows.map(({ cells }) => cells), total.cells];
  const taken = columns.reduce(
    (sum, _, at) => sum + Math.max(...lines.map((row) => textWidth(row[at] ?? ''))) + 2,
    0,
  );
  const picture = Math.max(10, Math.min(60, width - taken));
  const grid = across !== null && report.isGrid ? gridOf(rows, across.axis, picture) : null;
  const over = across === null ? '' : `${across.axis[0] ?? ''}..${across.axis.at(-1) ?? ''}`;

  const drawn = ({ value, series }: ReportRow) => {
    if (grid !== null) return grid.lineOf(series);
    return across === null ? bar(value, most, picture) : sparkline(series, picture);
  };

  const table = renderTable(
    [...columns, { title: grid?.head ?? over, name: '', min: 10, rank: Number.POSITIVE_INFINITY }],
    [...rows.map((row) => [...row.cells, drawn(row)]), [...total.cells, '']],
    { width: options.width, style: options.style },
  );
  const dropped = table.dropped.filter((name) => name !== '').join(', ');
  const missing = dropped === '' ? [] : [`Not enough width for ${dropped}; --json has all.`];
  const below = [...missing, ...hidden, ...report.annotations.map(markInWords)];
  return [...table.lines, ...below.map((line) => options.style.dim(line))];
}

// A part of a figure is another figure: such a column is left out rather than narrowed, first the
// figures of the period compared with.
function columnOf({ title, kind }: ReportColumn, at: number): Column {
  if (kind === 'group') return { title, min: 24, rank: -1 };
  return {
    title: kind === 'measure' ? title : heads[kind],
    name: title,
    align: 'right',
    min: Number.POSITIVE_INFINITY,
    rank: at + leavesFirst[kind],
  };
}

const leavesFirst = {
  change_per_day: 4_000,
  before: 3_000,
  change_percent: 2_000,
  change: 1_000,
  measure: 0,
} as const;
const heads = {
  before: 'before',
  change: 'change',
  change_percent: 'in %',
  change_per_day: 'a day',
} as const;

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/**
 * A horizontal bar of `value` out of `most`, in eighths of a cell. A value above 0 is always
 * visible.
 */
function bar(value: number, most: number, width: number): string {
  if (value <= 0 || most <= 0) return '';
  const cells = Math.max(1, Math.round((value / most) * width * 8));
  return '█'.repeat(Math.floor(cells / 8)) + (eighths[cells % 8] ?? '');
}

const shades = ['░', '▒', '▓', '█'];

/**
 * Cells that are the darker the more calls they stand for, as much in all lines, below the values
 * that go across. 0 is a dot.
 */
function gridOf(rows: readonly ReportRow[], axis: readonly string[], width: number) {
  const most = Math.max(...rows.flatMap(({ series }) => series), 0);
  const cell = Math.max(1, Math.min(4, Math.floor(width / Math.max(1, axis.length))));
  const every = Math.ceil((Math.max(...axis.map((name) => name.length)) + 1) / cell);
  const names = axis.filter((_, at) => at % every === 0);
  const head = names
    .map((name) => name.padEnd(cell * every))
    .join('')
    .trimEnd();

  const lineOf = (series: readonly number[]): string =>
    series
      .map((value) =>
        value === 0
          ? '·'.padEnd(cell)
          : (shades[Math.ceil((value / most) * shades.length) - 1] ?? '█').repeat(cell),
      )
      .join('')
      .trimEnd();
  return { head, lineOf };
}

/**
 * A line of bars in at most `width` places: means of equally long runs. 0 is a dot, so that a day
 * without calls is visible as one.
 */
function sparkline(values: readonly number[], width: number): string {
  const run = Math.max(1, Math.ceil(values.length / width));
  const means = Array.from({ length: Math.ceil(values.length / run) }, (_, at) => {
    const part = values.slice(at * run, (at + 1) * run);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
  const most = Math.max(...means, 0);
  return means
    .map((value) =>
      value <= 0 ? '·' : (levels[Math.ceil((value / most) * levels.length) - 1] ?? '█'),
    )
    .join('');
}

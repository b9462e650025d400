import { pad, textWidth } from './width.ts';

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A horizontal bar of `value` out of `most`, in eighths of a cell. A value above 0 is always visible. */
export function bar(value: number, most: number, width: number): string {
  if (value <= 0 || most <= 0) return '';
  const cells = Math.max(1, Math.round((value / most) * width * 8));
  return '█'.repeat(Math.floor(cells / 8)) + (eighths[cells % 8] ?? '');
}

/** A line of bars, one character for each value. 0 is a dot, so that a day without calls is visible as one. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 0);
  return values
    .map((value) => (value <= 0 ? '·' : (levels[Math.ceil((value / most) * levels.length) - 1] ?? '█')))
    .join('');
}

/** Many values in at most `width` places: means of equally long runs, so that none looks higher than it is. */
export function squeeze(values: readonly number[], width: number): number[] {
  const run = Math.max(1, Math.ceil(values.length / width));
  return Array.from({ length: Math.ceil(values.length / run) }, (_, at) => {
    const part = values.slice(at * run, (at + 1) * run);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** A chart of vertical bars, one for each value, with the largest value on the left and the first and last label below. */
export function columnChart(
  entries: readonly { readonly label: string; readonly value: number }[],
  options: { readonly width: number; readonly height: number; readonly figure: (value: number) => string },
): string[] {
  const { height, figure } = options;
  const most = Math.max(...entries.map((entry) => entry.value), 0);
  const edge = Math.max(textWidth(figure(most)), 1);
  const values = squeeze(
    entries.map((entry) => entry.value),
    Math.max(10, options.width - edge - 2),
  );
  const highest = Math.max(...values, 0);
  const rows = Array.from({ length: height }, (_, at) => {
    const below = height - 1 - at;
    const cells = values.map((value) => {
      const size = highest === 0 ? 0 : (value / highest) * height - below;
      if (size >= 1) return '█';
      // A value above 0 is always visible.
      const least = below === 0 && value > 0 ? 1 : 0;
      return size <= 0 && least === 0 ? ' ' : (levels[Math.max(least, Math.round(size * 8)) - 1] ?? ' ');
    });
    const mark = at === 0 ? figure(highest) : '';
    return `${pad(mark, edge, 'right')} ┤${cells.join('')}`.trimEnd();
  });
  const [first, last] = [entries[0]?.label ?? '', entries.at(-1)?.label ?? ''];
  const space = Math.max(1, values.length - textWidth(first) - textWidth(last));
  return [
    ...rows,
    `${pad('0', edge, 'right')} ┼${'─'.repeat(values.length)}`,
    `${' '.repeat(edge + 2)}${first}${' '.repeat(space)}${last}`.trimEnd(),
  ];
}

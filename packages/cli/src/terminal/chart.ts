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

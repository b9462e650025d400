import { fit, pad, printable, textWidth } from './width.ts';

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A horizontal bar of `value` out of `most`, in eighths of a cell. A value above nothing never looks like nothing. */
export function bar(value: number, most: number, width: number): string {
  if (value <= 0 || most <= 0) return '';
  const cells = Math.max(1, Math.round((value / most) * width * 8));
  return '█'.repeat(Math.floor(cells / 8)) + (eighths[cells % 8] ?? '');
}

/** A line of bars, one character a value. Nothing shows as a dot, so that a day without calls is seen as one. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 0);
  return values
    .map((value) => (value <= 0 ? '·' : (levels[Math.ceil((value / most) * levels.length) - 1] ?? '█')))
    .join('');
}

/** A bar chart: label, bar, figure. */
export function barChart(
  entries: readonly { readonly label: string; readonly value: number; readonly figure: string }[],
  width: number,
): string[] {
  const labels = entries.map((entry) => printable(entry.label));
  const labelWidth = Math.min(Math.max(...labels.map(textWidth), 1), Math.max(8, Math.floor(width / 3)));
  const figureWidth = Math.max(...entries.map((entry) => textWidth(entry.figure)), 1);
  const room = Math.max(4, width - labelWidth - figureWidth - 4);
  const most = Math.max(...entries.map((entry) => entry.value), 0);
  return entries.map((entry, at) => {
    const label = pad(fit(labels[at] ?? '', labelWidth), labelWidth);
    return `${label}  ${pad(bar(entry.value, most, room), room)}  ${pad(entry.figure, figureWidth, 'right')}`;
  });
}

/** Many values squeezed into at most `width` by adding up neighbours, so that a year fits a line. */
export function squeeze(values: readonly number[], width: number): number[] {
  if (values.length <= width) return [...values];
  const sums = Array.from({ length: width }, () => 0);
  for (const [at, value] of values.entries()) {
    const slot = Math.floor((at * width) / values.length);
    sums[slot] = (sums[slot] ?? 0) + value;
  }
  return sums;
}

import { type ShownAnswer, shown, type Value } from './answer.ts';
import { svg } from './dom.ts';

const width = 640;
const height = 220;
const margin = { left: 52, right: 12, top: 12, bottom: 26 };
const mostBars = 15;
const mostLines = 5;

/** Draws a measure: a line for each series over time, otherwise a bar for each group. */
export function drawChart(answer: ShownAnswer, rows: ShownAnswer['rows'], column: number): SVGElement | null {
  const numbers = rows.filter((row) => typeof row[column] === 'number');
  if (numbers.length === 0 || answer.groups === 0) return null;
  return answer.isTime ? lines(answer, numbers, column) : bars(answer, numbers, column);
}

const numberAt = (row: readonly Value[], column: number): number => Number(row[column] ?? 0);

function lines(answer: ShownAnswer, rows: ShownAnswer['rows'], column: number): SVGElement {
  const times = [...new Set(rows.map((row) => String(row[0])))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const series = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const name = row
      .slice(1, answer.groups)
      .map((value) => shown(value, ''))
      .join(' · ');
    const points = series.get(name) ?? new Map<string, number>();
    series.set(name, points.set(String(row[0]), numberAt(row, column)));
  }
  const values = rows.map((row) => numberAt(row, column));
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const x = (time: string): number =>
    margin.left +
    ((width - margin.left - margin.right) * times.indexOf(time)) / Math.max(1, times.length - 1);
  const y = (value: number): number =>
    height - margin.bottom - ((height - margin.top - margin.bottom) * (value - low)) / (high - low || 1);
  const chart = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'line' });
  for (const value of [low, (low + high) / 2, high]) {
    chart.append(
      svg('line', { x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value), class: 'grid' }),
    );
    chart.append(
      svg(
        'text',
        { x: margin.left - 6, y: y(value) + 4, 'text-anchor': 'end' },
        shown(value, answer.columns[column] ?? ''),
      ),
    );
  }
  const every = Math.ceil(times.length / 6);
  for (const [i, time] of times.entries()) {
    if (i % every === 0)
      chart.append(svg('text', { x: x(time), y: height - 8, 'text-anchor': 'middle' }, time));
  }
  for (const [i, [name, points]] of [...series].slice(0, mostLines).entries()) {
    const path = [...points]
      .sort(([a], [b]) => times.indexOf(a) - times.indexOf(b))
      .map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`);
    const line = svg('polyline', { points: path.join(' '), class: `series s${i}` });
    line.append(svg('title', {}, name === '' ? (answer.columns[column] ?? '') : name));
    chart.append(line);
    if (points.size < 40)
      for (const [time, value] of points)
        chart.append(svg('circle', { cx: x(time), cy: y(value), r: 2.5, class: `dot s${i}` }));
    if (name !== '')
      chart.append(
        svg(
          'text',
          { x: width - margin.right, y: margin.top + 14 * i + 8, 'text-anchor': 'end', class: `name s${i}` },
          name,
        ),
      );
  }
  return chart;
}

function bars(answer: ShownAnswer, rows: ShownAnswer['rows'], column: number): SVGElement {
  const drawn = rows.slice(0, mostBars);
  const most = Math.max(...drawn.map((row) => Math.abs(numberAt(row, column)))) || 1;
  const step = 24;
  const left = 200;
  const chart = svg('svg', {
    viewBox: `0 0 ${width} ${drawn.length * step + 4}`,
    role: 'img',
    class: 'bars',
  });
  for (const [i, row] of drawn.entries()) {
    const name = row
      .slice(0, answer.groups)
      .map((value) => shown(value, ''))
      .join(' · ');
    const value = numberAt(row, column);
    const length = ((width - left - 80) * Math.abs(value)) / most;
    const label = svg(
      'text',
      { x: left - 8, y: i * step + 16, 'text-anchor': 'end' },
      name.length > 28 ? `${name.slice(0, 27)}…` : name,
    );
    label.append(svg('title', {}, name));
    chart.append(
      label,
      svg('rect', {
        x: left,
        y: i * step + 4,
        width: Math.max(1, length),
        height: step - 8,
        rx: 2,
        class: 'bar',
      }),
    );
    chart.append(
      svg('text', { x: left + length + 6, y: i * step + 16 }, shown(value, answer.columns[column] ?? '')),
    );
  }
  return chart;
}

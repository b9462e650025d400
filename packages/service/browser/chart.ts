import { isWeekend } from './days.ts';
import { el, grouped, svg } from './dom.ts';

/** Calls of one day. */
export interface DayCount {
  readonly day: string;
  readonly calls: number;
}

const height = 190;
const bottom = 24;
const left = 40;

/** Draws the calls per day as bars, with the same numbers in a table. */
export function drawChart(place: HTMLElement, days: readonly DayCount[]): void {
  if (days.length === 0) {
    place.replaceChildren(el('p', { class: 'muted' }, 'No days to show.'));
    return;
  }
  const width = Math.max(320, Math.round(place.clientWidth || 900));
  const most = ceiling(Math.max(...days.map((day) => day.calls)));
  const step = (width - left) / days.length;
  const y = (calls: number) => height - bottom - (calls / most) * (height - bottom - 12);
  const chart = svg('svg', {
    class: 'chart',
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': inWords(days),
  });
  for (const line of most > 1 ? [0, most / 2, most] : [0, most]) {
    const at = Math.round(y(line)) + 0.5;
    chart.append(
      svg('line', { x1: left, x2: width, y1: at, y2: at }),
      svg('text', { x: left - 8, y: at + 4, 'text-anchor': 'end' }, grouped(line)),
    );
  }
  const everyth = Math.max(1, Math.ceil(80 / step));
  days.forEach(({ day, calls }, i) => {
    const top = y(calls);
    const x = left + i * step;
    const bar = svg(
      'rect',
      {
        x: (x + step * 0.12).toFixed(2),
        y: top.toFixed(2),
        width: Math.max(1, step * 0.76).toFixed(2),
        height: (height - bottom - top).toFixed(2),
        rx: Math.min(3, step * 0.2).toFixed(2),
        class: isWeekend(day) ? 'weekend' : 'weekday',
      },
      svg('title', {}, `${day}: ${grouped(calls)}`),
    );
    chart.append(bar);
    if (i % everyth === 0 && (step > 60 || x + 60 < width)) {
      const at = step > 60 ? { x: x + step / 2, 'text-anchor': 'middle' } : { x };
      chart.append(svg('text', { ...at, y: height - 6 }, shortly(day)));
    }
  });
  place.replaceChildren(chart, asTable(days));
}

/** The chart in one sentence. */
function inWords(days: readonly DayCount[]): string {
  const sum = days.reduce((all, day) => all + day.calls, 0);
  const top = days.reduce((best, day) => (day.calls > best.calls ? day : best));
  return `${grouped(sum)} calls from ${days[0]?.day} to ${days.at(-1)?.day}; most on ${top.day}, ${grouped(top.calls)} calls.`;
}

function asTable(days: readonly DayCount[]): HTMLElement {
  const rows = days.map(({ day, calls }) =>
    el('tr', {}, el('th', { scope: 'row' }, day), el('td', { class: 'number' }, grouped(calls))),
  );
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col' }, 'Day'),
    el('th', { scope: 'col', class: 'number' }, 'Calls'),
  );
  const table = el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows));
  const region = el(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': 'Calls per day as a table', tabindex: '0' },
    table,
  );
  return el('details', {}, el('summary', {}, 'As a table'), region);
}

// `3 Sep`: in English like the rest of the page, whatever the language of the browser.
function shortly(day: string): string {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  return `${Number(day.slice(8))} ${months[Number(day.slice(5, 7)) - 1]}`;
}

// A round number at which the scale can end, whose half is a whole number.
function ceiling(value: number): number {
  if (value <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  const found = [1, 2, 3, 4, 5, 6, 8, 10].map((times) => times * unit).find((top) => top >= value) ?? value;
  return found % 2 === 0 ? found : found + 1;
}

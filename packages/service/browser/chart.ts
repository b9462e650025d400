import { addDays } from '@call-attribution/core/time';
import type { Bucket } from './api.ts';
import { el, svg } from './dom.ts';
import { counted, dateText, grouped, monthText, percent, rangeText } from './text.ts';

type By = 'day' | 'week' | 'month';

const bottom = 26;
const top = 12;

/** The first and the last day of a column. */
function daysOf(from: string, by: By): { first: string; last: string } {
  if (by === 'day') return { first: from, last: from };
  if (by === 'week') return { first: from, last: addDays(from, 6) };
  return { first: from, last: addDays(`${addDays(from, 31).slice(0, 7)}-01`, -1) };
}

/** Draws calls over time as columns that can be hovered, reached by keyboard and pressed, with the same numbers in a table. */
export function drawChart(
  place: HTMLElement,
  { buckets, by }: { readonly buckets: readonly Bucket[]; readonly by: By },
  narrow: (days: { first: string; last: string }) => void,
): void {
  if (buckets.length === 0) {
    place.replaceChildren(el('p', { class: 'muted' }, 'No days to show.'));
    return;
  }
  // Next to the breakdowns of a wide screen there is space.
  const height = innerWidth >= 1600 ? 480 : 220;
  const width = Math.max(280, Math.round(place.clientWidth || 900));
  const most = ceiling(Math.max(...buckets.map(({ calls }) => calls)));
  // Room for the longest number of the scale.
  const left = Math.max(44, 12 + 8 * grouped(most).length);
  const step = (width - left) / buckets.length;
  const y = (calls: number) => height - bottom - (calls / most) * (height - bottom - top);
  const chart = svg('svg', {
    class: 'chart',
    viewBox: `0 0 ${width} ${height}`,
    role: 'group',
    'aria-label': inWords(buckets, by),
  });
  for (const line of most > 1 ? [0, most / 2, most] : [0, most]) {
    const at = Math.round(y(line)) + 0.5;
    chart.append(
      svg('line', { x1: left, x2: width, y1: at, y2: at }),
      svg('text', { x: left - 8, y: at + 4, 'text-anchor': 'end', 'aria-hidden': 'true' }, grouped(line)),
    );
  }
  const tip = el('div', { class: 'tip', 'aria-hidden': 'true' });
  tip.hidden = true;
  const columns = buckets.map((bucket, i) => {
    const column = drawColumn(bucket, left + i * step, step, y, height - bottom);
    const days = daysOf(bucket.from, by);
    column.setAttribute('aria-label', `${columnText(bucket, by)}. Show only these`);
    column.setAttribute('tabindex', i === buckets.length - 1 ? '0' : '-1');
    const show = () => showTip(tip, place, chart, bucket, by, (left + (i + 0.5) * step) / width);
    column.addEventListener('pointerenter', show);
    column.addEventListener('focus', show);
    column.addEventListener('pointerleave', () => (tip.hidden = true));
    column.addEventListener('blur', () => (tip.hidden = true));
    column.addEventListener('click', () => narrow(days));
    return column;
  });
  chart.append(...columns, ...labels(buckets, by, step, { width, height, left }));
  chart.addEventListener('keydown', (event) => moveOn(event, columns));
  place.replaceChildren(chart, tip, asTable(buckets, by));
}

function drawColumn(
  { calls, missed }: Bucket,
  x: number,
  step: number,
  y: (calls: number) => number,
  ground: number,
): SVGGElement {
  const bar = (from: number, to: number, name: string) =>
    svg('rect', {
      x: (x + step * 0.14).toFixed(2),
      y: y(to).toFixed(2),
      width: Math.max(1, step * 0.72).toFixed(2),
      height: Math.max(0, y(from) - y(to)).toFixed(2),
      class: name,
    });
  return svg(
    'g',
    { role: 'button', class: 'column' },
    svg('rect', { x: x.toFixed(2), y: top, width: step.toFixed(2), height: ground - top, class: 'hit' }),
    bar(0, calls - missed, 'answered'),
    bar(calls - missed, calls, 'missed'),
  );
}

/** Arrow keys, Home and End move between columns; Enter and Space press one. */
function moveOn(event: KeyboardEvent, columns: readonly SVGGElement[]): void {
  const { target } = event;
  const at = target instanceof SVGGElement ? columns.indexOf(target) : -1;
  if (at < 0) return;
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    columns[at]?.dispatchEvent(new MouseEvent('click'));
    return;
  }
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: columns.length - 1 }[event.key];
  const next = to === undefined ? undefined : columns[to];
  if (next === undefined) return;
  event.preventDefault();
  columns[at]?.setAttribute('tabindex', '-1');
  next.setAttribute('tabindex', '0');
  next.focus();
}

function showTip(
  tip: HTMLElement,
  place: HTMLElement,
  chart: SVGSVGElement,
  bucket: Bucket,
  by: By,
  at: number,
): void {
  const { calls, missed } = bucket;
  tip.replaceChildren(
    el('b', {}, nameOf(bucket.from, by)),
    el('span', {}, counted(calls, 'call')),
    el('span', { class: 'muted' }, `${grouped(missed)} missed (${percent(missed, calls)})`),
  );
  tip.hidden = false;
  const { width } = chart.getBoundingClientRect();
  const x = Math.max(0, Math.min(at * width - tip.offsetWidth / 2, place.clientWidth - tip.offsetWidth));
  tip.style.left = `${x}px`;
}

function labels(
  buckets: readonly Bucket[],
  by: By,
  step: number,
  { width, height, left }: { width: number; height: number; left: number },
): SVGElement[] {
  const space = by === 'month' ? 74 : 56;
  const every = Math.max(1, Math.ceil(space / step));
  return buckets.flatMap(({ from }, i) => {
    // Counted from the newest column, which always has its label.
    if ((buckets.length - 1 - i) % every !== 0) return [];
    const middle = left + (i + 0.5) * step;
    const x = Math.max(left + 2, Math.min(middle, width - space / 2 + 6));
    const text = by === 'month' ? monthText(from) : dateText(from);
    return [
      svg('text', { x: x.toFixed(1), y: height - 7, 'text-anchor': 'middle', 'aria-hidden': 'true' }, text),
    ];
  });
}

function nameOf(from: string, by: By): string {
  if (by === 'month') return monthText(from);
  const { first, last } = daysOf(from, by);
  const weekday = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')[new Date(`${from}T00:00:00Z`).getUTCDay()];
  return by === 'day' ? `${weekday} ${dateText(from, true)}` : rangeText(first, last);
}

function columnText(bucket: Bucket, by: By): string {
  return `${nameOf(bucket.from, by)}: ${counted(bucket.calls, 'call')}, ${grouped(bucket.missed)} missed`;
}

/** The chart in one sentence. */
function inWords(buckets: readonly Bucket[], by: By): string {
  const sum = buckets.reduce((all, { calls }) => all + calls, 0);
  const most = buckets.reduce((best, bucket) => (bucket.calls > best.calls ? bucket : best));
  const [first, last] = [buckets[0]?.from ?? '', buckets.at(-1)?.from ?? ''];
  return `Calls by ${by}: ${grouped(sum)} from ${nameOf(first, by)} to ${nameOf(last, by)}; most in ${nameOf(most.from, by)}, ${counted(most.calls, 'call')}.`;
}

function asTable(buckets: readonly Bucket[], by: By): HTMLElement {
  const cell = (value: number) => el('td', { class: 'number' }, grouped(value));
  const title = by.charAt(0).toUpperCase() + by.slice(1);
  const heads = [title, 'Calls', 'Missed'].map((name, i) =>
    el('th', i > 0 ? { scope: 'col', class: 'number' } : { scope: 'col' }, name),
  );
  const body = el('tbody');
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...heads)), body);
  const attributes = {
    class: 'scroll',
    role: 'region',
    'aria-label': `Calls by ${by} as a table`,
    tabindex: '0',
  };
  const details = el('details', {}, el('summary', {}, 'As a table'), el('div', attributes, table));
  details.addEventListener('toggle', () => {
    if (body.childElementCount > 0) return;
    body.append(
      ...buckets.map(({ from, calls, missed }) =>
        el('tr', {}, el('th', { scope: 'row' }, nameOf(from, by)), cell(calls), cell(missed)),
      ),
    );
  });
  return details;
}

// A round number at which the scale can end, whose half is a whole number.
function ceiling(value: number): number {
  if (value <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  const found =
    [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10]
      .map((times) => Math.round(times * unit))
      .find((each) => each >= value) ?? value;
  return found % 2 === 0 ? found : found + 1;
}

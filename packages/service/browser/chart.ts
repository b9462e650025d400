import { addDays, day, hour, parseNaive } from '@call-attribution/core/time';
import {
  type Charted,
  chartLegend,
  chartSvg,
  daysOfBucket,
  formatCount,
  longTime,
  partOfBucket,
  withPart,
} from '@call-attribution/questions/chart';
import type { Setup, Summary } from './api.ts';
import { byId, el } from './dom.ts';

/** Some whole days, the last one included. */
interface Days {
  readonly first: string;
  readonly last: string;
}

type Numbers = Pick<Summary, 'buckets' | 'by' | 'latest'>;

const periodOf = (days: Days | null) => ({
  from: days === null ? null : `${days.first} 00:00:00`,
  to: days === null ? null : `${addDays(days.last, 1)} 00:00:00`,
});

/**
 * How much there is of the columns that are not whole: the period begins or ends in them, or the
 * day is not over.
 */
function partsOf(numbers: Numbers, period: Days | null): Record<string, string> {
  const { by, buckets, latest } = numbers;
  const parts = buckets.flatMap(({ from: key }) => {
    const part = partOfBucket(by, key, periodOf(period));
    return part === null ? [] : [[key, part] as const];
  });

  // The page knows no time zone: the last one in which it is still this day is twelve hours behind
  // UTC.
  const today = latest?.slice(0, 10) ?? '';
  const isRunning = by === 'day' && Date.now() < parseNaive(`${today} 00:00:00`) + day + 12 * hour;
  return Object.fromEntries([
    ...parts,
    ...(isRunning ? [[today, `until ${latest?.slice(11, 16)}`]] : []),
  ]);
}

/** The columns of the page as an answer. */
function answerOf(numbers: Numbers, parts: Readonly<Record<string, string>>): Charted {
  const { by, buckets } = numbers;
  return {
    columns: [
      { name: by, kind: 'group', unit: 'time' },
      { name: 'calls', kind: 'measure', unit: 'calls' },
      { name: 'missed', kind: 'measure', unit: 'calls' },
    ],
    rows: buckets.map(({ from, calls, missed }) => ({ [by]: from, calls, missed })),
    parts,
  };
}

/**
 * Draws calls over time as columns that can be hovered, reached by keyboard and pressed, with the
 * same numbers in a table. `period` is what the filter says; `narrow` is called with the days of a
 * column, as far as they are in it.
 */
export function drawChart(
  place: HTMLElement,
  numbers: Numbers,
  period: Days | null,
  narrow: (days: Days) => void,
  marks: Setup['annotations'],
): void {
  const { buckets, by } = numbers;
  if (buckets.length === 0) {
    byId('legend').replaceChildren();
    place.replaceChildren(el('p', { class: 'muted' }, 'No days to show.'));
    return;
  }

  const parts = partsOf(numbers, period);
  const answer = answerOf(numbers, parts);

  // Next to the breakdowns of a wide screen there is space.
  const height = innerWidth >= 1600 ? 480 : 240;
  const drawing = el('div');

  // The chart escapes what it is given, and this one has numbers and dates only.
  drawing.innerHTML = chartSvg(answer, {
    width: place.clientWidth || 900,
    height,
    marks,
    press: 'Show only these',
  });
  byId('legend').innerHTML = chartLegend(answer, { marks });
  const tip = el('div', { class: 'tip', 'aria-hidden': 'true' });
  tip.hidden = true;
  listen(drawing, tip, (at) => {
    const days = daysOfBucket(by, buckets[at]?.from ?? '');
    if (days !== null) narrow(within(days, period));
  });
  place.replaceChildren(drawing, tip, asTable(numbers, parts));
}

/** Draws when calls come in: a grid of weekdays and hours. */
export function drawHours(place: HTMLElement, rows: Summary['hours']): void {
  const columns = [
    { name: 'weekday', kind: 'group', unit: 'value' },
    { name: 'hour', kind: 'group', unit: 'time' },
    { name: 'calls', kind: 'measure', unit: 'calls' },
  ] as const;
  place.innerHTML = chartSvg({ columns, rows }, { width: place.clientWidth || 900 });
}

function within({ first, last }: Days, period: Days | null): Days {
  if (period === null) return { first, last };
  return {
    first: first < period.first ? period.first : first,
    last: last > period.last ? period.last : last,
  };
}

/** One listener of each kind for all columns. */
function listen(drawing: HTMLElement, tip: HTMLElement, press: (at: number) => void): void {
  const columnOf = ({ target }: Event) =>
    target instanceof Element ? target.closest<SVGGElement>('[data-at]') : null;
  for (const kind of ['pointerover', 'focusin'] as const)
    drawing.addEventListener(kind, (event) => {
      const column = columnOf(event);
      if (column === null) tip.hidden = true;
      else showTip(tip, drawing, column);
    });

  for (const kind of ['pointerleave', 'focusout'] as const)
    drawing.addEventListener(kind, () => {
      tip.hidden = true;
    });

  drawing.addEventListener('click', (event) => {
    const column = columnOf(event);
    if (column !== null) press(Number(column.dataset.at));
  });
  drawing.addEventListener('keydown', (event) => {
    const column = columnOf(event);
    if (column !== null)
      moveOn(event, column, [...drawing.querySelectorAll<SVGGElement>('[data-at]')], press);
  });
}

/** Arrow keys, Home and End move between columns; Enter and Space press one. */
function moveOn(
  event: KeyboardEvent,
  column: SVGGElement,
  columns: readonly SVGGElement[],
  press: (at: number) => void,
): void {
  const at = columns.indexOf(column);
  const isPressed = event.key === 'Enter' || event.key === ' ';
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: columns.length - 1 }[event.key];
  const next = to === undefined ? undefined : columns[to];
  if (!isPressed && next === undefined) return;
  event.preventDefault();
  if (isPressed) press(Number(column.dataset.at));
  column.setAttribute('tabindex', next === undefined ? '0' : '-1');
  next?.setAttribute('tabindex', '0');
  next?.focus();
}

function showTip(tip: HTMLElement, drawing: HTMLElement, column: SVGGElement): void {
  const { name = '', value = '' } = column.dataset;
  tip.replaceChildren(el('b', {}, name), ...value.split(', ').map((line) => el('span', {}, line)));
  tip.hidden = false;
  const own = column.getBoundingClientRect();
  const all = drawing.getBoundingClientRect();
  const middle = own.left - all.left + own.width / 2 - tip.offsetWidth / 2;
  tip.style.left = `${Math.max(0, Math.min(middle, all.width - tip.offsetWidth))}px`;
}

function asTable(numbers: Numbers, parts: Readonly<Record<string, string>>): HTMLElement {
  const { by, buckets } = numbers;
  const cell = (value: number) => el('td', { class: 'number' }, formatCount(value));
  const title = by.charAt(0).toUpperCase() + by.slice(1);
  const heads = [title, 'Calls', 'Missed'].map((name, i) =>
    el('th', i > 0 ? { scope: 'col', class: 'number' } : { scope: 'col' }, name),
  );
  const body = el('tbody');
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...heads)), body);
  const attributes = {
    class: 'scroll',
    'aria-label': `Calls by ${by} as a table`,
    tabindex: '0',
  };
  const details = el(
    'details',
    {},
    el('summary', {}, 'As a table'),
    el('section', attributes, table),
  );
  details.addEventListener('toggle', () => {
    if (body.childElementCount > 0) return;
    body.append(
      ...buckets.map(({ from, calls, missed }) => {
        const name = withPart(longTime(by, from), parts[from] ?? null);
        return el('tr', {}, el('th', { scope: 'row' }, name), cell(calls), cell(missed));
      }),
    );
  });
  return details;
}

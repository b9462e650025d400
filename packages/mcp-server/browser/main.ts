import {
  chartLegend,
  chartSvg,
  columnTitle,
  formatValue,
  judgeChange,
  type ShownColumn,
  withPart,
} from '@call-attribution/questions/chart';
import { readAnswer, type ShownAnswer, type Value } from './answer.ts';
import { connectHost, type HostContext } from './host.ts';

// Shows an answer of analyze_calls inside an assistant: a chart and a table that can be sorted.

const page = document.body;

/** An element with text. Text is never read as HTML. */
function html<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>> = {},
  text = '',
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== '') element.textContent = text;
  return element;
}

function say(text: string): void {
  const main = html('main');
  main.append(html('p', { class: 'summary' }, text));
  page.replaceChildren(main);
}

function applyContext({ theme, styles }: HostContext): void {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {}))
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value);
}

interface Order {
  readonly column: ShownColumn;
  readonly falling: boolean;
}

function show(answer: ShownAnswer): void {
  const measures = answer.columns.filter(({ kind, unit }) => kind !== 'group' && unit !== 'time');
  let measure = measures[0]?.name ?? '';
  let order: Order | null = null;
  const groups = answer.columns.filter(({ kind }) => kind === 'group');
  const title = html('h1');
  const chart = html('div');
  const table = html('div', { class: 'table' });

  const drawPicture = (): void => {
    const ordered = { ...answer, rows: sortedBy(answer.rows, order) };
    const options = { measure, width: chart.clientWidth || 640, height: 240 };
    const names = groups.map(({ name }) => columnTitle(name).toLowerCase());
    title.textContent = [columnTitle(measure), names.join(' and ')]
      .filter((text) => text !== '')
      .join(' by ');
    // The chart escapes the text of callers.
    chart.innerHTML = chartSvg(ordered, options) + chartLegend(ordered, options);
  };
  const draw = (): void => {
    drawPicture();
    table.replaceChildren(tableOf(answer, sortedBy(answer.rows, order), order, sort));
  };
  const sort = (column: ShownColumn): void => {
    order = { column, falling: order?.column === column ? !order.falling : column.kind !== 'group' };
    draw();
  };

  const choice = html('select', { id: 'measure' });
  for (const { name } of measures) choice.append(html('option', { value: name }, columnTitle(name)));
  choice.addEventListener('change', () => {
    measure = choice.value;
    drawPicture();
  });
  const label = html('label', { for: 'measure' }, 'Chart of ');
  label.append(choice);
  const notes = html('details');
  notes.append(html('summary', {}, 'Notes'), ...answer.notes.map((note) => html('p', {}, note)));
  const main = html('main');
  main.append(
    title,
    html('p', { class: 'summary' }, answer.summary),
    ...(measures.length > 1 && groups.length > 0 ? [label] : []),
    chart,
    table,
    ...(answer.notes.length > 0 ? [notes] : []),
  );
  page.replaceChildren(main);
  draw();
  let width = chart.clientWidth;
  new ResizeObserver(() => {
    if (chart.clientWidth !== width) drawPicture();
    width = chart.clientWidth;
  }).observe(chart);
}

function sortedBy(rows: ShownAnswer['rows'], order: Order | null): ShownAnswer['rows'] {
  if (order === null) return rows;
  const { column, falling } = order;
  const compare = (a: Value, b: Value): number =>
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : String(a).localeCompare(String(b), 'en', { numeric: true });
  // What has no value comes last in either order.
  return [...rows].sort((a, b) => {
    const [left = null, right = null] = [a[column.name], b[column.name]];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return falling ? compare(right, left) : compare(left, right);
  });
}

function tableOf(
  answer: ShownAnswer,
  rows: ShownAnswer['rows'],
  order: Order | null,
  sort: (column: ShownColumn) => void,
): HTMLTableElement {
  const table = html('table');
  const head = html('tr');
  const classOf = ({ kind }: ShownColumn) => (kind === 'group' ? {} : { class: 'number' });
  for (const column of answer.columns) {
    const direction = order?.falling ? 'descending' : 'ascending';
    const sorted = order?.column === column ? direction : 'none';
    const cell = html('th', { scope: 'col', 'aria-sort': sorted, ...classOf(column) });
    const button = html('button', { type: 'button' }, columnTitle(column.name));
    button.addEventListener('click', () => sort(column));
    cell.append(button);
    head.append(cell);
  }
  const body = html('tbody');
  for (const row of rows) {
    const line = html('tr');
    for (const column of answer.columns) line.append(cellOf(answer, column, row[column.name] ?? null));
    body.append(line);
  }
  const top = html('thead');
  top.append(head);
  table.append(top, body);
  return table;
}

function cellOf({ parts = {} }: ShownAnswer, column: ShownColumn, value: Value): HTMLElement {
  const text = formatValue(column, value);
  if (column.kind === 'group')
    return html('td', {}, column.unit === 'time' ? withPart(text, parts[text] ?? null) : text);
  const judged = column.kind === 'change' ? judgeChange(column, Number(value)) : null;
  if (judged === null) return html('td', { class: 'number' }, text);
  const shown = `${Number(value) > 0 ? '▲' : '▼'} ${text}`;
  return html('td', { class: `number chart-${judged}`, title: judged }, shown);
}

say('Waiting for the answer…');
connectHost({
  context: applyContext,
  cancelled: () => say('The call was cancelled.'),
  result(result) {
    const answer = readAnswer(result);
    if (typeof answer === 'string') say(answer);
    else show(answer);
  },
});

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

// Shows an answer of analyze_calls inside an assistant: a chart and a table.

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

function show(answer: ShownAnswer): void {
  const measures = answer.columns.filter(({ kind, unit }) => kind !== 'group' && unit !== 'time');
  let measure = measures[0]?.name ?? '';
  const groups = answer.columns.filter(({ kind }) => kind === 'group');
  const title = html('h1');
  const chart = html('div');
  const table = html('div', { class: 'table' });
  table.append(tableOf(answer));

  const drawPicture = (): void => {
    const options = { measure, width: chart.clientWidth || 640, height: 240 };
    const names = groups.map(({ name }) => columnTitle(name).toLowerCase());
    const unit = measures.find(({ name }) => name === measure)?.unit;
    title.textContent = [columnTitle(measure, unit), names.join(' and ')]
      .filter((text) => text !== '')
      .join(' by ');

    // The chart escapes the text of callers.
    chart.innerHTML = chartSvg(answer, options) + chartLegend(answer, options);
  };

  const choice = html('select', { id: 'measure' });
  for (const { name, unit } of measures)
    choice.append(html('option', { value: name }, columnTitle(name, unit)));
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
  drawPicture();
  let width = chart.clientWidth;
  new ResizeObserver(() => {
    if (chart.clientWidth !== width) drawPicture();
    width = chart.clientWidth;
  }).observe(chart);
}

function tableOf(answer: ShownAnswer): HTMLTableElement {
  const table = html('table');
  const head = html('tr');
  for (const column of answer.columns) {
    const isGroup = column.kind === 'group';
    const kind = isGroup ? {} : { class: 'number' };
    const title = columnTitle(column.name, isGroup ? undefined : column.unit);
    head.append(html('th', { scope: 'col', ...kind }, title));
  }

  const body = html('tbody');
  for (const row of answer.rows) {
    const line = html('tr');
    for (const column of answer.columns)
      line.append(cellOf(answer, column, row[column.name] ?? null));
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

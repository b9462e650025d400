import { failureIn, readAnswer, type ShownAnswer, shown, type Value } from './answer.ts';
import { drawChart } from './chart.ts';
import { html } from './dom.ts';
import { connectHost, type HostContext } from './host.ts';

// Shows an answer of analyze_calls inside an assistant: a chart and a table that can be sorted.

const page = document.body;

function say(text: string): void {
  page.replaceChildren(html('p', { class: 'summary' }, text));
}

function applyContext({ theme, styles }: HostContext): void {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {}))
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value);
}

function show(answer: ShownAnswer): void {
  const measures = answer.columns.slice(answer.groups);
  let column = answer.groups;
  let sorted: { column: number; falling: boolean } | null = null;
  const chart = html('div', { class: 'chart' });
  const table = html('div', { class: 'table' });

  const draw = (): void => {
    const rows = sorted ? sortedBy(answer.rows, sorted) : answer.rows;
    const drawing = drawChart(answer, rows, column);
    drawing?.setAttribute(
      'aria-label',
      `${answer.columns[column]} by ${answer.columns.slice(0, answer.groups).join(', ')}`,
    );
    chart.replaceChildren(...(drawing ? [drawing] : []));
    table.replaceChildren(tableOf(answer, rows, sorted, sort));
  };
  const sort = (by: number): void => {
    const isNumber = by >= answer.groups;
    sorted =
      sorted?.column === by ? { column: by, falling: !sorted.falling } : { column: by, falling: isNumber };
    draw();
  };

  const choice = html('select', { 'aria-label': 'Measure of the chart' });
  for (const [i, name] of measures.entries())
    choice.append(html('option', { value: answer.groups + i }, name));
  choice.addEventListener('change', () => {
    column = Number(choice.value);
    draw();
  });
  const notes = html('details');
  notes.append(html('summary', {}, 'Notes'), ...answer.notes.map((note) => html('p', {}, note)));
  page.replaceChildren(
    html('p', { class: 'summary' }, answer.summary),
    ...(measures.length > 1 && answer.groups > 0 ? [choice] : []),
    chart,
    table,
    ...(answer.notes.length > 0 ? [notes] : []),
  );
  draw();
}

function sortedBy(
  rows: ShownAnswer['rows'],
  { column, falling }: { column: number; falling: boolean },
): ShownAnswer['rows'] {
  const compare = (a: Value, b: Value): number =>
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : String(a).localeCompare(String(b), 'en', { numeric: true });
  // What has no value comes last in either order.
  return [...rows].sort((a, b) => {
    const [left = null, right = null] = [a[column], b[column]];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return falling ? compare(right, left) : compare(left, right);
  });
}

function tableOf(
  answer: ShownAnswer,
  rows: ShownAnswer['rows'],
  sorted: { column: number; falling: boolean } | null,
  sort: (column: number) => void,
): HTMLTableElement {
  const table = html('table');
  const head = html('tr');
  for (const [i, name] of answer.columns.entries()) {
    const order = sorted?.column === i ? (sorted.falling ? 'descending' : 'ascending') : 'none';
    const cell = html('th', {
      scope: 'col',
      'aria-sort': order,
      ...(i < answer.groups ? {} : { class: 'number' }),
    });
    const button = html('button', { type: 'button' }, name);
    button.addEventListener('click', () => sort(i));
    cell.append(button);
    head.append(cell);
  }
  const body = html('tbody');
  for (const row of rows) {
    const line = html('tr');
    for (const [i, name] of answer.columns.entries())
      line.append(
        html(
          'td',
          i < answer.groups ? {} : { class: 'number' },
          shown(row[i], i < answer.groups ? '' : name),
        ),
      );
    body.append(line);
  }
  const top = html('thead');
  top.append(head);
  table.append(top, body);
  return table;
}

say('Waiting for the answer…');
connectHost({
  context: applyContext,
  cancelled: () => say('The call was cancelled.'),
  result(result) {
    const failure = failureIn(result);
    const answer = failure === null ? readAnswer(result) : null;
    if (answer) show(answer);
    else say(failure ?? 'This answer has no table.');
  },
});

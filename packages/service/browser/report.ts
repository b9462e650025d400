import type { AnswerColumn } from '@call-attribution/questions';
import {
  chartLegend,
  chartSvg,
  columnTitle,
  formatPeriod,
  formatValue,
  judgeChange,
} from '@call-attribution/questions/chart';
import type { Report, Setup } from './api.ts';
import { byId, el } from './dom.ts';
import { addressOf, initial, type State } from './state.ts';
import { foreign } from './text.ts';

/** Draws the menu of reports: each has an address. Without reports there is none. */
export function drawMenu({ reports }: Setup, state: State): void {
  const entries = [{ name: '', title: 'Overview' }, ...reports];
  const { account } = state;
  byId('menu').hidden = reports.length === 0;
  byId('menu').replaceChildren(
    ...entries.map(({ name, title }) =>
      el(
        'a',
        {
          href: addressOf({ ...initial, account, report: name }),
          ...(name === state.report ? { 'aria-current': 'page' } : {}),
        },
        title,
      ),
    ),
  );
}

/** Draws a report: what it is about, its chart, and a table with all its figures. */
export function drawReport(report: Report, annotations: Setup['annotations']): void {
  const { title, columns, rows, total, period, compared, notes } = report;
  const place = byId('report');
  const time = compared === null ? '' : `, compared with ${formatPeriod(compared)}`;
  const drawing = el('div');
  const options = { width: (place.clientWidth || 900) - 40, marks: annotations };

  // The chart escapes what it is given.
  drawing.innerHTML = chartSvg(report, options) + chartLegend(report, options);
  const shown = columns.filter(({ kind }) => kind === 'group' || kind === 'measure');
  const classOf = ({ kind }: AnswerColumn) => (kind === 'group' ? 'long' : 'number');
  const heads = shown.map((column) =>
    el('th', { scope: 'col', class: classOf(column) }, columnTitle(column.name, column.unit)),
  );
  const lineOf = (row: Report['total'], isTotal: boolean) =>
    el(
      'tr',
      {},
      ...shown.map((column, at) => {
        const isGroup = column.kind === 'group';
        const label = at === 0 ? 'All calls' : '';
        const text = isTotal && isGroup ? label : formatValue(column, row[column.name]);
        return el('td', { class: classOf(column) }, foreign(text), changeIn(report, column, row));
      }),
    );
  place.replaceChildren(
    el('h2', { id: 'report-title' }, title),
    el('p', { class: 'muted' }, `${formatPeriod(period)}${time}`),
    drawing,
    el(
      'section',
      { class: 'scroll', tabindex: '0', 'aria-label': `${title}, table` },
      el(
        'table',
        {},
        el('thead', {}, el('tr', {}, ...heads)),
        el('tbody', {}, ...rows.map((row) => lineOf(row, false))),
        el('tfoot', {}, lineOf(total, true)),
      ),
    ),
    ...notes.map((note) => el('p', { class: 'muted small' }, note)),
  );
}

/** How a measure has changed, below it: in percent where it adds up, and from what. */
function changeIn(
  { columns }: Report,
  { name, better }: AnswerColumn,
  row: Report['total'],
): HTMLElement | null {
  const column = (end: string) => columns.find((each) => each.name === `${name}_${end}`);
  const before = column('before');
  const percent = column('change_percent');
  const change = percent !== undefined && row[percent.name] !== null ? percent : column('change');
  if (before === undefined || change === undefined || row[change.name] === null) return null;
  const judged = judgeChange({ better }, Number(row[change.name]));
  return el(
    'small',
    {},
    el('span', { class: `chart-${judged}` }, formatValue(change, row[change.name])),
    ` from ${formatValue(before, row[before.name])}`,
  );
}

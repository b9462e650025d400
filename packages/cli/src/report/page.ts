import { formatNaive, naiveAt } from '@call-attribution/core/time';
import { explain } from '@call-attribution/query-dsl';
import type { Answer, AnswerValue, Question } from '@call-attribution/questions';
import {
  type ChartMark,
  type ChartOptions,
  chartLegend,
  chartMarks,
  chartStyle,
  chartSvg,
  covered,
  formatPeriod,
  judgeChange,
  markInWords,
  markup,
} from '@call-attribution/questions/chart';
import { plural } from '../terminal/numbers.ts';
import type { Report, ReportColumn, ReportRow } from './view.ts';

const style = `${chartStyle}
body { margin: 0 auto; max-width: 960px; padding: 28px 24px 48px; background: var(--chart-card); color: var(--chart-ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 6px; } p { margin: 4px 0; color: var(--chart-muted); }
p.incomplete { margin: 10px 0; padding: 6px 12px; border-left: 4px solid var(--chart-worse); color: var(--chart-ink); font-weight: 700; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; margin: 10px 0; } dt { color: var(--chart-muted); } dd { margin: 0; }
.narrow { display: none; } .chart { margin: 22px 0 8px; }
.scroll { margin-top: 24px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 6px; }
th, td { padding: 7px 10px; border-bottom: 1px solid var(--chart-line); text-align: right; vertical-align: baseline; }
td { white-space: nowrap; } thead th { color: var(--chart-muted); font-weight: 600; vertical-align: bottom; } tbody th { font-weight: 400; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; min-width: 104px; max-width: 420px; padding-left: 0; }
tfoot th, tfoot td { font-weight: 700; border-bottom: 0; }
td small { font-size: 12px; font-weight: 400; color: var(--chart-muted); } td small span { display: block; } td small b { font-weight: 400; }
.outer > * { font-weight: 600; } .outer td small { font-weight: 400; } tbody .inner th { padding-left: 20px; }
footer { margin-top: 28px; padding-top: 10px; border-top: 1px solid var(--chart-line); font-size: 13px; }
@media screen and (max-width: 600px) { body { padding: 16px 16px 32px; } .wide { display: none; } .narrow { display: block; }
  table { font-size: 13px; } th, td { padding: 7px 4px; } th:first-child, td:first-child { max-width: 150px; } }
@media print { body { max-width: none; padding: 0; font-size: 12px; } svg, tr { break-inside: avoid; } thead { display: table-header-group; } }`;

/** Text has the same size on both, so that it can be read on a phone too. */
const sizes: Readonly<Record<string, ChartOptions>> = {
  wide: { width: 912, height: 320 },
  narrow: { width: 358, height: 240 },
};

/** What the page says above and below the figures. */
export interface PageText {
  readonly title: string;
  /** What the report is about, as pairs of a name and a text: account, period, date, filter. */
  readonly head: readonly (readonly [name: string, text: string])[];
  /** What the calls that were counted lack, one sentence each. */
  readonly incomplete: readonly string[];
  /** What a reader of the numbers should know, one sentence each. */
  readonly facts: readonly string[];
  /** How the calls were counted, one sentence each. */
  readonly counted: readonly string[];
}

/**
 * A self-contained page: no script, no font, no request. It has light and dark colors, and a table
 * with all figures.
 */
export function reportPage(report: Report, text: PageText): string {
  const paragraphs = (lines: readonly string[]): string[] =>
    lines.map((line) => `<p>${markup(line)}</p>`);
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${markup(text.title)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${markup(text.title)}</h1>`,
    ...text.incomplete.map((line) => `<p class="incomplete">${markup(line)}</p>`),
    `<dl>${text.head.map(([name, about]) => `<dt>${markup(name)}</dt><dd>${markup(about)}</dd>`).join('')}</dl>`,
    ...paragraphs(text.facts),
    ...(report.calls === 0 ? ['<p>No calls.</p>'] : pictures(report)),
    table(report),
    ...paragraphs([...report.hidden, ...undrawn(report).map(markInWords)]),
    '</main>',
    ...(text.counted.length === 0 ? [] : ['<footer>', ...paragraphs(text.counted), '</footer>']),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

const chartOptions = ({ chart: { totals }, annotations }: Report): ChartOptions => ({
  marks: annotations,
  ...(totals === null ? {} : { totals }),
});

/** Annotations that the chart does not show: it is not by day, or does not have their day. */
function undrawn(report: Report): ChartMark[] {
  const drawn = chartMarks(report.chart.answer, chartOptions(report));
  return report.annotations.filter((annotation) => !drawn.includes(annotation));
}

function pictures(report: Report): string[] {
  const { answer } = report.chart;
  const more = chartOptions(report);
  const drawn = Object.entries(sizes).map(
    ([name, size]) => `<div class="${name}">${chartSvg(answer, { ...size, ...more })}</div>`,
  );
  return [...drawn, chartLegend(answer, more)];
}

/** What a row is where the second group stands within the first. */
const kinds = ['outer', 'inner'] as const;

function table(report: Report): string {
  const { columns, rows, total } = report;
  const caption = markup(`${plural(report.calls, 'call')} by ${report.by}`);

  // What was before, and how it has changed, stand below a figure: five columns of each measure
  // would be too wide.
  const shown = columns
    .map((column, at) => ({ ...column, at }))
    .filter(({ kind }) => kind === 'group' || kind === 'measure');

  const cell = ({ cells, values }: Pick<ReportRow, 'cells' | 'values'>, at: number): string => {
    const text = markup(cells[at] ?? '');
    const name = columns[at]?.name;
    const own = (end: string): number => columns.findIndex((each) => each.name === `${name}${end}`);
    const shown = (end: string): string => markup(cells[own(end)] ?? '');
    const before = shown('_before');
    if (before === '') return `<td>${text}</td>`;
    const figure = (end: string): AnswerValue => values[own(end)] ?? null;
    const change = shown('_change');
    const percent = figure('_change') === 0 ? '' : shown('_change_percent');
    const perDay = shown('_change_per_day');
    const judged = changeOf(columns[at], change, figure('_change'), figure('_change_per_day'));
    const lines = [
      percent === '' ? judged : `${judged} (${percent})`,
      `${change === '' ? 'before:' : 'from'} ${before}`,
      perDay === '' ? '' : `${perDay} a day`,
    ].filter((line) => line !== '');
    return `<td>${text}<small>${lines.map((line) => `<span>${line}</span>`).join(' ')}</small></td>`;
  };

  const isNested = rows.some(({ isInner }) => isInner);

  const row = (line: Pick<ReportRow, 'cells' | 'values'>, kind = ''): string => {
    const rest = shown.filter(({ at }) => at > 0).map(({ at }) => cell(line, at));
    return `<tr${kind && ` class="${kind}"`}><th scope="row">${markup(line.cells[0] ?? '')}</th>${rest.join('')}</tr>`;
  };

  const body = rows.map((each) => row(each, isNested ? kinds[Number(each.isInner)] : ''));
  return [
    `<div class="scroll" role="region" aria-label="${caption}, table" tabindex="0">`,
    `<table><caption>${caption}</caption>`,
    `<thead><tr>${shown.map(({ title }) => `<th scope="col">${markup(title)}</th>`).join('')}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody>`,
    `<tfoot>${row(total)}</tfoot>`,
    '</table>',
    '</div>',
  ].join('\n');
}

/** A change with an arrow, in a color where more is better or worse. */
function changeOf(
  column: ReportColumn | undefined,
  text: string,
  value: AnswerValue = null,
  perDay: AnswerValue = null,
): string {
  const change = Number(value);
  if (!/[1-9]/.test(text)) return text;
  const shown = `${change < 0 ? '▼' : '▲'} ${text}`;
  const judged = judgeChange(column, change, Number(perDay ?? change));
  return judged === null ? shown : `<b class="chart-${judged}" title="${judged}">${shown}</b>`;
}

/**
 * What a page is about, for people: account, period, date, and which calls. `read` is when the
 * calls were read.
 */
export function headOf(
  { q = '', where }: Question,
  answer: Answer,
  now: number,
  read: string | null,
): [name: string, text: string][] {
  const { period, compared, accounts: counted } = answer;
  const names = counted.map(({ account }) => account).filter((name) => name !== '');
  const span = formatPeriod(
    period.from === null && period.to === null
      ? period
      : covered({ ...answer, known: { from: null, to: null } }, read),
  );
  const written = formatPeriod({
    from: formatNaive(naiveAt(now, period.timeZone ?? 'UTC')),
    to: null,
  });
  const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  const rows: [name: string, text: string][] = [
    [names.length === 1 ? 'Account' : 'Accounts', names.join(', ')],
    ['Period', sentence(`${span}, ${period.timeZone ?? 'in the time zone of the account'}`)],
    ['Compared with', compared === null ? '' : formatPeriod(compared)],
    ['Written', `${written.replace('since ', '')}, ${period.timeZone ?? 'UTC'}`],
    ['Calls', q === '' ? '' : sentence(explain(q))],
    ['Where', typeof where === 'string' ? where : ''],
  ];
  return rows.filter(([, text]) => text !== '');
}

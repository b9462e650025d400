import {
  type ChartOptions,
  chartLegend,
  chartStyle,
  chartSvg,
  judgeChange,
  markup,
} from '@call-attribution/questions/chart';
import { plural } from '../term/numbers.ts';
import type { Report, ReportRow } from './view.ts';

const style = `${chartStyle}
body { margin: 0 auto; max-width: 960px; padding: 28px 24px 48px; background: var(--chart-card); color: var(--chart-ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 6px; } p { margin: 4px 0; color: var(--chart-muted); }
p.incomplete { margin: 10px 0; padding: 6px 12px; border-left: 4px solid var(--chart-worse); color: var(--chart-ink); font-weight: 700; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; margin: 10px 0; } dt { color: var(--chart-muted); } dd { margin: 0; }
.narrow { display: none; } .chart { margin: 22px 0 8px; }
.scroll { overflow-x: auto; margin-top: 24px; } details .scroll { margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 6px; }
th, td { padding: 7px 10px; border-bottom: 1px solid var(--chart-line); text-align: right; }
td { white-space: nowrap; } thead th { color: var(--chart-muted); font-weight: 600; vertical-align: bottom; } tbody th { font-weight: 400; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; min-width: 104px; max-width: 420px; padding-left: 0; }
tfoot th, tfoot td { font-weight: 700; border-bottom: 0; }
summary { cursor: pointer; margin-top: 12px; color: var(--chart-muted); }
footer { margin-top: 28px; padding-top: 10px; border-top: 1px solid var(--chart-line); font-size: 13px; }
@media screen and (max-width: 600px) { body { padding: 16px 16px 32px; } .wide { display: none; } .narrow { display: block; }
  table { font-size: 13px; } th, td { padding: 7px 4px; } th:first-child, td:first-child { max-width: 150px; } }
@media print { body { max-width: none; padding: 0; font-size: 12px; } svg, tr { break-inside: avoid; } thead { display: table-header-group; }
  summary { display: none; } details::details-content { content-visibility: visible; height: auto; } }`;

/** Rows of the table before the rest is folded, so that no page is endless. */
const mostRows = 20;

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

/** A self-contained page: no script, no font, no request. It has light and dark colors, and a table with all figures. */
export function reportPage(report: Report, text: PageText): string {
  const { open, folded } = split(report);
  const paragraphs = (lines: readonly string[]): string[] => lines.map((line) => `<p>${markup(line)}</p>`);
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
    table(report, `${plural(report.calls, 'call')} by ${report.by}`, open, report.total),
    ...foldedTable(report, folded),
    ...paragraphs(report.hidden),
    '</main>',
    ...(text.counted.length === 0 ? [] : ['<footer>', ...paragraphs(text.counted), '</footer>']),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** The rows that are shown at once, and those that are folded: of a long stretch of time one looks at the latest part first. */
function split({ rows, isTime }: Report) {
  if (rows.length <= mostRows + 5) return { open: rows, folded: [] };
  if (isTime) return { open: rows.slice(-mostRows), folded: rows.slice(0, -mostRows) };
  return { open: rows.slice(0, mostRows), folded: rows.slice(mostRows) };
}

function foldedTable(report: Report, rows: readonly ReportRow[]): string[] {
  if (rows.length === 0) return [];
  const [row, caption] = report.isTime
    ? (['earlier row', 'Earlier'] as const)
    : (['more row', 'More'] as const);
  return [
    `<details><summary>${plural(rows.length, row)}</summary>`,
    table(report, caption, rows, null),
    '</details>',
  ];
}

function pictures({ chart: { answer, totals } }: Report): string[] {
  const more = totals === null ? {} : { totals };
  const drawn = Object.entries(sizes).map(
    ([name, size]) => `<div class="${name}">${chartSvg(answer, { ...size, ...more })}</div>`,
  );
  return [...drawn, chartLegend(answer, more)];
}

function table(
  { columns }: Report,
  caption: string,
  rows: readonly ReportRow[],
  total: readonly string[] | null,
): string {
  const cell = (text: string, at: number): string => {
    const column = columns[at];
    const judged = column?.kind === 'change' ? judgeChange(column, Number(text.replace(/[,%]/g, ''))) : null;
    if (judged === null) return `<td>${markup(text)}</td>`;
    return `<td class="chart-${judged}" title="${judged}">${text.startsWith('-') ? '▼' : '▲'} ${markup(text)}</td>`;
  };
  const row = (cells: readonly string[]): string =>
    `<tr><th scope="row">${markup(cells[0] ?? '')}</th>${cells
      .slice(1)
      .map((text, at) => cell(text, at + 1))
      .join('')}</tr>`;
  return [
    `<div class="scroll" role="region" aria-label="${markup(caption)}, table" tabindex="0">`,
    `<table><caption>${markup(caption)}</caption>`,
    `<thead><tr>${columns.map(({ title }) => `<th scope="col">${markup(title)}</th>`).join('')}</tr></thead>`,
    `<tbody>${rows.map(({ cells }) => row(cells)).join('\n')}</tbody>`,
    ...(total === null ? [] : [`<tfoot>${row(total)}</tfoot>`]),
    '</table>',
    '</div>',
  ].join('\n');
}

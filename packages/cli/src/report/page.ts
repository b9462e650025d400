import { count } from '../term/numbers.ts';
import { barsSvg, columnsSvg, legend, markup } from './svg.ts';
import type { Report, ReportRow } from './view.ts';

// The contrast of text is above 7:1 in both color schemes, and the seven colors differ in lightness too.
const style = `
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --c0: #1f5fbf; --c1: #d9730d; --c2: #2f9e5f; --c3: #b4309a; --c4: #8a6d00; --c5: #4aa3c7; --c6: #8c959f; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --ink: #f0f3f6; --soft: #a8b3bf; --line: #3a424c;
  --c0: #6ea8ff; --c1: #ffa657; --c2: #56d390; --c3: #f08fdc; --c4: #e3c14a; --c5: #8fd8f2; --c6: #98a2ad; } }
body { margin: 0 auto; max-width: 920px; padding: 24px 20px 48px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; } p { margin: 4px 0; color: var(--soft); }
p.incomplete { margin: 8px 0; padding: 6px 10px; border-left: 4px solid; color: var(--ink); font-weight: 700; }
svg { display: block; width: 100%; height: auto; margin: 24px 0 8px; font-size: 12px; }
svg.narrow { display: none; } svg text { fill: var(--ink); } .grid { stroke: var(--line); }
.c0 { fill: var(--c0); background: var(--c0); } .c1 { fill: var(--c1); background: var(--c1); }
.c2 { fill: var(--c2); background: var(--c2); } .c3 { fill: var(--c3); background: var(--c3); }
.c4 { fill: var(--c4); background: var(--c4); } .c5 { fill: var(--c5); background: var(--c5); }
.c6 { fill: var(--c6); background: var(--c6); }
ul.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; list-style: none; margin: 0 0 8px; padding: 0; }
ul.legend span { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 7px; }
table { border-collapse: collapse; width: 100%; margin-top: 20px; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 6px; }
th, td { padding: 6px 10px; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; overflow-wrap: break-word; min-width: 104px; max-width: 420px; } tfoot th, tfoot td { font-weight: 700; border-bottom: 0; }
summary { cursor: pointer; margin-top: 12px; color: var(--soft); } details table { margin-top: 8px; }
@media screen and (max-width: 600px) { body { padding: 16px 14px 32px; } svg.wide { display: none; } svg.narrow { display: block; }
  table { font-size: 13px; } th, td { padding: 6px 4px; } th:first-child, td:first-child { padding-left: 0; max-width: 150px; } }
@media print { body { max-width: none; padding: 0; font-size: 12px; } svg, tr { break-inside: avoid; } thead { display: table-header-group; }
  summary { display: none; } details::details-content { content-visibility: visible; height: auto; } }`;

/** Rows of the table before the rest is folded, so that no page is endless. */
const mostRows = 20;

/** What the page says above the figures. */
export interface PageText {
  readonly title: string;
  /** What the calls that were counted lack, one sentence each. */
  readonly incomplete: readonly string[];
  /** Which calls were counted, one sentence each. */
  readonly facts: readonly string[];
}

/** A self-contained page: no script, no font, no request. It has light and dark colors, and a table with all figures. */
export function reportPage(report: Report, text: PageText): string {
  const { rows, total, isTime } = report;
  const draw = isTime || report.across?.isTime === true ? columnsSvg : barsSvg;
  const names = legend(report);
  // Of a long stretch of time the latest part is what one looks at first.
  const folds = rows.length > mostRows + 5;
  const open = folds ? (isTime ? rows.slice(-mostRows) : rows.slice(0, mostRows)) : rows;
  const folded = folds ? (isTime ? rows.slice(0, -mostRows) : rows.slice(mostRows)) : [];
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
    ...[...report.hidden, ...text.facts].map((fact) => `<p>${markup(fact)}</p>`),
    ...(report.calls === 0 ? ['<p>No calls.</p>'] : [draw(report, 'wide'), draw(report, 'narrow')]),
    ...(names.length > 0
      ? [
          `<ul class="legend">${names.map((name, at) => `<li><span class="c${at}" aria-hidden="true"></span>${markup(name)}</li>`).join('')}</ul>`,
        ]
      : []),
    table(report, `${count(report.calls)} calls by ${report.by}`, open, total),
    ...(folded.length === 0
      ? []
      : [
          `<details><summary>${count(folded.length)} ${isTime ? 'earlier' : 'more'}</summary>`,
          table(report, isTime ? 'Earlier' : 'More', folded, null),
          '</details>',
        ]),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function table(
  { columns }: Report,
  caption: string,
  rows: readonly ReportRow[],
  total: readonly string[] | null,
): string {
  const row = (cells: readonly string[]): string =>
    `<tr><th scope="row">${markup(cells[0] ?? '')}</th>${cells
      .slice(1)
      .map((cell) => `<td>${markup(cell)}</td>`)
      .join('')}</tr>`;
  return [
    `<table><caption>${markup(caption)}</caption>`,
    `<thead><tr>${columns.map(({ title }) => `<th scope="col">${markup(title)}</th>`).join('')}</tr></thead>`,
    `<tbody>${rows.map(({ cells }) => row(cells)).join('\n')}</tbody>`,
    ...(total === null ? [] : [`<tfoot>${row(total)}</tfoot>`]),
    '</table>',
  ].join('\n');
}

import { bar, sparkline, squeeze } from '../term/chart.ts';
import { count } from '../term/numbers.ts';
import type { Style } from '../term/style.ts';
import { fitTable } from '../term/table.ts';
import { textWidth } from '../term/width.ts';
import type { Group, Measures, Report } from './tally.ts';

/** The report as lines for a terminal: figures, and for each group a bar or its development along the second dimension. */
export function reportLines(report: Report, options: { width: number | null; style: Style }): string[] {
  const { style } = options;
  const width = options.width ?? 100;
  const groups = report.rest ? [...report.groups, report.rest] : report.groups;
  const most = Math.max(...groups.map((group) => group.calls), 0);
  // Labels and figures come first. The picture gets the rest, up to a width that the eye can follow.
  const lines = [[report.rows.title, 'Calls', 'Share', 'Talk min', 'Mean'], ...groups.map(figures)];
  const taken = [0, 1, 2, 3, 4].reduce(
    (sum, at) => sum + Math.max(...lines.map((row) => textWidth(row[at] ?? ''))) + 2,
    0,
  );
  const picture = Math.max(10, Math.min(60, width - taken));
  const table = fitTable(
    [
      { title: report.rows.title, min: 10 },
      { title: 'Calls', align: 'right' },
      { title: 'Share', align: 'right' },
      { title: 'Talk min', align: 'right' },
      { title: 'Mean', align: 'right', min: 4 },
      { title: pictureTitle(report), min: Math.min(picture, 10) },
    ],
    groups.map((group) => [...figures(group), drawing(report, group, most, picture)]),
    { width: options.width, style },
  );
  const { total } = report;
  return [
    ...table.lines,
    '',
    style.bold(`${count(total.calls)} calls, ${minutes(total.talkMinutes)} talk minutes`),
  ];
}

/** The figures of a group as strings: key, calls, share, talk minutes, mean. */
export function figures(group: Pick<Group, 'key' | keyof Measures>): string[] {
  const mean = group.calls === 0 ? '' : (group.talkMinutes / group.calls).toFixed(1);
  return [
    group.key,
    count(group.calls),
    `${(group.share * 100).toFixed(1)}%`,
    minutes(group.talkMinutes),
    mean,
  ];
}

function minutes(value: number): string {
  const [whole = '0', tenth = '0'] = value.toFixed(1).split('.');
  return `${count(Number(whole))}.${tenth}`;
}

function pictureTitle(report: Report): string {
  if (!report.across) return '';
  const [first, last] = [report.axis[0], report.axis.at(-1)];
  if (!report.across.time) return `By ${report.across.title.toLowerCase()}`;
  return `${first ?? ''}..${last ?? ''}`;
}

function drawing(report: Report, group: Group, most: number, width: number): string {
  if (!report.across) return bar(group.calls, most, width);
  if (report.across.time) return sparkline(squeeze(group.series, width));
  const parts = [...group.spread]
    .map(([key, calls]) => ({ key, calls }))
    .filter((part) => part.calls > 0)
    .sort((a, b) => b.calls - a.calls);
  const shown = parts.slice(0, 3).map((part) => `${part.key} ${count(part.calls)}`);
  return [...shown, ...(parts.length > 3 ? [`${parts.length - 3} more`] : [])].join(', ');
}

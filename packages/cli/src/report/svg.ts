import { count } from '../term/numbers.ts';
import type { Report } from './tally.ts';

/** Text made safe for markup, inside and outside of attributes. */
export function markup(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .replace(/[&<>"']/g, (char) => entities[char] ?? char);
}

/** How many groups have their own color; the rest share the last one. */
const colors = 7;

const width = 880;

/** Horizontal bars, one for each group. */
export function barsSvg(report: Report): string {
  const groups = report.rest ? [...report.groups, report.rest] : report.groups;
  const most = Math.max(...groups.map((group) => group.calls), 1);
  const [labels, row] = [230, 26];
  const space = width - labels - 90;
  const bars = groups.map((group, at) => {
    const y = at * row;
    const length = Math.max(group.calls > 0 ? 2 : 0, (group.calls / most) * space);
    return (
      `<text x="${labels - 10}" y="${y + 17}" text-anchor="end">${markup(cut(group.key, 32))}</text>` +
      `<rect class="c0" x="${labels}" y="${y + 4}" width="${length.toFixed(1)}" height="${row - 8}" rx="2">` +
      `<title>${markup(group.key)}: ${count(group.calls)} calls</title></rect>` +
      `<text x="${(labels + length + 8).toFixed(1)}" y="${y + 17}">${count(group.calls)}</text>`
    );
  });
  return frame(report, groups.length * row, bars.join('\n'));
}

/** Vertical bars along time; with two dimensions, stacked by the other one. */
export function columnsSvg(report: Report): string {
  const { keys, stacks } = columns(report);
  const [left, top, bottom, height] = [56, 10, 34, 300];
  const sums = keys.map((_, at) => stacks.reduce((sum, stack) => sum + (stack.calls[at] ?? 0), 0));
  const most = nice(Math.max(...sums, 1));
  const slot = (width - left) / Math.max(1, keys.length);
  const scale = (height - top - bottom) / most;
  const ground = height - bottom;
  const lines = [0, 0.25, 0.5, 0.75, 1]
    .map((part) => most * part)
    .filter((value) => Number.isInteger(value))
    .map((value) => {
      const y = (ground - value * scale).toFixed(1);
      return `<line class="grid" x1="${left}" y1="${y}" x2="${width}" y2="${y}"/><text x="${left - 8}" y="${y}" dy="4" text-anchor="end">${count(value)}</text>`;
    });
  const bars = keys.flatMap((key, at) => {
    let y = ground;
    return stacks.flatMap((stack, which) => {
      const calls = stack.calls[at] ?? 0;
      if (calls === 0) return [];
      const size = calls * scale;
      y -= size;
      const label = stacks.length > 1 ? `${key}, ${stack.name}` : key;
      const x = left + at * slot + slot * 0.1;
      return [
        `<rect class="c${which}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${(slot * 0.8).toFixed(1)}" height="${size.toFixed(1)}"><title>${markup(label)}: ${count(calls)} calls</title></rect>`,
      ];
    });
  });
  const every = Math.ceil(keys.length / 11);
  const ticks = keys.map((key, at) =>
    at % every === 0
      ? `<text x="${(left + at * slot + slot / 2).toFixed(1)}" y="${height - 12}" text-anchor="middle">${markup(key)}</text>`
      : '',
  );
  return frame(report, height, [...lines, ...bars, ...ticks].filter(Boolean).join('\n'));
}

/** The names for the colors of a stacked chart, in order. */
export function legend(report: Report): string[] {
  const names = columns(report).stacks.map((stack) => stack.name);
  return names.length > 1 ? names : [];
}

function columns(report: Report): {
  keys: readonly string[];
  stacks: { name: string; calls: readonly number[] }[];
} {
  if (!report.across?.time) {
    const calls = report.groups.map((group) => group.calls);
    return { keys: report.groups.map((group) => group.key), stacks: [{ name: 'calls', calls }] };
  }
  const groups = report.rest ? [...report.groups, report.rest] : [...report.groups];
  const own = groups.length > colors ? groups.slice(0, colors - 1) : groups;
  const others = groups.slice(own.length);
  const rest = report.axis.map((_, at) => others.reduce((sum, group) => sum + (group.series[at] ?? 0), 0));
  return {
    keys: report.axis,
    stacks: [
      ...own.map((group) => ({ name: group.key, calls: group.series })),
      ...(others.length > 0 ? [{ name: 'all others', calls: rest }] : []),
    ],
  };
}

function frame(report: Report, height: number, inside: string): string {
  const over = report.across ? ` and ${report.across.title.toLowerCase()}` : '';
  const title = `Calls by ${report.rows.title.toLowerCase()}${over}`;
  return (
    `<svg viewBox="0 0 ${width} ${Math.max(30, height)}" role="img" aria-labelledby="chart-title chart-text">` +
    `<title id="chart-title">${markup(title)}</title>` +
    `<desc id="chart-text">The table below the chart has the same figures.</desc>\n${inside}\n</svg>`
  );
}

function cut(text: string, length: number): string {
  const chars = [...text];
  return chars.length <= length ? text : `${chars.slice(0, length - 1).join('')}…`;
}

// The next round number, so that the grid lines are at numbers a person would choose.
function nice(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(most));
  const step = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * unit >= most) ?? 10;
  return Math.max(4, step * unit);
}

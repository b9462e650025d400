import { count } from '../term/numbers.ts';
import type { Report } from './view.ts';

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

/** For which screens a chart is drawn: its text has the same size on both, so that it can be read on a phone too. */
export type ChartSize = 'wide' | 'narrow';

const widths: Readonly<Record<ChartSize, number>> = { wide: 880, narrow: 350 };
/** Width of a character at the size of the labels, in a wide font. */
const letter = 7.7;
/** Bars of a chart at most; the table has the others. */
const mostBars = 25;

/** Horizontal bars, one for each group. On a narrow screen the name is above its bar. */
export function barsSvg(report: Report, size: ChartSize = 'wide'): string {
  const groups = report.rows.slice(0, mostBars);
  const most = Math.max(...groups.map(({ value }) => value), 0) || 1;
  const width = widths[size];
  const longest = Math.max(...groups.map(({ name }) => [...name].length));
  const isNarrow = size === 'narrow';
  const labels = isNarrow ? 0 : Math.min(400, Math.max(120, Math.ceil(longest * letter) + 16));
  const row = isNarrow ? 42 : 26;
  const space = width - labels - 20 - Math.max(...groups.map(({ shown }) => shown.length)) * letter;
  const bars = groups.map((group, at) => {
    const y = at * row + (isNarrow ? 18 : 0);
    const length = Math.max(group.value > 0 ? 2 : 0, (group.value / most) * space);
    const name = markup(cut(group.name, Math.floor((isNarrow ? width : labels - 10) / letter)));
    const label = isNarrow
      ? `<text x="0" y="${y - 2}">${name}</text>`
      : `<text x="${labels - 10}" y="${y + 17}" text-anchor="end">${name}</text>`;
    return (
      label +
      `<rect class="c0" x="${labels}" y="${y + 4}" width="${length.toFixed(1)}" height="18" rx="2">` +
      `<title>${markup(group.name)}: ${markup(group.shown)}</title></rect>` +
      `<text x="${(labels + length + 8).toFixed(1)}" y="${y + 17}">${markup(group.shown)}</text>`
    );
  });
  return frame(report, size, groups.length * row, bars.join('\n'));
}

/** Vertical bars along time; with two dimensions, stacked by the other one. */
export function columnsSvg(report: Report, size: ChartSize = 'wide'): string {
  const { keys, stacks, shown } = columns(report);
  const width = widths[size];
  const [top, bottom, height] = [10, 34, size === 'wide' ? 300 : 230];
  const sums = keys.map((_, at) => stacks.reduce((sum, stack) => sum + (stack.calls[at] ?? 0), 0));
  const isWhole = sums.every(Number.isInteger);
  const most = nice(Math.max(...sums, 0) || 1, isWhole);
  const gridText = (value: number): string => (isWhole ? count(value) : String(Number(value.toPrecision(3))));
  const left =
    Math.ceil(Math.max(...[0.25, 0.5, 0.75, 1].map((part) => gridText(most * part).length)) * letter) + 14;
  const slot = (width - left) / Math.max(1, keys.length);
  const scale = (height - top - bottom) / most;
  const ground = height - bottom;
  const lines = [0, 0.25, 0.5, 0.75, 1]
    .map((part) => most * part)
    .filter((value) => !isWhole || Number.isInteger(value))
    .map((value) => {
      const y = (ground - value * scale).toFixed(1);
      return `<line class="grid" x1="${left}" y1="${y}" x2="${width}" y2="${y}"/><text x="${left - 8}" y="${y}" dy="4" text-anchor="end">${gridText(value)}</text>`;
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
        `<rect class="c${which}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${(slot * 0.8).toFixed(1)}" height="${size.toFixed(1)}"><title>${markup(label)}: ${markup(shown(at, calls))}</title></rect>`,
      ];
    });
  });
  return frame(
    report,
    size,
    height,
    [...lines, ...bars, ...ticks(keys, { left, width, y: height - 12 })].join('\n'),
  );
}

/** Labels along time, as many as fit next to each other; each stays within the chart. */
function ticks(
  keys: readonly string[],
  { left, width, y }: { readonly left: number; readonly width: number; readonly y: number },
): string[] {
  const slot = (width - left) / Math.max(1, keys.length);
  const half = (Math.max(...keys.map((key) => key.length), 1) * letter) / 2;
  const every = Math.max(1, Math.ceil((2 * half + 14) / slot));
  return keys.flatMap((key, at) => {
    if (at % every !== 0) return [];
    const middle = left + at * slot + slot / 2;
    const x = Math.min(Math.max(middle, half), width - half);
    // A label that had to move must not touch the one before it.
    if (at > 0 && x - (middle - every * slot) < 2 * half + 4) return [];
    return [`<text x="${x.toFixed(1)}" y="${y}" text-anchor="middle">${markup(key)}</text>`];
  });
}

/** The names for the colors of a stacked chart, in order. */
export function legend(report: Report): string[] {
  const names = columns(report).stacks.map((stack) => stack.name);
  return names.length > 1 ? names : [];
}

function columns({ rows, across }: Report): {
  keys: readonly string[];
  stacks: { name: string; calls: readonly number[] }[];
  shown: (at: number, calls: number) => string;
} {
  if (!across?.isTime) {
    return {
      keys: rows.map(({ name }) => name),
      stacks: [{ name: 'calls', calls: rows.map(({ value }) => value) }],
      shown: (at) => rows[at]?.shown ?? '',
    };
  }
  const others = (own: typeof rows) =>
    across.totals.map((total, at) => own.reduce((left, { series }) => left - (series[at] ?? 0), total));
  const isAll = rows.length <= colors && others(rows).every((calls) => calls === 0);
  const own = isAll ? rows : rows.slice(0, colors - 1);
  const rest = others(own);
  return {
    keys: across.axis,
    stacks: [
      ...own.map(({ name, series }) => ({ name, calls: series })),
      ...(rest.some((calls) => calls > 0) ? [{ name: 'all others', calls: rest }] : []),
    ],
    shown: (_, calls) => `${count(calls)} calls`,
  };
}

function frame(report: Report, size: ChartSize, height: number, inside: string): string {
  return (
    `<svg class="${size}" viewBox="0 0 ${widths[size]} ${Math.max(30, height)}" role="img" aria-labelledby="${size}-title ${size}-text">` +
    `<title id="${size}-title">${markup(report.title)}</title>` +
    `<desc id="${size}-text">The table below the chart has the same figures.</desc>\n${inside}\n</svg>`
  );
}

function cut(text: string, length: number): string {
  const chars = [...text];
  return chars.length <= length ? text : `${chars.slice(0, length - 1).join('')}…`;
}

// The next round number, so that the grid lines are at numbers a person would choose.
function nice(most: number, isWhole: boolean): number {
  const unit = 10 ** Math.floor(Math.log10(most));
  const step = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * unit >= most) ?? 10;
  return Math.max(isWhole ? 4 : 0, step * unit);
}

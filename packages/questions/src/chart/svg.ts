import {
  type Charted,
  type ChartOptions,
  type Picture,
  type Place,
  pictureOf,
  valueInWords,
} from './picture.ts';
import { withPart } from './time.ts';
import { formatCount, formatValue, markup, type ShownColumn } from './words.ts';

/** Width of a character of the labels, in a wide font. */
const letter = 7.7;
const widest = (texts: readonly string[]): number =>
  Math.ceil(Math.max(0, ...texts.map((text) => [...text].length)) * letter);
const round = (value: number): string => String(Number(value.toFixed(1)));

/**
 * Draws an answer: bars along time where one of its groups is a time, otherwise a bar for each group. The result is an `<svg>` as text,
 * whose colors are in `chartStyle`. Empty when there is nothing to draw.
 */
export function chartSvg(answer: Charted, options: ChartOptions = {}): string {
  const picture = pictureOf(answer, options);
  if (picture === null) return '';
  const width = Math.max(240, Math.round(options.width ?? 880));
  const { height, inside } =
    picture.kind === 'bars'
      ? bars(picture, width, options)
      : overTime(picture, { width, height: options.height ?? 300, press: options.press });
  const role = options.press === undefined ? 'img' : 'group';
  const label = markup(inWords(picture));
  return `<svg class="chart" viewBox="0 0 ${width} ${height}" role="${role}" aria-label="${label}">\n${inside}\n</svg>`;
}

/** The names of the colors of a chart as a list, for below it. Empty when the chart has one color. */
export function chartLegend(answer: Charted, options: ChartOptions = {}): string {
  const picture = pictureOf(answer, options);
  if (picture === null) return '';
  const { series, places, bucket } = picture;
  const entries = [
    ...(series.length > 1 ? series.map(({ name, color }) => [color, name] as const) : []),
    ...(places.some(({ part }) => part !== null) ? [['c1 part', `Part of a ${bucket}`] as const] : []),
  ];
  if (entries.length === 0) return '';
  const items = entries.map(([color, name]) => `<li><span class="${color}"></span>${markup(name)}</li>`);
  return `<ul class="chart-legend">${items.join('')}</ul>`;
}

const valueAt = ({ series }: Picture, at: number): number | null => {
  const known = series.flatMap(({ values }) => values[at] ?? []);
  return known.length === 0 ? null : known.reduce((all, value) => all + value, 0);
};

/** The chart in one sentence. */
function inWords(picture: Picture): string {
  const { title, places, kind, column } = picture;
  const span = `from ${places[0]?.title ?? ''} to ${places.at(-1)?.title ?? ''}`;
  if (kind === 'lines') return `${title} ${span}.`;
  const values = places.map((_, at) => valueAt(picture, at));
  const most = values.reduce<number>(
    (best, value, at) => ((value ?? -1) > (values[best] ?? -1) ? at : best),
    0,
  );
  const all = formatCount(values.reduce<number>((sum, value) => sum + (value ?? 0), 0));
  const over = column.unit === 'calls' ? `: ${all} ${span}` : ` ${span}`;
  const extent = kind === 'bars' ? '' : over;
  return `${title}${extent}; most in ${places[most]?.title ?? ''}, ${valueInWords(column, values[most] ?? null)}.`;
}

/** What is said of a place: its name, its value, and of what it is made. */
function placeInWords(picture: Picture, at: number): { readonly name: string; readonly value: string } {
  const { places, series, column } = picture;
  const missed = series.find(({ color }) => color === 'missed')?.values[at] ?? null;
  return {
    name: withPart(places[at]?.title ?? '', places[at]?.part ?? null),
    value: `${valueInWords(column, valueAt(picture, at))}${missed === null ? '' : `, ${formatCount(missed)} missed`}`,
  };
}

/** One place with its bar: a button where it can be pressed, otherwise with a tooltip. */
function placeGroup(
  picture: Picture,
  at: number,
  inside: string,
  press: string | undefined,
  hit: string,
): string {
  const { name, value } = placeInWords(picture, at);
  const text = `${markup(name)}: ${markup(value)}`;
  const part = picture.places[at]?.part === null ? '' : ' part';
  if (press === undefined) return inside === '' ? '' : `<g class="place${part}">${inside}</g>`;
  const index = at === picture.places.length - 1 ? 0 : -1;
  return `<g class="place column${part}" role="button" tabindex="${index}" data-at="${at}" data-name="${markup(name)}" data-value="${markup(value)}" aria-label="${text}. ${markup(press)}">${hit}${inside}</g>`;
}

/** The color of a segment: of a group without a value it is gray, whatever the segment. */
const colorOf = ({ isNone }: Place, color: string): string => (isNone && color === 'c1' ? 'none' : color);

function bars(picture: Picture, width: number, { press }: ChartOptions): { height: number; inside: string } {
  const { places, series, column } = picture;
  const isNarrow = width < 520;
  const sums = places.map((_, at) => valueAt(picture, at));
  const shown = sums.map((value) => formatValue(column, value));
  const most = Math.max(...sums.map((value) => Math.abs(value ?? 0))) || 1;
  const labels = isNarrow
    ? 0
    : Math.min(width * 0.42, Math.max(90, widest(places.map(({ label }) => label)) + 14));
  const row = isNarrow ? 42 : 28;
  const space = width - labels - widest(shown) - 14;
  const drawn = places.map((place, at) => {
    const y = at * row + (isNarrow ? 20 : 4);
    let x = labels;
    const segments = series.map(({ color, values }) => {
      const value = Math.abs(values[at] ?? 0);
      if (value === 0) return '';
      const length = Math.max(1.5, (value / most) * space);
      const rect = `<rect class="bar ${colorOf(place, color)}" x="${round(x)}" y="${y}" width="${round(length)}" height="18"/>`;
      x += length;
      return rect;
    });
    const { name, value } = placeInWords(picture, at);
    const text = markup(cut(place.label, Math.floor((isNarrow ? width : labels - 10) / letter)));
    const label = isNarrow
      ? `<text class="name" x="0" y="${y - 5}">${text}</text>`
      : `<text class="name" x="${round(labels - 10)}" y="${y + 13}" text-anchor="end">${text}</text>`;
    const number = `<text class="value" x="${round(x + 7)}" y="${y + 13}">${markup(shown[at] ?? '')}</text>`;
    const title = `<title>${markup(name)}: ${markup(value)}</title>`;
    const hit = `<rect class="hit" x="0" y="${at * row}" width="${width}" height="${row}"/>`;
    return placeGroup(picture, at, `${title}${label}${segments.join('')}${number}`, press, hit);
  });
  return { height: places.length * row + 4, inside: drawn.join('\n') };
}

interface Size {
  readonly width: number;
  readonly height: number;
  readonly press: string | undefined;
}

function overTime(picture: Picture, size: Size): { height: number; inside: string } {
  const { kind, series, column, places } = picture;
  const { width, height } = size;
  const values =
    kind === 'lines' ? series.flatMap((one) => one.values.flatMap((value) => value ?? [])) : sumsOf(picture);
  const lines = gridOf(Math.min(0, ...values), Math.max(0, ...values), column);
  const [low, high] = [lines[0]?.value ?? 0, lines.at(-1)?.value ?? 1];
  const left = widest(lines.map(({ text }) => text)) + 12;
  const [top, ground] = [10, height - 26];
  const y = (value: number): number => ground - ((value - low) / (high - low || 1)) * (ground - top);
  const grid = lines.map(({ value, text }) => {
    const at = Math.round(y(value)) + 0.5;
    return `<line x1="${left}" x2="${width}" y1="${at}" y2="${at}"/><text x="${left - 8}" y="${at + 4}" text-anchor="end" aria-hidden="true">${markup(text)}</text>`;
  });
  const step = (width - left) / Math.max(1, places.length);
  const place = { ...size, left, top, ground, step, y };
  const drawn = kind === 'lines' ? linesOf(picture, place) : columnsOf(picture, place);
  return { height, inside: [...grid, ...drawn, ...ticks(places, place)].join('\n') };
}

const sumsOf = (picture: Picture): number[] => picture.places.flatMap((_, at) => valueAt(picture, at) ?? []);

interface Frame extends Size {
  readonly left: number;
  readonly top: number;
  readonly ground: number;
  readonly step: number;
  readonly y: (value: number) => number;
}

function columnsOf(picture: Picture, { left, top, ground, step, y, press }: Frame): string[] {
  const { places, series, column } = picture;
  return places.map((place, at) => {
    let base = 0;
    const { name, value: text } = placeInWords(picture, at);
    const segments = series.map(({ name: part, color, values }) => {
      const value = values[at] ?? 0;
      if (value === 0) return '';
      const [from, to] = [y(base), y(base + value)];
      base += value;
      const own =
        part === '' || color === 'missed' || part === 'Answered'
          ? text
          : `${part}: ${valueInWords(column, value)}`;
      const title = press === undefined ? `<title>${markup(name)}: ${markup(own)}</title>` : '';
      const shape = `class="bar ${colorOf(place, color)}" x="${round(left + (at + 0.12) * step)}" y="${round(Math.min(from, to))}" width="${round(Math.max(1, step * 0.76))}" height="${round(Math.abs(from - to))}"`;
      return title === '' ? `<rect ${shape}/>` : `<rect ${shape}>${title}</rect>`;
    });
    const hit = `<rect class="hit" x="${round(left + at * step)}" y="${top}" width="${round(step)}" height="${round(ground - top)}"/>`;
    return placeGroup(picture, at, segments.join(''), press, hit);
  });
}

function linesOf({ places, series, column }: Picture, { left, step, y }: Frame): string[] {
  return series.map(({ name, color, values }) => {
    const points = values.flatMap((value, at) =>
      value === null ? [] : [{ x: round(left + (at + 0.5) * step), y: round(y(value)), value, at }],
    );
    const path = points.map((point) => `${point.x},${point.y}`).join(' ');
    const dots = points.map(({ x, y, value, at }) => {
      const title = `${withPart(places[at]?.title ?? '', places[at]?.part ?? null)}, ${name}: ${valueInWords(column, value)}`;
      return `<circle class="dot ${color}" cx="${x}" cy="${y}" r="2.5"><title>${markup(title)}</title></circle>`;
    });
    return `<polyline class="line ${color}" points="${path}"/>${places.length <= 60 ? dots.join('') : ''}`;
  });
}

/** Labels along time, as many as fit next to each other; each stays within the chart. */
function ticks(places: readonly Place[], { left, width, height, step }: Frame): string[] {
  const half = Math.max(letter, widest(places.map(({ label }) => label))) / 2;
  const every = Math.max(1, Math.ceil((2 * half + 12) / step));
  let end = Number.NEGATIVE_INFINITY;
  return places.flatMap(({ label }, at) => {
    if (at % every !== 0) return [];
    const x = Math.min(left + (at + 0.5) * step, width - half);
    // A label that had to move must not touch the one before it.
    if (x - half < end + 8) return [];
    end = x + half;
    return [
      `<text x="${round(x)}" y="${height - 8}" text-anchor="middle" aria-hidden="true">${markup(label)}</text>`,
    ];
  });
}

/** Lines at numbers that a person would choose, about four of them, with what stands next to each. */
function gridOf(low: number, high: number, { unit }: ShownColumn): { value: number; text: string }[] {
  const isWhole = unit !== 'share' && unit !== 'minutes' && unit !== 'money' && unit !== 'number';
  const scale = unit === 'share' ? 100 : 1;
  const range = (high - low) * scale || 1;
  const size = 10 ** Math.floor(Math.log10(range / 4));
  const fitting = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((each) => range / each <= 4.001);
  const step = Math.max(isWhole ? 1 : 0, isWhole ? Math.ceil(fitting ?? size) : (fitting ?? size));
  const first = Math.floor((low * scale) / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil((high * scale) / step - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const value = Number(((first + i) * step).toPrecision(12));
    const [whole = '0', fraction] = String(Math.abs(value)).split('.');
    const text = `${value < 0 ? '-' : ''}${formatCount(Number(whole))}${fraction === undefined ? '' : `.${fraction}`}`;
    return { value: value / scale, text: unit === 'share' ? `${text}%` : text };
  });
}

function cut(text: string, length: number): string {
  const chars = [...text];
  return chars.length <= length ? text : `${chars.slice(0, Math.max(1, length - 1)).join('')}…`;
}

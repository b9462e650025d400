import { formatCount, formatCounted } from '@call-attribution/core/errors';
import { shownValue } from '../answer/left-out.ts';
import { weekdays } from '../fields/calendar.ts';
import type { Answer, AnswerValue } from '../question/answer.ts';
import {
  daysOfBucket,
  formatDate,
  longTime,
  partOfBucket,
  type Stretch,
  shortTime,
  withPart,
} from './time.ts';
import { columnTitle, formatValue, markup, type ShownColumn } from './words.ts';

/** What a chart is drawn of: an answer, or as much of one as there is. */
export interface Charted {
  /** The columns of the rows. */
  readonly columns: readonly ShownColumn[];
  /** The rows, by column name. */
  readonly rows: readonly Readonly<Record<string, AnswerValue>>[];
  /** The period: the first or last day, week or month that it does not cover is marked. */
  readonly period?: Stretch;
  /**
   * Instead of a period: how much there is of the days, weeks or months that are not whole, by
   * their value.
   */
  readonly parts?: Readonly<Record<string, string>>;
}

/** A day with a sentence that a chart over time shows, such as `new landing page`. */
export interface ChartMark {
  /** The day, as `2026-10-05`. */
  readonly date: string;
  /** What happened. */
  readonly text: string;
}

/** How a chart is drawn. */
export interface ChartOptions {
  /** Width in pixels. Default 880; below 520 names are above their bars. */
  readonly width?: number;
  /** Height of a chart over time in pixels. Default 300. */
  readonly height?: number;
  /** The column that is drawn. Default: the first measure that is a number. */
  readonly measure?: string;
  /**
   * The answer by time alone, where the one that is drawn has not all groups: what it lacks is
   * drawn as all others.
   */
  readonly totals?: Charted;
  /** Days that are marked in a chart by day, week or month, with numbers that the legend explains. */
  readonly marks?: readonly ChartMark[];
  /**
   * What happens when a bar is pressed, for people who do not see it, such as `Show only these`.
   * Makes each bar a button.
   */
  readonly press?: string;
}

/** A place on the axis: a bucket of time, or a group. */
interface Place {
  readonly label: string;
  readonly title: string;
  /** How much of the day, week or month there is; null for all of it. */
  readonly part: string | null;
  /** The marks of its days, by their numbers. */
  readonly marks: readonly number[];
}

/**
 * What is drawn at each place: a segment of each bar, or a line. The name is empty when there is
 * one only.
 */
interface Series {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

/** A chart before it is drawn. */
interface Picture {
  readonly kind: 'columns' | 'lines' | 'bars' | 'grid';
  readonly column: ShownColumn;
  /** Such as `Calls by campaign and day`. */
  readonly title: string;
  /** What a place is a part of, such as `week`. */
  readonly bucket: string;
  readonly places: readonly Place[];
  readonly series: readonly Series[];
  /** The marks that are drawn; the first has the number 1. */
  readonly marks: readonly ChartMark[];
}

/**
 * Groups that are bars at most, where the groups are no time; and series that have a color of their
 * own.
 */
const mostBars = 20;
const mostColors = 6;

type Row = Charted['rows'][number];
const numberIn = (row: Row | undefined, name: string): number | null => {
  const value = row?.[name];
  return typeof value === 'number' ? value : null;
};
const none = shownValue(null);

/** What is to be drawn of an answer; null when there is nothing. */
function pictureOf(
  charted: Charted,
  { measure, totals, marks = [] }: ChartOptions,
): Picture | null {
  const { columns, rows, period, parts = {} } = charted;
  const groups = columns.filter(({ kind }) => kind === 'group');
  const column = columns.find(
    ({ name, kind, unit }) => kind !== 'group' && unit !== 'time' && (measure ?? name) === name,
  );
  if (column === undefined || groups.length === 0) return null;
  if (!rows.some((row) => numberIn(row, column.name) !== null)) return null;
  const time = groups.find(({ unit }) => unit === 'time');
  const others = groups.filter((group) => group !== time);
  const namesOf = (row: Row): string => others.map(({ name }) => shownValue(row[name])).join(', ');
  const names = groups.map(({ name }) => columnTitle(name).toLowerCase());
  const picture = {
    column,
    title: `${columnTitle(column.name, column.unit)} by ${names.join(' and ')}`,
    bucket: time?.name ?? '',
  };
  if (groups.length === 2 && week.every((name) => groups.some((group) => group.name === name)))
    return { ...picture, kind: 'grid', ...ofWeek(rows, column), marks: [] };

  if (time === undefined) {
    const drawn = rows.slice(0, mostBars);
    const places = drawn.map((row) => ({
      label: namesOf(row),
      title: namesOf(row),
      part: null,
      marks: [],
    }));
    const series = splitByMissed(columns, drawn, column);
    return { ...picture, kind: 'bars', places, series, marks: [] };
  }

  const keys = [...new Set((totals ?? charted).rows.map((row) => row[time.name] ?? null))].sort(
    byTime,
  );
  const shownMarks: ChartMark[] = [];
  const marksOf = (key: string): number[] => {
    const days = daysOfBucket(time.name, key);
    if (days === null) return [];
    return marks
      .filter(({ date }) => date >= days.first && date <= days.last)
      .map((mark) => shownMarks.push(mark));
  };

  const places = keys.map((key): Place => {
    if (key === null) return { label: none, title: none, part: null, marks: [] };
    const text = String(key);
    const part =
      parts[text] ?? (period === undefined ? null : partOfBucket(time.name, text, period));
    const title = longTime(time.name, text);
    return { label: shortTime(time.name, text), title, part, marks: marksOf(text) };
  });

  const laid = (own: readonly Row[]): (Row | undefined)[] => {
    const byKey = new Map(own.map((row) => [row[time.name] ?? null, row]));
    return keys.map((key) => byKey.get(key));
  };

  if (others.length === 0)
    return {
      ...picture,
      kind: 'columns',
      places,
      series: splitByMissed(columns, laid(rows), column),
      marks: shownMarks,
    };

  const found = new Map<string, Row[]>();
  for (const row of rows) found.set(namesOf(row), [...(found.get(namesOf(row)) ?? []), row]);
  const valuesOf = (own: readonly Row[]) => laid(own).map((row) => numberIn(row, column.name));
  const series = Array.from(found, ([name, own]) => ({ name, values: valuesOf(own) }));
  if (column.addsUp !== true) {
    const colored = series
      .slice(0, mostColors)
      .map((one, i) => ({ ...one, color: one.name === none ? 'none' : `c${i + 1}` }));
    return { ...picture, kind: 'lines', places, series: colored, marks: shownMarks };
  }

  return {
    ...picture,
    kind: 'columns',
    places,
    series: stacked(series, totals && valuesOf(totals.rows)),
    marks: shownMarks,
  };
}

/** Two groups that are drawn as a grid: a line for each weekday, with its hours. */
const week = ['weekday', 'hour'];

function ofWeek(rows: readonly Row[], { name }: ShownColumn): Pick<Picture, 'places' | 'series'> {
  const hours = Array.from({ length: 24 }, (_, hour) => String(hour));
  const cells = new Map(rows.map((row) => [`${row.weekday} ${row.hour}`, numberIn(row, name)]));
  return {
    places: hours.map((hour) => ({ label: hour, title: `${hour}:00`, part: null, marks: [] })),
    series: weekdays.map((weekday) => ({
      name: weekday,
      color: '',
      values: hours.map((hour) => cells.get(`${weekday} ${hour}`) ?? null),
    })),
  };
}

/** Calls are shown as answered and missed where both are known. */
function splitByMissed(
  columns: readonly ShownColumn[],
  rows: readonly (Row | undefined)[],
  { name }: ShownColumn,
): Series[] {
  const values = rows.map((row) => numberIn(row, name));
  const isSplit = name === 'calls' && columns.some((column) => column.name === 'missed');
  if (!isSplit) return [{ name: '', color: 'c1', values }];
  const missed = rows.map((row) => numberIn(row, 'missed') ?? 0);
  return [
    {
      name: 'Answered',
      color: 'c1',
      values: values.map((calls, at) => (calls ?? 0) - (missed[at] ?? 0)),
    },
    { name: 'Missed', color: 'missed', values: missed },
  ];
}

const sum = (values: readonly (number | null | undefined)[]): number =>
  values.reduce<number>((all, value) => all + (value ?? 0), 0);

/**
 * The largest series have colors; what has no value, and all others together, are gray and on top.
 */
function stacked(
  series: readonly Omit<Series, 'color'>[],
  all: Series['values'] | undefined,
): Series[] {
  const ranked = [...series].sort((a, b) => sum(b.values) - sum(a.values));
  const named = ranked.filter(({ name }) => name !== none);
  const shown = [
    ...named.slice(0, mostColors).map((one, i) => ({ ...one, color: `c${i + 1}` })),
    ...ranked.filter(({ name }) => name === none).map((one) => ({ ...one, color: 'none' })),
  ];
  const at = (list: readonly Omit<Series, 'color'>[], place: number): number =>
    sum(list.map(({ values }) => values[place]));
  const rest = (series[0]?.values ?? []).map(
    (_, place) => (all === undefined ? at(ranked, place) : (all[place] ?? 0)) - at(shown, place),
  );
  return rest.some((value) => value > 1e-9)
    ? [...shown, { name: 'All others', color: 'rest', values: rest }]
    : shown;
}

/** In the order of time, whatever the rows are ordered by; what has no time comes last. */
function byTime(a: AnswerValue, b: AnswerValue): number {
  if (a === null) return b === null ? 0 : 1;
  if (b === null) return -1;
  const placeOf = (key: string | number | boolean) =>
    weekdays.includes(String(key)) ? weekdays.indexOf(String(key)) : key;
  const one = placeOf(a);
  const other = placeOf(b);
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The period of an answer as far as calls of it are known. `until` is when they were read. */
export function covered(
  { period, known }: Pick<Answer, 'period' | 'known'>,
  until: string | null = null,
): Stretch {
  const ends = [period.to, known.to, until].filter((end) => end !== null).sort();
  const begins = [period.from, known.from].filter((begin) => begin !== null).sort();
  return { from: begins.at(-1) ?? null, to: ends[0] ?? null };
}

/** A value of the drawn column in words: `3 calls`, `2.5 minutes`, `12.0%`. */
function valueInWords(column: ShownColumn, value: number | null): string {
  const text = formatValue(column, value);
  if (column.name === 'calls' && value !== null) return formatCounted(value, 'call');
  return column.unit === 'minutes' && text !== '' ? `${text} minutes` : text;
}

/** Width of a character of the labels, in a wide font. */
const letter = 7.7;
const widest = (texts: readonly string[]): number =>
  Math.ceil(Math.max(0, ...texts.map((text) => [...text].length)) * letter);
const round = (value: number): string => String(Number(value.toFixed(1)));

/**
 * Draws an answer: bars along time where one of its groups is a time, otherwise a bar for each
 * group. The result is an `<svg>` as text, whose colors are in `chartStyle`. Empty when there is
 * nothing to draw.
 */
export function chartSvg(answer: Charted, options: ChartOptions = {}): string {
  const picture = pictureOf(answer, options);
  if (picture === null) return '';
  const { press, height: asked = 300 } = options;
  const width = Math.max(240, Math.round(options.width ?? 880));
  const draw = { bars, grid, columns: overTime, lines: overTime }[picture.kind];
  const { height, inside } = draw(picture, width, press, asked);
  const role = press === undefined ? 'img' : 'group';
  const label = markup(inWords(picture));
  return `<svg class="chart" viewBox="0 0 ${width} ${height}" role="${role}" aria-label="${label}">\n${inside.join('\n')}\n</svg>`;
}

/**
 * The names of the colors of a chart, and its marks, as a list for below it. Empty when the chart
 * has one color and no mark.
 */
export function chartLegend(answer: Charted, options: ChartOptions = {}): string {
  const picture = pictureOf(answer, options);
  if (picture === null) return '';
  const { kind, series, places, bucket, marks } = picture;
  if (kind === 'grid') return '';
  const entries = series.length > 1 ? series.map(({ name, color }) => [color, name]) : [];
  if (places.some(({ part }) => part !== null)) entries.push(['c1 part', `Part of a ${bucket}`]);
  const items = entries.map(
    ([color, name = '']) => `<li><span class="${color}"></span>${markup(name)}</li>`,
  );
  for (const [index, mark] of marks.entries())
    items.push(`<li><b>${index + 1}</b> ${markup(markInWords(mark))}</li>`);
  return items.length === 0 ? '' : `<ul class="chart-legend">${items.join('')}</ul>`;
}

/** The marks that a chart shows: those of its days, weeks or months. */
export const chartMarks = (answer: Charted, options: ChartOptions): readonly ChartMark[] =>
  pictureOf(answer, options)?.marks ?? [];

/** A mark in words: `5 Oct 2026: new landing page`. */
export const markInWords = ({ date, text }: ChartMark): string =>
  `${formatDate(date, true)}: ${text}`;

/** What all series have at each place. */
const sumsOf = ({ series, places }: Picture): (number | null)[] =>
  places.map((_, at) => {
    const known = series.map(({ values }) => values[at] ?? null).filter((value) => value !== null);
    return known.length === 0 ? null : sum(known);
  });

/** The chart in one sentence. */
function inWords(picture: Picture): string {
  const { title, places, series, kind, column } = picture;
  const span = ` from ${places[0]?.title ?? ''} to ${places.at(-1)?.title ?? ''}`;
  if (kind === 'lines') return `${title}${span}.`;
  if (kind === 'grid') {
    const cells = series.flatMap(({ name, values }) =>
      values.map((value, at) => ({ name: `${name} ${places[at]?.title}`, value: value ?? 0 })),
    );
    const [first] = cells.sort((one, other) => other.value - one.value);
    return `${title}; most on ${first?.name}, ${valueInWords(column, first?.value ?? null)}.`;
  }

  const values = sumsOf(picture);
  const most = values.indexOf(Math.max(...values.filter((value) => value !== null)));
  const all = column.unit === 'calls' ? `: ${formatCount(sum(values))}` : '';
  const extent = kind === 'bars' ? '' : `${all}${span}`;
  return `${title}${extent}; most in ${places[most]?.title ?? ''}, ${valueInWords(column, values[most] ?? null)}.`;
}

/**
 * What is drawn at each place, as a group: a button where it can be pressed, and its value in
 * words.
 */
function placesOf(
  picture: Picture,
  press: string | undefined,
  draw: (
    place: Place,
    at: number,
    said: string,
  ) => { readonly drawn: string; readonly hit: string },
): string[] {
  const { places, series, column } = picture;
  const sums = sumsOf(picture);
  const missed = series.find(({ color }) => color === 'missed')?.values;
  return places.map((place, at) => {
    const name = markup(withPart(place.title, place.part));
    const more = missed === undefined ? '' : `, ${formatCount(missed[at] ?? 0)} missed`;
    const value = markup(`${valueInWords(column, sums[at] ?? null)}${more}`);
    const { drawn, hit } = draw(place, at, value);
    const part = place.part === null ? '' : ' part';
    if (press === undefined) return drawn === '' ? '' : `<g class="place${part}">${drawn}</g>`;
    const index = at === places.length - 1 ? 0 : -1;
    return `<g class="place column${part}" role="button" tabindex="${index}" data-at="${at}" data-name="${name}" data-value="${value}" aria-label="${name}: ${value}. ${markup(press)}">${hit}${drawn}</g>`;
  });
}

/** The color of a segment: of a group without a value it is gray. */
const colorOf = ({ label }: Place, color: string): string =>
  label === none && color === 'c1' ? 'none' : color;

function bars(picture: Picture, width: number, press: string | undefined) {
  const { places, series, column } = picture;
  const isNarrow = width < 520;
  const sums = sumsOf(picture);
  const shown = sums.map((value) => formatValue(column, value));
  const most = Math.max(...sums.map((value) => Math.abs(value ?? 0))) || 1;
  const usual = Math.max(90, widest(places.map(({ label }) => label)) + 14);
  const labels = isNarrow ? 0 : Math.min(width * 0.42, usual);
  const row = isNarrow ? 42 : 28;
  const space = width - labels - widest(shown) - 14;
  const letters = Math.floor((isNarrow ? width : labels - 10) / letter);
  const inside = placesOf(picture, press, (place, at, said) => {
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
    const text = markup(cut(place.label, letters));
    const label = isNarrow
      ? `<text class="name" x="0" y="${y - 5}">${text}</text>`
      : `<text class="name" x="${round(labels - 10)}" y="${y + 13}" text-anchor="end">${text}</text>`;
    const number = `<text class="value" x="${round(x + 7)}" y="${y + 13}">${markup(shown[at] ?? '')}</text>`;
    return {
      drawn: `<title>${markup(place.title)}: ${said}</title>${label}${segments.join('')}${number}`,
      hit: `<rect class="hit" x="0" y="${at * row}" width="${width}" height="${row}"/>`,
    };
  });
  return { height: places.length * row + 4, inside };
}

/** Cells that are the darker the more they stand for, with their numbers where these fit. */
function grid({ places, series, column }: Picture, width: number) {
  const left = widest(series.map(({ name }) => name)) + 16;
  const step = (width - left) / places.length;
  const row = Math.max(18, Math.min(28, step));
  const values = series.flatMap((each) => each.values);
  const most = Math.max(...values.map((value) => value ?? 0)) || 1;
  const hasNumbers = step >= widest(values.map((value) => formatValue(column, value))) + 4;
  const inside = series.flatMap(({ name, values: own }, line) => {
    const y = line * row;
    const label = `<text class="name" x="${left - 10}" y="${y + row / 2 + 4}" text-anchor="end" aria-hidden="true">${name}</text>`;
    const cells = own.map((value, at) => {
      const x = left + at * step;
      const shade = value === null ? 0.04 : 0.04 + 0.5 * (value / most);
      const title = `${name} ${places[at]?.title}: ${markup(valueInWords(column, value ?? 0))}`;
      const text = hasNumbers && value ? markup(formatValue(column, value)) : '';
      const number = `<text class="value" x="${round(x + step / 2)}" y="${y + row / 2 + 4}" text-anchor="middle" aria-hidden="true">${text}</text>`;
      return `<g class="place"><title>${title}</title><rect class="cell" x="${round(x + 1)}" y="${y + 1}" width="${round(step - 2)}" height="${row - 2}" rx="3" fill-opacity="${shade.toFixed(2)}"/>${text === '' ? '' : number}</g>`;
    });
    return [label, ...cells];
  });
  const every = step >= 24 ? 1 : 3;
  const hours = places.map(({ label }, at) =>
    at % every === 0
      ? `<text x="${round(left + (at + 0.5) * step)}" y="${series.length * row + 16}" text-anchor="middle" aria-hidden="true">${label}</text>`
      : '',
  );
  return { height: series.length * row + 22, inside: [...inside, ...hours] };
}

function overTime(picture: Picture, width: number, press: string | undefined, height: number) {
  const { kind, series, column, places } = picture;
  const values = (
    kind === 'lines' ? series.flatMap((each) => each.values) : sumsOf(picture)
  ).filter((value) => value !== null);
  const lines = gridOf(Math.min(0, ...values), Math.max(0, ...values), column);
  const low = lines[0]?.value ?? 0;
  const high = lines.at(-1)?.value ?? 1;
  const left = widest(lines.map(({ text }) => text)) + 12;
  const top = picture.marks.length === 0 ? 10 : 24;
  const ground = height - 26;
  const y = (value: number): number =>
    ground - ((value - low) / (high - low || 1)) * (ground - top);
  const grid = lines.map(({ value, text }) => {
    const at = Math.round(y(value)) + 0.5;
    return `<line x1="${left}" x2="${width}" y1="${at}" y2="${at}"/><text x="${left - 8}" y="${at + 4}" text-anchor="end" aria-hidden="true">${markup(text)}</text>`;
  });
  const step = (width - left) / Math.max(1, places.length);
  const nameOf = ({ title, part }: Place): string => markup(withPart(title, part));
  const drawn =
    kind === 'lines'
      ? series.map((one) => {
          const dots: string[] = [];
          const points = places.flatMap((place, at) => {
            const value = one.values[at] ?? null;
            if (value === null) return [];
            const cx = round(left + (at + 0.5) * step);
            const cy = round(y(value));
            const title = `${nameOf(place)}, ${markup(`${one.name}: ${valueInWords(column, value)}`)}`;
            dots.push(
              `<circle class="dot ${one.color}" cx="${cx}" cy="${cy}" r="2.5"><title>${title}</title></circle>`,
            );
            return [`${cx},${cy}`];
          });
          return `<polyline class="line ${one.color}" points="${points.join(' ')}"/>${dots.join('')}`;
        })
      : placesOf(picture, press, (place, at, said) => {
          let base = 0;
          const segments = series.map(({ name, color, values: own }) => {
            const value = own[at] ?? 0;
            if (value === 0) return '';
            const from = y(base);
            const to = y(base + value);
            base += value;
            const isWhole = name === '' || color === 'missed' || name === 'Answered';
            const text = isWhole ? said : markup(`${name}: ${valueInWords(column, value)}`);
            const title = press === undefined ? `<title>${nameOf(place)}: ${text}</title>` : '';
            return `<rect class="bar ${colorOf(place, color)}" x="${round(left + (at + 0.12) * step)}" y="${round(Math.min(from, to))}" width="${round(Math.max(1, step * 0.76))}" height="${round(Math.abs(from - to))}">${title}</rect>`;
          });
          return {
            drawn: segments.join(''),
            hit: `<rect class="hit" x="${round(left + at * step)}" y="${top}" width="${round(step)}" height="${round(ground - top)}"/>`,
          };
        });

  // As many labels along time as fit next to each other; each stays within the chart, and apart
  // from one that had to move.
  const half = Math.max(letter, widest(places.map(({ label }) => label))) / 2;
  const every = Math.max(1, Math.ceil((2 * half + 12) / step));
  let end = Number.NEGATIVE_INFINITY;
  const ticks: string[] = [];
  for (const [at, { label }] of places.entries()) {
    const x = Math.min(left + (at + 0.5) * step, width - half);
    if (at % every !== 0 || x - half < end + 8) continue;
    end = x + half;
    ticks.push(
      `<text x="${round(x)}" y="${height - 8}" text-anchor="middle" aria-hidden="true">${markup(label)}</text>`,
    );
  }

  // Behind the bars, which are hovered and pressed; the legend says the same in words.
  const flags = places.flatMap(({ marks }, at) => {
    if (marks.length === 0) return [];
    const x = round(left + (at + 0.5) * step);
    return `<g class="mark" aria-hidden="true"><line x1="${x}" x2="${x}" y1="${top - 6}" y2="${ground}"/><text x="${x}" y="${top - 10}" text-anchor="middle">${marks.join(', ')}</text></g>`;
  });
  return { height, inside: [...grid, ...flags, ...drawn, ...ticks] };
}

/**
 * Lines at numbers that a person would choose, about four of them, with what stands next to each.
 */
function gridOf(
  low: number,
  high: number,
  { unit }: ShownColumn,
): { value: number; text: string }[] {
  const isWhole = unit !== 'share' && unit !== 'minutes' && unit !== 'money' && unit !== 'number';
  const scale = unit === 'share' ? 100 : 1;
  const range = (high - low) * scale || 1;
  const size = 10 ** Math.floor(Math.log10(range / 4));
  const fitting = [1, 2, 2.5, 5, 10]
    .map((factor) => factor * size)
    .find((each) => range / each <= 4.001);
  const step = isWhole ? Math.max(1, Math.ceil(fitting ?? size)) : (fitting ?? size);
  const first = Math.floor((low * scale) / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil((high * scale) / step - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const value = Number(((first + i) * step).toPrecision(12));
    const text = value.toLocaleString('en', { maximumFractionDigits: 12 });
    return { value: value / scale, text: unit === 'share' ? `${text}%` : text };
  });
}

function cut(text: string, length: number): string {
  const chars = [...text];
  return chars.length <= length ? text : `${chars.slice(0, Math.max(1, length - 1)).join('')}…`;
}

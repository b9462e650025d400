import { shownValue } from '../answer/left-out.ts';
import { weekdays } from '../fields/calendar.ts';
import type { AnswerValue } from '../question/answer.ts';
import { longTime, partOfBucket, type Stretch, shortTime } from './time.ts';
import { columnTitle, formatCounted, formatValue, type ShownColumn } from './words.ts';

/** What a chart is drawn of: an answer, or as much of one as there is. */
export interface Charted {
  /** The columns of the rows. */
  readonly columns: readonly ShownColumn[];
  /** The rows, by column name. */
  readonly rows: readonly Readonly<Record<string, AnswerValue>>[];
  /** The period: the first or last day, week or month that it does not cover is marked. */
  readonly period?: Stretch;
  /** When the calls were read, in the time of the period: what comes later is not covered either. */
  readonly until?: string | null;
  /** Instead of a period: how much there is of the days, weeks or months that are not whole, by their value. */
  readonly parts?: Readonly<Record<string, string>>;
}

/** How a chart is drawn. */
export interface ChartOptions {
  /** Width in pixels. Default 880; below 520 names are above their bars. */
  readonly width?: number;
  /** Height of a chart over time in pixels. Default 300. */
  readonly height?: number;
  /** The column that is drawn. Default: the first measure that is a number. */
  readonly measure?: string;
  /** The answer by time alone, where the one that is drawn has not all groups: what it lacks is drawn as all others. */
  readonly totals?: Charted;
  /** What happens when a bar is pressed, for people who do not see it, such as `Show only these`. Makes each bar a button. */
  readonly press?: string;
}

/** A place on the axis. */
export interface Place {
  readonly label: string;
  readonly title: string;
  /** How much of the day, week or month there is; null for all of it. */
  readonly part: string | null;
  /** A group of calls without a value. */
  readonly isNone: boolean;
}

/** What is drawn at each place: a segment of each bar, or a line. */
export interface Series {
  /** Empty when there is one only. */
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

/** A chart before it is drawn. */
export interface Picture {
  readonly kind: 'columns' | 'lines' | 'bars';
  readonly column: ShownColumn;
  /** Such as `Calls by campaign and day`. */
  readonly title: string;
  readonly places: readonly Place[];
  readonly series: readonly Series[];
  /** The name of what a place is a part of, such as `week`. */
  readonly bucket: string;
}

/** Groups that are bars at most, where the groups are no time. */
const mostBars = 20;

/** How many series have a color of their own. */
const colors = 6;

type Row = Charted['rows'][number];
const numberIn = (row: Row, name: string): number | null => {
  const value = row[name];
  return typeof value === 'number' ? value : null;
};

/** What is to be drawn of an answer; null when there is nothing. */
export function pictureOf(charted: Charted, options: ChartOptions = {}): Picture | null {
  const groups = charted.columns.filter(({ kind }) => kind === 'group');
  const column = charted.columns.find(
    ({ name, kind, unit }) =>
      kind !== 'group' && unit !== 'time' && (options.measure === undefined || name === options.measure),
  );
  if (column === undefined || groups.length === 0) return null;
  if (!charted.rows.some((row) => numberIn(row, column.name) !== null)) return null;
  const time = groups.find(({ unit }) => unit === 'time');
  const names = groups.map(({ name }) => columnTitle(name).toLowerCase());
  const title = `${columnTitle(column.name)} by ${names.join(' and ')}`;
  const both = { column, title, bucket: time?.name ?? '' };
  return time === undefined
    ? { ...both, kind: 'bars', ...barsOf(charted, groups, column) }
    : {
        ...both,
        ...overTime(
          charted,
          time,
          groups.filter((group) => group !== time),
          column,
          options,
        ),
      };
}

function barsOf(
  { columns, rows }: Charted,
  groups: readonly ShownColumn[],
  column: ShownColumn,
): Pick<Picture, 'places' | 'series'> {
  const drawn = rows.slice(0, mostBars);
  const places = drawn.map((row) => {
    const title = groups.map(({ name }) => shownValue(row[name])).join(', ');
    return { label: title, title, part: null, isNone: groups.every(({ name }) => isNone(row[name])) };
  });
  return { places, series: splitByMissed(columns, drawn, column) };
}

const isNone = (value: AnswerValue | undefined): boolean => shownValue(value) === shownValue(null);

/** Calls are shown as answered and missed where both are known. */
function splitByMissed(
  columns: readonly ShownColumn[],
  rows: readonly Row[],
  { name }: ShownColumn,
): Series[] {
  const values = rows.map((row) => numberIn(row, name));
  const isSplit = name === 'calls' && columns.some((column) => column.name === 'missed');
  if (!isSplit) return [{ name: '', color: 'c1', values }];
  const missed = rows.map((row) => numberIn(row, 'missed') ?? 0);
  return [
    { name: 'Answered', color: 'c1', values: values.map((calls, at) => (calls ?? 0) - (missed[at] ?? 0)) },
    { name: 'Missed', color: 'missed', values: missed },
  ];
}

function overTime(
  charted: Charted,
  time: ShownColumn,
  others: readonly ShownColumn[],
  column: ShownColumn,
  { totals }: ChartOptions,
): Pick<Picture, 'kind' | 'places' | 'series'> {
  const { columns, rows } = charted;
  const keys = [...new Set((totals ?? charted).rows.map((row) => row[time.name] ?? null))].sort(byTime);
  const places = keys.map((key) => placeOf(time.name, key, charted));
  const at = new Map(keys.map((key, place) => [key, place]));
  const laid = (own: readonly Row[]): (Row | undefined)[] => {
    const list: (Row | undefined)[] = keys.map(() => undefined);
    for (const row of own) list[at.get(row[time.name] ?? null) ?? -1] = row;
    return list;
  };
  if (others.length === 0)
    return {
      kind: 'columns',
      places,
      series: splitByMissed(
        columns,
        laid(rows).map((row) => row ?? {}),
        column,
      ),
    };
  const found = new Map<string, { readonly isNone: boolean; readonly rows: Row[] }>();
  for (const row of rows) {
    const name = others.map((group) => shownValue(row[group.name])).join(', ');
    const one = found.get(name) ?? { isNone: others.every((group) => isNone(row[group.name])), rows: [] };
    one.rows.push(row);
    found.set(name, one);
  }
  const series = [...found].map(([name, one]) => {
    const values = laid(one.rows).map((row) => (row === undefined ? null : numberIn(row, column.name)));
    return { name, values, isNone: one.isNone };
  });
  if (column.addsUp !== true) {
    const drawn = series
      .slice(0, colors)
      .map((one, i) => ({ ...one, color: one.isNone ? 'none' : `c${i + 1}` }));
    return { kind: 'lines', places, series: drawn };
  }
  const all = totals && laid(totals.rows).map((row) => numberIn(row ?? {}, column.name) ?? 0);
  return { kind: 'columns', places, series: stacked(series, all) };
}

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, value) => all + (value ?? 0), 0);

/** The largest series have colors; what has no value, and all others together, are gray and on top. */
function stacked(
  series: readonly (Omit<Series, 'color'> & { readonly isNone: boolean })[],
  all: readonly number[] | undefined,
): Series[] {
  const ranked = [...series].sort((a, b) => sum(b.values) - sum(a.values));
  const named = ranked.filter((one) => !one.isNone);
  const none = ranked.filter((one) => one.isNone);
  const own = named.slice(0, colors);
  const size = series[0]?.values.length ?? 0;
  const rest = Array.from({ length: size }, (_, at) => {
    if (all === undefined) return sum(named.slice(colors).map(({ values }) => values[at] ?? 0));
    return (all[at] ?? 0) - sum([...own, ...none].map(({ values }) => values[at] ?? 0));
  });
  return [
    ...own.map(({ name, values }, i) => ({ name, values, color: `c${i + 1}` })),
    ...none.map(({ name, values }) => ({ name, values, color: 'none' })),
    ...(rest.some((value) => value > 1e-9) ? [{ name: 'All others', color: 'rest', values: rest }] : []),
  ];
}

function placeOf(name: string, key: AnswerValue, { period, until = null, parts = {} }: Charted): Place {
  if (key === null) return { label: shownValue(key), title: shownValue(key), part: null, isNone: true };
  const text = String(key);
  const part =
    parts[text] ?? (period === undefined ? null : partOfBucket(name, text, covered(period, until)));
  return { label: shortTime(name, text), title: longTime(name, text), part, isNone: false };
}

/** The period as far as calls of it could be read. */
export function covered({ from, to }: Stretch, until: string | null = null): Stretch {
  return { from, to: until !== null && (to === null || until < to) ? until : to };
}

/** In the order of time, whatever the rows are ordered by; what has no time comes last. */
function byTime(a: AnswerValue, b: AnswerValue): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [one, other] = [String(a), String(b)];
  const [first, second] = [one, other].map((text) => weekdays.indexOf(text));
  if (first !== undefined && second !== undefined && first >= 0 && second >= 0) return first - second;
  return one < other ? -1 : Number(one > other);
}

/** A value of the drawn column in words: `3 calls`, `2.5 minutes`, `12.0%`. */
export function valueInWords(column: ShownColumn, value: number | null): string {
  const text = formatValue(column, value);
  if (column.name === 'calls' && value !== null) return formatCounted(value, 'call');
  return column.unit === 'minutes' && text !== '' ? `${text} minutes` : text;
}

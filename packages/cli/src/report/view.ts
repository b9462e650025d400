import { type Answer, type AnswerColumn, type AnswerValue, shownValue } from '@call-attribution/questions';
import {
  type Charted,
  columnTitle,
  covered,
  formatValue,
  partOfBucket,
  withPart,
} from '@call-attribution/questions/chart';
import type { Layout } from './question.ts';

/** A finished report, as it is shown to people. */
export interface Report {
  /** What the picture shows, such as `Calls by campaign and day`. */
  readonly title: string;
  /** The title of the first group. */
  readonly by: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly ReportRow[];
  /** The rows follow each other in time. */
  readonly isTime: boolean;
  /** The same measures of all calls, whatever rows are shown. */
  readonly total: readonly string[];
  /** How many calls were counted. */
  readonly calls: number;
  readonly across: Across | null;
  /** What is drawn, and the answer by time alone where groups are drawn along time. */
  readonly chart: { readonly answer: Charted; readonly totals: Charted | null };
  /** Which groups are not shown, and which stretches of time are not whole, a sentence each. */
  readonly hidden: readonly string[];
}

/** A column of the table. */
export interface ReportColumn extends AnswerColumn {
  readonly title: string;
}

/** A row of the table. */
export interface ReportRow {
  /** Its groups in words. */
  readonly name: string;
  readonly cells: readonly string[];
  /** What the picture shows of it. */
  readonly value: number;
  /** Its calls at each place of the axis. */
  readonly series: readonly number[];
}

/** What goes across: the values of a group, and the calls of each in all rows, shown or not. */
export interface Across {
  readonly title: string;
  readonly isTime: boolean;
  readonly axis: readonly string[];
  readonly totals: readonly number[];
}

/** What is left out of the rows, and said below them. */
export const shownBelow: ReadonlySet<string> = new Set(['limit', 'top_per', 'having', 'empty_buckets']);

/** Makes a report of the answers to the questions of a layout. `until` is when the calls were read, in the time of the period. */
export function reportOf(
  { rows: groups, across }: Layout,
  main: Answer,
  answers: readonly Answer[],
  until: string | null = null,
): Report {
  const [, cells, axis] = across === null ? [] : answers;
  const { columns, rows, total, calls, leftOut } = main;
  const period = covered(main.period, until);
  const partOf = (name: string, value: AnswerValue | undefined) =>
    partOfBucket(name, shownValue(value), period);
  const pictured = across
    ? 'calls'
    : (columns.find(({ kind, unit }) => kind === 'measure' && unit !== 'time')?.name ?? '');
  const series = seriesOf(groups[0]?.name ?? '', across?.name ?? '', cells, axis);
  const names = [...groups, ...(across ? [across] : [])].map(({ name }) => columnTitle(name).toLowerCase());
  const isStacked = across?.isTime === true && cells !== undefined && axis !== undefined;
  return {
    title: `${columnTitle(pictured)} by ${names.join(' and ')}`,
    by: names[0] ?? '',
    columns: columns.map((column) => ({ ...column, title: columnTitle(column.name) })),
    rows: rows.map((row) => ({
      name: groups.map(({ name }) => shownValue(row[name])).join(', '),
      cells: columns.map((column) => {
        const text = formatValue(column, row[column.name]);
        return column.kind === 'group' ? withPart(text, partOf(column.name, row[column.name])) : text;
      }),
      value: Number(row[pictured] ?? 0),
      series: series.of(row[groups[0]?.name ?? '']),
    })),
    isTime: across === null && groups.length === 1 && groups[0]?.isTime === true,
    total: columns.map((column, at) => {
      if (column.kind !== 'group') return formatValue(column, total[column.name]);
      return at === 0 ? 'All calls' : '';
    }),
    calls,
    across: across && { title: columnTitle(across.name), isTime: across.isTime, ...series },
    chart: isStacked
      ? { answer: { ...cells, period }, totals: { ...axis, period } }
      : { answer: { ...main, period }, totals: null },
    hidden: [
      ...leftOut.filter(({ code }) => shownBelow.has(code)).map(({ message }) => message),
      ...(across === null ? [] : partsOf(across.name, axis, partOf)),
    ],
  };
}

/** Which ends of the axis are not whole. */
function partsOf(
  name: string,
  axis: Answer | undefined,
  partOf: (name: string, value: AnswerValue | undefined) => string | null,
): string[] {
  const parts = (axis?.rows ?? []).flatMap((row) => {
    const part = partOf(name, row[name]);
    return part === null ? [] : [`${shownValue(row[name])} (${part})`];
  });
  return parts.length === 0 ? [] : [`Not a whole ${name}: ${parts.join(', ')}.`];
}

/** The calls of rows along the axis. Only the cells that exist were counted. */
function seriesOf(row: string, across: string, cells: Answer | undefined, axis: Answer | undefined) {
  const keys = axis?.rows ?? [];
  const places = new Map(keys.map((each, place) => [each[across], place]));
  const known = new Map<AnswerValue | undefined, [number, number][]>();
  for (const cell of cells?.rows ?? []) {
    const own = known.get(cell[row]) ?? [];
    known.set(cell[row], own);
    if (cell.calls !== 0) own.push([places.get(cell[across]) ?? -1, Number(cell.calls)]);
  }
  return {
    axis: keys.map((each) => shownValue(each[across])),
    totals: keys.map((each) => Number(each.calls)),
    of(key: AnswerValue | undefined): number[] {
      const series = keys.map(() => 0);
      for (const [place, calls] of known.get(key) ?? []) if (place >= 0) series[place] = calls;
      return series;
    },
  };
}

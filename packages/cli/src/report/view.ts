import { formatNaive, naiveAt } from '@call-attribution/core/time';
import {
  type Answer,
  type AnswerColumn,
  type AnswerValue,
  shownValue,
} from '@call-attribution/questions';
import {
  type Charted,
  type ChartMark,
  columnTitle,
  covered,
  formatValue,
  partOfBucket,
  shownDigits,
  withPart,
} from '@call-attribution/questions/chart';
import type { Layout } from './question.ts';

/** A finished report, as it is shown to people. */
export interface Report {
  /** What the picture shows, such as `Calls by campaign and day`. */
  readonly title: string;
  /** What the rows are, such as `campaign and landing page`. */
  readonly by: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly ReportRow[];
  /** The same measures of all calls, whatever rows are shown. */
  readonly total: Pick<ReportRow, 'cells' | 'values'>;
  /** How many calls were counted. */
  readonly calls: number;
  /** Rows and what goes across are weekdays and hours: together they are a grid. */
  readonly isGrid: boolean;
  /** What goes across: the values of a time, and the calls of each in all rows, shown or not. */
  readonly across: Pick<ReturnType<typeof seriesOf>, 'axis' | 'totals'> | null;
  /** What is drawn, and the answer by time alone where groups are drawn along time. */
  readonly chart: { readonly answer: Charted; readonly totals: Charted | null };
  /** Which groups are not shown, and which stretches of time are not whole, a sentence each. */
  readonly hidden: readonly string[];
  /** What happened in the period, by day. */
  readonly annotations: readonly ChartMark[];
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
  /** The values of the cells. */
  readonly values: readonly AnswerValue[];
  /** What the picture shows of it. */
  readonly value: number;
  /** Its calls at each place of the axis. */
  readonly series: readonly number[];
  /** It is one of the second group, within the row of the first group before it. */
  readonly isInner: boolean;
}

/** What is left out of the rows, and said below them. */
export const shownBelow: ReadonlySet<string> = new Set([
  'limit',
  'top_per',
  'having',
  'empty_buckets',
]);

/**
 * When the calls of an answer were read, in the time zone of its period; null when nobody has said
 * which zone that is.
 */
export function readUntil({ period: { timeZone }, asOf }: Answer, now: number): string | null {
  if (timeZone === null) return null;
  const read = asOf === null ? now : Math.min(now, Date.parse(asOf));
  return formatNaive(naiveAt(read, timeZone));
}

/** What a report needs besides its answers. */
interface ReportParts {
  /** When the calls were read, in the time of the period; null when nobody knows. */
  readonly until: string | null;
  /** What happened in the period, by day. */
  readonly annotations: readonly ChartMark[];
}

/** Makes a report of the answers to the questions of a layout. */
export function reportOf(
  { rows: groups, across, inner }: Layout,
  main: Answer,
  answers: readonly Answer[],
  { until, annotations }: ReportParts,
): Report {
  const [, cells, axis] = across === null ? [] : answers;
  const { columns, rows, total, calls, leftOut } = main;
  const period = covered(main, until);
  const partOf = (name: string, value: AnswerValue | undefined) =>
    partOfBucket(name, shownValue(value), period);
  const drawn = columns.find(({ kind, unit }) => kind === 'measure' && unit !== 'time');
  const pictured = across ? 'calls' : (drawn?.name ?? '');
  const [key = ''] = groups.map(({ name }) => name);
  const series = seriesOf(key, across?.name ?? '', cells, axis);
  const by = [...groups, ...(inner === null ? [] : [inner])].map(({ name }) =>
    columnTitle(name).toLowerCase(),
  );

  const within = (row: Answer['total']): ReportRow[] => {
    if (inner === null) return [];
    const own = (answers[1]?.rows ?? []).filter((pair) => pair[key] === row[key]);
    return own.map((pair) => {
      const name = shownValue(pair[inner.name]);
      return { name, ...figuresOf(columns, pair, () => name), value: 0, series: [], isInner: true };
    });
  };

  const over = across === null ? [] : [columnTitle(across.name).toLowerCase()];
  return {
    title: `${columnTitle(pictured, across ? 'calls' : drawn?.unit)} by ${[...by, ...over].join(' and ')}`,
    by: by.join(' and '),
    columns: columns.map((column) => {
      const title = columnTitle(column.name, column.kind === 'group' ? undefined : column.unit);
      const isBoth = inner !== null && column.kind === 'group';
      return {
        ...column,
        title: isBoth ? `${title} and ${columnTitle(inner.name).toLowerCase()}` : title,
      };
    }),
    rows: rows.flatMap((row) => [
      {
        name: groups.map(({ name }) => shownValue(row[name])).join(', '),
        ...figuresOf(columns, row, (name) =>
          withPart(shownValue(row[name]), partOf(name, row[name])),
        ),
        value: Number(row[pictured] ?? 0),
        series: series.of(row[key]),
        isInner: false,
      },
      ...within(row),
    ]),
    total: figuresOf(columns, total, (name) => (name === columns[0]?.name ? 'All calls' : '')),
    calls,
    isGrid: across !== null && [key, across.name].sort().join() === 'hour,weekday',
    across: across && series,
    chart:
      cells !== undefined && axis !== undefined
        ? { answer: { ...cells, period }, totals: { ...axis, period } }
        : { answer: { ...main, period }, totals: null },
    hidden: [
      ...leftOut.filter(({ code }) => shownBelow.has(code)).map(({ message }) => message),
      ...(across === null ? [] : partsOf(across.name, axis, partOf)),
    ],
    annotations,
  };
}

/**
 * The cells of a row. A change stands behind the measure and what it was before, and is their
 * difference as they are shown.
 */
function figuresOf(
  columns: readonly AnswerColumn[],
  row: Readonly<Record<string, AnswerValue>>,
  nameOf: (group: string) => string,
): Pick<ReportRow, 'cells' | 'values'> {
  const figures = columns.map((column) => {
    const value = row[column.name] ?? null;
    const { name, kind, unit, addsUp } = column;
    if (kind === 'group') return { text: nameOf(name), value };
    const places = shownDigits[String(unit)];

    // What adds up has a whole difference.
    if (kind !== 'change' || (addsUp && unit !== 'share') || value === null || places === undefined)
      return { text: formatValue(column, value), value };
    const figure = (end: string) =>
      Number(Number(row[name.replace(/_change$/, end)]).toFixed(places));
    return { text: formatValue(column, figure('') - figure('_before')), value };
  });
  return { cells: figures.map(({ text }) => text), values: figures.map(({ value }) => value) };
}

/** Which ends of the axis are not whole. */
function partsOf(
  name: string,
  axis: Answer | undefined,
  partOf: (name: string, value: AnswerValue | undefined) => string | null,
): string[] {
  const parts: string[] = [];
  for (const row of axis?.rows ?? []) {
    const part = partOf(name, row[name]);
    if (part !== null) parts.push(`${shownValue(row[name])} (${part})`);
  }

  return parts.length === 0 ? [] : [`Not a whole ${name}: ${parts.join(', ')}.`];
}

/** The calls of rows along the axis. Only the cells that exist were counted. */
function seriesOf(
  row: string,
  across: string,
  cells: Answer | undefined,
  axis: Answer | undefined,
) {
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

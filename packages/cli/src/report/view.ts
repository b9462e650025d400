import { type Answer, type AnswerColumn, type AnswerValue, shownValue } from '@call-attribution/questions';
import { count } from '../term/numbers.ts';
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
  /** Which groups are not shown, a sentence each. */
  readonly hidden: readonly string[];
}

/** A column of the table. */
export interface ReportColumn {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/** A row of the table. */
export interface ReportRow {
  /** Its groups in words. */
  readonly name: string;
  readonly cells: readonly string[];
  /** What the picture shows of it, also in words. */
  readonly value: number;
  readonly shown: string;
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

/** The title of a column or group: `ppc_campaign` is Campaign. */
function titleOf(name: string): string {
  const words = name.replace(/^(?:ppc|vt)_/, '').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What is left out of the rows, and said below them. */
export const shownBelow: ReadonlySet<string> = new Set(['limit', 'top_per', 'having', 'empty_buckets']);

/** Makes a report of the answers to the questions of a layout. */
export function reportOf({ rows: groups, across }: Layout, main: Answer, answers: readonly Answer[]): Report {
  const [, cells, axis] = across === null ? [] : answers;
  const { columns, rows, total, calls, leftOut } = main;
  const pictured = across
    ? 'calls'
    : (columns.find(({ kind, unit }) => kind === 'measure' && unit !== 'time')?.name ?? '');
  const series = seriesOf(groups[0]?.name ?? '', across?.name ?? '', cells, axis);
  const names = [...groups, ...(across ? [across] : [])].map(({ name }) => titleOf(name).toLowerCase());
  return {
    title: `${titleOf(pictured)} by ${names.join(' and ')}`,
    by: names[0] ?? '',
    columns: columns.map(({ name, kind }) => ({
      title: titleOf(name),
      align: kind === 'group' ? 'left' : 'right',
    })),
    rows: rows.map((row) => {
      const column = columns.find(({ name }) => name === pictured);
      return {
        name: groups.map(({ name }) => shownValue(row[name])).join(', '),
        cells: columns.map((column) => cellText(column, row[column.name])),
        value: Number(row[pictured] ?? 0),
        shown: column ? cellText(column, row[pictured]) : count(Number(row[pictured] ?? 0)),
        series: series.of(row[groups[0]?.name ?? '']),
      };
    }),
    isTime: across === null && groups.length === 1 && groups[0]?.isTime === true,
    total: columns.map((column, at) =>
      column.kind === 'group' ? (at === 0 ? 'All calls' : '') : cellText(column, total[column.name]),
    ),
    calls,
    across: across && { title: titleOf(across.name), isTime: across.isTime, ...series },
    hidden: leftOut.filter(({ code }) => shownBelow.has(code)).map(({ message }) => message),
  };
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

/** A value as people read it. */
function cellText({ kind, unit }: AnswerColumn, value: AnswerValue | undefined): string {
  if (kind === 'group') return shownValue(value);
  if (value === null || value === undefined) return '';
  if (typeof value !== 'number') return String(value);
  const text = numberText(unit, Math.abs(value));
  const sign = value < 0 ? '-' : kind === 'change' && value > 0 ? '+' : '';
  return `${sign}${text}`;
}

function numberText(unit: AnswerColumn['unit'], value: number): string {
  switch (unit) {
    case 'share':
      return `${(value * 100).toFixed(1)}%`;
    case 'minutes':
      return decimal(value, 1);
    case 'money':
      return decimal(value, 2);
    default:
      return count(value);
  }
}

function decimal(value: number, digits: number): string {
  const [whole = '0', fraction = ''] = value.toFixed(digits).split('.');
  return `${count(Number(whole))}.${fraction}`;
}

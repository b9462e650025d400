import { type Call, isCallExtension } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { createGroupTable } from '@call-attribution/node-stream/operators';
import type { Cell } from '../fields/view.ts';
import { ToolError } from '../text/failures.ts';
import { type GroupKey, groupKey, type KeyContext } from './keys.ts';
import { type Measured, measureOf } from './measures.ts';
import { compareRows, passes, readHaving, readOrder } from './ranking.ts';
import type { Question } from './source.ts';

// Groups and measures of calls that were read from the API, in memory.

/** Rows by column name. */
export type Row = Record<string, Cell>;

/** Groups of calls that were read. */
export interface Aggregate {
  readonly columns: readonly string[];
  /** All rows that pass `having`, in order. */
  readonly rows: readonly Row[];
  readonly totals: Row;
  /** How many groups there are before `having`. */
  readonly groups: number;
}

/** The calls of a kind. */
export const ofKind = (list: readonly Call[], kind: 'website' | 'extensions' | 'all'): readonly Call[] =>
  kind === 'all' ? list : list.filter((call) => isCallExtension(call) === (kind === 'extensions'));

function table(list: readonly Call[], keys: readonly GroupKey[], measured: readonly Measured[]): Row[] {
  // A key may be named like a measure, so columns go by position.
  const groups = createGroupTable({
    by: Object.fromEntries(keys.map((key, i) => [`k${i}`, key.of])),
    measures: Object.fromEntries(measured.map(({ make }, i) => [`m${i}`, make])),
  });
  for (const call of list) groups.add(call);
  return groups.rows() as Row[];
}

/** Empty stretches of time are shown: a day without a call is what many look for. */
function filled(
  rows: readonly Row[],
  list: readonly Call[],
  keys: readonly GroupKey[],
  measured: readonly Measured[],
  period: { readonly from: string | null; readonly to: string | null },
): Row[] {
  if (!keys.some(({ time: part }) => part !== null)) return [...rows];
  const times = list.map(({ date_added: at }) => at).sort();
  const from = parseNaive(period.from ?? times[0]);
  const to = period.to === null ? parseNaive(times.at(-1)) + 1 : parseNaive(period.to);
  if (Number.isNaN(from) || Number.isNaN(to)) return [...rows];
  const values = keys.map(({ time: part }, i) =>
    part === null ? [...new Set(rows.map((row) => row[`k${i}`] ?? null))] : part.all(from, to),
  );
  const size = values.reduce((product, list) => product * Math.max(1, list.length), 1);
  if (size > 20_000) return [...rows];
  const idOf = (row: Row): string => JSON.stringify(keys.map((_, i) => row[`k${i}`] ?? null));
  const known = new Map(rows.map((row) => [idOf(row), row]));
  const empty = Object.fromEntries(measured.map(({ empty: none }, i) => [`m${i}`, none]));
  let all: Row[] = [{}];
  for (const [i, list] of values.entries())
    all = all.flatMap((row) => list.map((value) => ({ ...row, [`k${i}`]: value })));
  return all
    .map((row) => {
      const id = idOf(row);
      const found = known.get(id);
      known.delete(id);
      return found ?? { ...row, ...empty };
    })
    .concat([...known.values()]);
}

/** Groups calls, measures the groups, and puts them in order. `before` are the calls of the period to compare with. */
export function aggregate(
  list: readonly Call[],
  before: readonly Call[] | null,
  question: Question,
  period: { readonly from: string | null; readonly to: string | null },
  context: KeyContext,
): Aggregate {
  const keys = question.groupBy.map((name) => groupKey(name, context));
  const measured = question.measures.map((name) => measureOf(name, context));
  const twice = [...keys.map(({ name }) => name), ...measured.map(({ column }) => column)].find(
    (name, i, all) => all.indexOf(name) !== i,
  );
  if (twice !== undefined) throw new ToolError({ code: 'named_twice', name: twice });
  if (before !== null && keys.some(({ name }) => ['day', 'week', 'month'].includes(name)))
    throw new ToolError({ code: 'needs_mirror', what: 'compare with groups by day, week or month' });
  const shape = (rows: readonly Row[], all: readonly Call[]): Row[] =>
    filled(rows, all, keys, measured, period).map((row) => namedRow(row, keys, measured, all.length));
  const rows = shape(table(list, keys, measured), list);
  const past = before === null ? null : shape(table(before, keys, measured), before);
  const paired = past === null ? rows : pair(rows, past, keys, measured);
  const names = measured.flatMap(({ column }) => columnsOf(column, past !== null));
  const columns = [...keys.map(({ name }) => name), ...names];
  const whole = (each: readonly Call[]): Row =>
    namedRow(table(each, [], measured)[0] ?? emptyRow(measured), [], measured, each.length);
  const own = whole(list);
  const totals = before === null ? own : (pair([own], [whole(before)], [], measured)[0] ?? own);
  const conditions = question.having === undefined ? [] : readHaving(question.having, names);
  const order = readOrder(question.order, columns);
  const isTime = keys[0]?.time !== null && keys.length > 0;
  const usual = isTime ? [] : [{ column: measured[0]?.column ?? '', descending: true }];
  const kept = paired.filter((row) => passes(row, conditions));
  const inOrder =
    order.length === 0 && isTime ? kept : kept.sort(compareRows(order.length > 0 ? order : usual, columns));
  return {
    columns,
    rows: perFirst(inOrder, keys, question.topPer),
    totals,
    groups: paired.length,
  };
}

const emptyRow = (measured: readonly Measured[]): Row =>
  Object.fromEntries(measured.map(({ empty }, i) => [`m${i}`, empty]));

const columnsOf = (column: string, compared: boolean): string[] =>
  !compared ? [column] : [column, `${column}_before`, ...(isTimeMeasure(column) ? [] : [`${column}_change`])];
const isTimeMeasure = (column: string): boolean => column === 'first' || column === 'last';

function namedRow(row: Row, keys: readonly GroupKey[], measured: readonly Measured[], all: number): Row {
  const named: Row = Object.fromEntries(keys.map(({ name }, i) => [name, row[`k${i}`] ?? null]));
  for (const [i, { column }] of measured.entries()) {
    const value = row[`m${i}`] ?? null;
    named[column] = column === 'share' && all > 0 ? Number(value) / all : value;
  }
  return named;
}

/** Puts the measures of two periods side by side. */
function pair(
  rows: readonly Row[],
  past: readonly Row[],
  keys: readonly GroupKey[],
  measured: readonly Measured[],
): Row[] {
  const idOf = (row: Row): string => JSON.stringify(keys.map(({ name }) => row[name] ?? null));
  const byId = (some: readonly Row[]): ReadonlyMap<string, Row> =>
    new Map(some.map((row) => [idOf(row), row]));
  const [now, before] = [byId(rows), byId(past)];
  return [...new Set([...now.keys(), ...before.keys()])].map((id) => {
    const [a, b] = [now.get(id), before.get(id)];
    const row: Row = Object.fromEntries(keys.map(({ name }) => [name, (a ?? b)?.[name] ?? null]));
    for (const { column, empty } of measured) {
      const [value, earlier] = [
        a === undefined ? empty : (a[column] ?? null),
        b === undefined ? empty : (b[column] ?? null),
      ];
      row[column] = value;
      row[`${column}_before`] = earlier;
      if (!isTimeMeasure(column))
        row[`${column}_change`] =
          typeof value === 'number' && typeof earlier === 'number' ? value - earlier : null;
    }
    return row;
  });
}

function perFirst(
  rows: readonly Row[],
  [first]: readonly GroupKey[],
  most: number | undefined,
): readonly Row[] {
  if (most === undefined || first === undefined) return rows;
  const seen = new Map<Cell, number>();
  return rows.filter((row) => {
    const value = row[first.name] ?? null;
    const n = (seen.get(value) ?? 0) + 1;
    seen.set(value, n);
    return n <= most;
  });
}

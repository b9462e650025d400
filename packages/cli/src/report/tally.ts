import type { Call } from '@call-attribution/core';
import { count, createGroupTable, sum } from '@call-attribution/node-stream/operators';
import type { Dimension } from './dimensions.ts';

/** The measures of one group. */
export interface Measures {
  readonly calls: number;
  /** Sum of the talk minutes. */
  readonly talkMinutes: number;
  /** Share of all calls, from 0 to 1. */
  readonly share: number;
}

/** One group of the report. */
export interface Group extends Measures {
  readonly key: string;
  /** Its calls by the keys of `axis`, in that order; empty with one dimension. */
  readonly series: readonly number[];
}

/** A finished report. */
export interface Report {
  /** What the rows are. */
  readonly rows: Dimension;
  /** The second dimension, which each row is spread over. */
  readonly across: Dimension | null;
  readonly axis: readonly string[];
  readonly groups: readonly Group[];
  /** How many groups were added up in `rest`. */
  readonly restCount: number;
  readonly rest: Group | null;
  readonly total: Measures;
}

/** What was counted of the calls with one pair of keys. */
export interface Cell {
  readonly row: string;
  readonly column: string;
  readonly calls: number;
  /** Sum of the talk minutes. */
  readonly minutes: number;
}

/** Adds up calls by one or two dimensions. */
export interface Tally {
  add(call: Call): void;
  /** What was counted so far. */
  cells(): Cell[];
  /** The `top` groups with the most calls, and the rest as one more group. */
  report(top: number): Report;
}

/** A group while it is added up. Talk is in tenths of a minute, which are whole numbers, so that sums stay exact. */
interface Sum {
  calls: number;
  tenths: number;
  readonly across: Map<string, number>;
}

/** What the rows of a report are, and what goes across. Of two dimensions, time goes across, whichever came first. */
interface Layout {
  readonly rows: Dimension;
  readonly across: Dimension | null;
}

/** The layout of a report by one or two dimensions. */
export function layoutOf(dimensions: readonly Dimension[]): Layout {
  const [first, second = null] = dimensions;
  if (!first) throw new Error('a tally needs a dimension');
  const swap = second !== null && first.time && !second.time;
  return { rows: swap ? second : first, across: swap ? first : second };
}

/** Makes an empty tally. */
export function createTally(dimensions: readonly Dimension[]): Tally {
  const { rows, across } = layoutOf(dimensions);
  const table = createGroupTable({
    by: { row: (call: Call) => rows.keyOf(call), column: (call: Call) => across?.keyOf(call) ?? '' },
    measures: { calls: count<Call>(), minutes: sum<Call>('talk_minutes') },
    maxGroups: Number.POSITIVE_INFINITY,
  });
  const cells = (): Cell[] => table.rows().map(cellOf);
  return {
    add: (call) => table.add(call),
    cells,
    report: (top) => reportOf(cells(), { rows, across }, top),
  };
}

const cellOf = (sums: { row: unknown; column: unknown; calls: number; minutes: number }): Cell => ({
  ...sums,
  row: String(sums.row),
  column: String(sums.column),
});

/** The report of what was counted: the `top` rows with the most calls, and the others as one more row. */
export function reportOf(cells: Iterable<Cell>, { rows, across }: Layout, top: number): Report {
  const sums = new Map<string, Sum>();
  const columns = new Map<string, number>();
  const total: Sum = { calls: 0, tenths: 0, across: columns };
  for (const { row, column, calls, minutes } of cells) {
    const own = sums.get(row) ?? { calls: 0, tenths: 0, across: new Map() };
    sums.set(row, own);
    for (const part of [own, total]) {
      part.calls += calls;
      part.tenths += Math.round(minutes * 10);
      part.across.set(column, (part.across.get(column) ?? 0) + calls);
    }
  }
  const axis = across ? inOrder(across, columns) : [];
  const measures = ({ calls, tenths }: Sum): Measures => ({
    calls,
    talkMinutes: tenths / 10,
    share: total.calls === 0 ? 0 : calls / total.calls,
  });
  const groups = inOrder(rows, new Map([...sums].map(([key, { calls }]) => [key, calls]))).map(
    (key): Group => {
      const own = sums.get(key) ?? { calls: 0, tenths: 0, across: new Map() };
      return { key, ...measures(own), series: axis.map((column) => own.across.get(column) ?? 0) };
    },
  );
  // Time is always shown completely: a chart needs all of its days.
  const shown = rows.time ? groups : groups.slice(0, top);
  const more = groups.slice(shown.length);
  return {
    rows,
    across,
    axis,
    groups: shown,
    restCount: more.length,
    rest: more.length === 0 ? null : addUp(more),
    total: measures(total),
  };
}

/** Time in its order and without gaps, other keys by their number of calls. */
function inOrder(dimension: Dimension, calls: ReadonlyMap<string, number>): string[] {
  if (dimension.fill) return dimension.fill([...calls.keys()]);
  return [...calls].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).map(([key]) => key);
}

function addUp(groups: readonly Group[]): Group {
  const total = (of: (group: Group) => number): number => groups.reduce((all, group) => all + of(group), 0);
  return {
    key: `${groups.length} more`,
    calls: total((group) => group.calls),
    talkMinutes: total((group) => Math.round(group.talkMinutes * 10)) / 10,
    share: total((group) => group.share),
    series: (groups[0]?.series ?? []).map((_, at) => total((group) => group.series[at] ?? 0)),
  };
}

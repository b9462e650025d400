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
  /** Its calls by those keys of `axis` that it has, in that order; empty with one dimension. */
  readonly spread: ReadonlyMap<string, number>;
  /** The same for all keys of `axis`. Made when it is asked for: all groups by all keys may be far more than there are calls. */
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

/**
 * The report of what was counted: the `top` rows with the most calls, and the others as one more row. The work grows with the cells,
 * not with rows by columns.
 */
export function reportOf(counted: Iterable<Cell>, { rows, across }: Layout, top: number): Report {
  const cells = [...counted];
  const sums = new Map<string, Sum>();
  const columns = new Map<string, number>();
  const total: Sum = { calls: 0, tenths: 0 };
  for (const { row, column, calls, minutes } of cells) {
    const own = sums.get(row) ?? { calls: 0, tenths: 0 };
    sums.set(row, own);
    for (const part of [own, total]) {
      part.calls += calls;
      part.tenths += Math.round(minutes * 10);
    }
    columns.set(column, (columns.get(column) ?? 0) + calls);
  }
  const axis = across ? inOrder(across, columns) : [];
  const keys = inOrder(rows, new Map([...sums].map(([key, { calls }]) => [key, calls])));
  // Time is always shown completely: a chart needs all of its days.
  const shown = new Set(rows.time ? keys : keys.slice(0, top));
  const more = keys.filter((key) => !shown.has(key));
  const spreads = spreadOver(axis, cells, (row) => (shown.has(row) ? row : null));
  const groupOf = (key: string, name: string | null, { calls, tenths }: Sum): Group => {
    const spread = spreads.get(name) ?? new Map<string, number>();
    return {
      key,
      ...measuresOf({ calls, tenths }, total),
      spread,
      get series() {
        return axis.map((column) => spread.get(column) ?? 0);
      },
    };
  };
  const nothing: Sum = { calls: 0, tenths: 0 };
  return {
    rows,
    across,
    axis,
    groups: [...shown].map((key) => groupOf(key, key, sums.get(key) ?? nothing)),
    restCount: more.length,
    rest: more.length === 0 ? null : groupOf(`${more.length} more`, null, addUp(more, sums)),
    total: measuresOf(total, total),
  };
}

const measuresOf = ({ calls, tenths }: Sum, total: Sum): Measures => ({
  calls,
  talkMinutes: tenths / 10,
  share: total.calls === 0 ? 0 : calls / total.calls,
});

/** The calls of each group by the keys of the axis that it has, in the order of the axis. */
function spreadOver<Name>(
  axis: readonly string[],
  cells: readonly Cell[],
  groupOf: (row: string) => Name,
): Map<Name, Map<string, number>> {
  const places = new Map(axis.map((key, place) => [key, place]));
  const placeOf = ({ column }: Cell): number => places.get(column) ?? -1;
  const spreads = new Map<Name, Map<string, number>>();
  for (const cell of cells.filter((one) => placeOf(one) >= 0).sort((a, b) => placeOf(a) - placeOf(b))) {
    const name = groupOf(cell.row);
    const spread = spreads.get(name) ?? new Map<string, number>();
    spreads.set(name, spread);
    spread.set(cell.column, (spread.get(cell.column) ?? 0) + cell.calls);
  }
  return spreads;
}

/** Time in its order and without gaps, other keys by their number of calls. */
function inOrder(dimension: Dimension, calls: ReadonlyMap<string, number>): string[] {
  if (dimension.fill) return dimension.fill([...calls.keys()]);
  return [...calls].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).map(([key]) => key);
}

function addUp(keys: readonly string[], sums: ReadonlyMap<string, Sum>): Sum {
  const all: Sum = { calls: 0, tenths: 0 };
  for (const key of keys) {
    all.calls += sums.get(key)?.calls ?? 0;
    all.tenths += sums.get(key)?.tenths ?? 0;
  }
  return all;
}

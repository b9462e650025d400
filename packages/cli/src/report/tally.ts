import type { Call } from '@call-attribution/core';
import type { Dimension } from './dimensions.ts';

/** The measures of one group. */
export interface Measures {
  readonly calls: number;
  /** Sum of talk minutes. */
  readonly talkMinutes: number;
  /** Part of all calls, from 0 to 1. */
  readonly share: number;
}

/** One group of the report; with two groups asked for, its calls along the second one. */
export interface Group extends Measures {
  readonly key: string;
  /** Calls by the keys of `axis`, in its order. */
  readonly series: readonly number[];
}

/** A finished report. */
export interface Report {
  /** What the rows are. */
  readonly rows: Dimension;
  /** What each row is spread over, when two groups were asked for. */
  readonly across: Dimension | null;
  readonly axis: readonly string[];
  readonly groups: readonly Group[];
  /** How many more groups were added up in `rest`. */
  readonly restCount: number;
  readonly rest: Group | null;
  readonly total: Measures;
}

interface Sum {
  calls: number;
  tenths: number;
}

/** Adds calls up by one or two dimensions. */
export interface Tally {
  add(call: Call): void;
  report(top: number): Report;
}

/** Makes an empty tally. Of two dimensions, time goes across when the other is not time, whichever came first. */
export function createTally(dimensions: readonly Dimension[]): Tally {
  const [first, second = null] = dimensions;
  if (!first) throw new Error('a tally needs a dimension');
  const swap = second !== null && first.time && !second.time;
  const rows = swap ? second : first;
  const across = swap ? first : second;
  const total: Sum = { calls: 0, tenths: 0 };
  const sums = new Map<string, Sum & { across: Map<string, number> }>();
  return {
    add(call) {
      // Tenths of a minute are whole numbers: sums stay exact.
      const tenths = Math.round(Number(call.talk_minutes) * 10) || 0;
      const key = rows.keyOf(call);
      let sum = sums.get(key);
      if (!sum) {
        sum = { calls: 0, tenths: 0, across: new Map() };
        sums.set(key, sum);
      }
      for (const part of [sum, total]) {
        part.calls++;
        part.tenths += tenths;
      }
      if (across) {
        const other = across.keyOf(call);
        sum.across.set(other, (sum.across.get(other) ?? 0) + 1);
      }
    },
    report(top) {
      const axis = across ? axisOf(across, [...sums.values()]) : [];
      const measures = (sum: Sum): Measures => ({
        calls: sum.calls,
        talkMinutes: sum.tenths / 10,
        share: total.calls === 0 ? 0 : sum.calls / total.calls,
      });
      const keys = rows.fill ? rows.fill([...sums.keys()]) : ranked(sums);
      const groups = keys.map((key): Group => {
        const sum = sums.get(key);
        return {
          key,
          ...measures(sum ?? { calls: 0, tenths: 0 }),
          series: axis.map((other) => sum?.across.get(other) ?? 0),
        };
      });
      // Time is shown whole: a cut in the middle of the days would be no chart.
      const shown = rows.time ? groups : groups.slice(0, top);
      const left = groups.slice(shown.length);
      return {
        rows,
        across,
        axis,
        groups: shown,
        restCount: left.length,
        rest: left.length === 0 ? null : addUp(left),
        total: measures(total),
      };
    },
  };
}

function addUp(groups: readonly Group[]): Group {
  const sum = (of: (group: Group) => number): number => groups.reduce((all, group) => all + of(group), 0);
  return {
    key: `${groups.length} more`,
    calls: sum((group) => group.calls),
    talkMinutes: sum((group) => Math.round(group.talkMinutes * 10)) / 10,
    share: sum((group) => group.share),
    series: (groups[0]?.series ?? []).map((_, at) => sum((group) => group.series[at] ?? 0)),
  };
}

function ranked(sums: ReadonlyMap<string, Sum>): string[] {
  return [...sums]
    .sort(([a, left], [b, right]) => right.calls - left.calls || (a < b ? -1 : 1))
    .map(([key]) => key);
}

function axisOf(across: Dimension, sums: readonly { across: ReadonlyMap<string, number> }[]): string[] {
  const counts = new Map<string, Sum>();
  for (const sum of sums) {
    for (const [key, calls] of sum.across)
      counts.set(key, { calls: (counts.get(key)?.calls ?? 0) + calls, tenths: 0 });
  }
  return across.fill ? across.fill([...counts.keys()]) : ranked(counts);
}

import type { Call } from '@call-attribution/core';
import { count, createGroupTable, sum } from '@call-attribution/node-stream';
import type { GroupKeys } from '../fields/group-keys.ts';
import type { Cell } from '../fields/view.ts';

/** One group of calls and its measures. */
export interface Group {
  readonly key: readonly Cell[];
  readonly calls: number;
  /** Talk time of the group in tenths of a minute, so that no sum is off by rounding. */
  readonly tenths: number;
}

/** Groups calls by keys, one call at a time. */
export interface Grouping {
  add(call: Call): void;
  /** The groups with most calls first; ties in order of their keys. */
  ranked(): Group[];
}

/** Makes an empty grouping. */
export function createGrouping(keys: GroupKeys): Grouping {
  // A key may be named like a measure or another key, so columns go by position.
  const columns = keys.columns.map((keyOf, i) => [`key ${i}`, keyOf] as const);
  const table = createGroupTable({
    by: Object.fromEntries(columns),
    measures: { calls: count<Call>(), tenths: sum<Call>(tenthsOf) },
  });
  return {
    add: table.add,
    ranked() {
      const groups = table.rows().map((row) => ({
        key: columns.map(([column]) => row[column] as Cell),
        calls: row.calls,
        tenths: row.tenths,
      }));
      const name = ({ key }: Group): string => JSON.stringify(key);
      return groups.sort((a, b) => b.calls - a.calls || (name(a) < name(b) ? -1 : 1));
    },
  };
}

const tenthsOf = ({ talk_minutes: minutes }: Call): number => Math.round(Number(minutes ?? 0) * 10) || 0;

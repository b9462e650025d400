import type { Cell } from '../fields/view.ts';

/** One group of calls and its measures. */
export interface Group {
  readonly key: readonly Cell[];
  readonly calls: number;
  /** Talk time of the group, in tenths of a minute. */
  readonly tenths: number;
}

/** Adds up calls by key. Talk time is kept in whole tenths, so that no sum is off by rounding. */
export interface Grouping {
  add(key: readonly Cell[], talkMinutes: unknown): void;
  /** The groups with most calls first; ties in order of their keys. */
  ranked(): Group[];
  readonly calls: number;
  readonly tenths: number;
}

interface Sums {
  key: readonly Cell[];
  calls: number;
  tenths: number;
}

/** Makes an empty grouping. */
export function createGrouping(): Grouping {
  const groups = new Map<string, Sums>();
  let calls = 0;
  let all = 0;
  return {
    add(key, talkMinutes) {
      const name = JSON.stringify(key);
      const sums = groups.get(name) ?? { key, calls: 0, tenths: 0 };
      groups.set(name, sums);
      const tenths = Math.round(Number(talkMinutes ?? 0) * 10) || 0;
      sums.calls += 1;
      sums.tenths += tenths;
      calls += 1;
      all += tenths;
    },
    ranked() {
      const byName = (a: Sums, b: Sums): number => (JSON.stringify(a.key) < JSON.stringify(b.key) ? -1 : 1);
      return [...groups.values()].sort((a, b) => b.calls - a.calls || byName(a, b));
    },
    get calls() {
      return calls;
    },
    get tenths() {
      return all;
    },
  };
}

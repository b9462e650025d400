import type { Call } from '@call-attribution/core';
import { type Accumulator, type Measure, type Reading, reader } from './measures.ts';

/** How items are grouped and what is measured of each group. */
export interface Grouping<T, K extends string, M extends Record<string, Measure<unknown, T>>> {
  /** The columns of the key: field names, or names with functions. Default none: one group. */
  by?: readonly (K & keyof NoInfer<T>)[] | Readonly<Record<K, Reading<NoInfer<T>>>>;
  /** The measured columns. */
  measures: M;
  /** Groups held at most, against a key that is nearly unique. Default 1,000,000. */
  maxGroups?: number;
}

/** One row of the answer: the key columns and the measured columns side by side. */
export type GroupRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  [column in K]: string | number | null;
} & { [column in keyof M]: ReturnType<ReturnType<M[column]>['result']> };

/** The groups of one window or of a whole stream. */
export interface GroupTable<T, Row> {
  add(item: T): void;
  rows(): Row[];
}

type Key = string | number | null;

/** Checks a grouping once and returns a function that makes empty tables for it. */
export function groupTables<
  T = Call,
  K extends string = never,
  M extends Record<string, Measure<unknown, T>> = never,
>(grouping: Grouping<T, K, M>, taken: readonly string[] = []): () => GroupTable<T, GroupRow<K, M>> {
  const keys = keyColumns(grouping.by);
  const measures = Object.entries(grouping.measures) as [string, Measure<unknown, T>][];
  const names = [...taken, ...keys.map(([name]) => name), ...measures.map(([name]) => name)];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new TypeError(`column ${twice} stands twice in the row; rename the key or the measure`);
  const maxGroups = grouping.maxGroups ?? 1_000_000;

  return () => {
    const groups = new Map<Key, { key: Key[]; parts: Accumulator<unknown, T>[] }>();
    return {
      add(item) {
        const key = keys.map(([, read]) => keyOf(read(item)));
        const id = key.length === 1 ? (key[0] as Key) : JSON.stringify(key);
        let group = groups.get(id);
        if (group === undefined) {
          if (groups.size >= maxGroups) throw tooMany(maxGroups, keys);
          group = { key, parts: measures.map(([, make]) => make()) };
          groups.set(id, group);
        }
        for (const part of group.parts) part.add(item);
      },
      rows: () =>
        [...groups.values()].map(({ key, parts }) => {
          const row: Record<string, unknown> = {};
          keys.forEach(([name], index) => {
            row[name] = key[index];
          });
          measures.forEach(([name], index) => {
            row[name] = parts[index]?.result();
          });
          return row as GroupRow<K, M>;
        }),
    };
  };
}

function keyColumns<T>(by: unknown): [string, (item: T) => unknown][] {
  if (by === undefined) return [];
  if (Array.isArray(by)) return by.map((name) => [name, reader<T>(name)]);
  return Object.entries(by as Record<string, Reading<T>>).map(([name, read]) => [name, reader(read)]);
}

function keyOf(value: unknown): Key {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return value === null || value === undefined ? null : String(value);
}

function tooMany(maxGroups: number, keys: readonly [string, unknown][]): RangeError {
  const names = keys.map(([name]) => name).join(', ');
  return new RangeError(
    `more than ${maxGroups} groups by ${names}; group by something coarser or raise maxGroups`,
  );
}

import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { ItemError } from '../errors.ts';
import { atLeastOne } from '../option-kinds.ts';
import { type Accumulator, type Measure, type Reading, reader } from './measures.ts';
import { Operator } from './operator.ts';

/** The options of a grouping. */
export const groupingOptions = <T, K extends string, M extends Record<string, Measure<unknown, T>>>() =>
  defineOptions({
    /** The columns of the key: field names, or names with functions. Default none: one group. */
    by: option.list<K & keyof NoInfer<T>>().or(option.object<Readonly<Record<K, Reading<NoInfer<T>>>>>()),
    /** The measured columns. */
    measures: option.object<M>().required(),
    /** Groups held at most, against a key that is nearly unique. Default 1,000,000. */
    maxGroups: atLeastOne().default(1_000_000),
  });

/** How items are grouped and what is measured of each group. */
export interface Grouping<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends OptionsOf<typeof groupingOptions<T, K, M>> {}

/** One row of the result: the key columns and the measured columns. */
export type GroupRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  [column in K]: string | number | null;
} & { [column in keyof M]: ReturnType<ReturnType<M[column]>['result']> };

/** Groups that grow item by item. */
export interface GroupTable<T, Row> {
  /** Measures an item in its group. */
  add(item: T): void;
  /** One row per group, in the order the groups were first seen. */
  rows(): Row[];
}

type Key = string | number | null;

/**
 * Groups a whole stream and gives one row per group when it ends, in the order the groups were first seen. Memory grows
 * with the number of groups, not of items.
 *
 * @example
 * aggregate({ by: ['ppc_campaign'], measures: { calls: count(), minutes: sum('talk_minutes') } });
 */
export function aggregate<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  grouping: Grouping<T, K, M>,
): Operator<T, GroupRow<K, M>> {
  const table = groupTables<T, K, M>(groupingOptions<T, K, M>().read(grouping));
  return new Operator<T, GroupRow<K, M>>(({ emit }) => {
    const groups = table();
    return {
      push: (item) => groups.add(item),
      end: () => {
        for (const row of groups.rows()) emit(row);
      },
    };
  });
}

/**
 * The groups of `aggregate` without a stream, for items that are at hand already.
 *
 * @example
 * const table = createGroupTable({ by: ['city'], measures: { calls: count() } });
 * for (const call of calls) table.add(call);
 * table.rows(); // [{ city: 'Boston', calls: 12 }, ...]
 */
export function createGroupTable<
  M extends Record<string, Measure<unknown, T>>,
  K extends string = never,
  T = Call,
>(grouping: Grouping<T, K, M>): GroupTable<T, GroupRow<K, M>> {
  return groupTables<T, K, M>(groupingOptions<T, K, M>().read(grouping))();
}

/** Returns a function that makes empty tables for it. `taken` are columns a row has already. */
export function groupTables<
  T = Call,
  K extends string = never,
  M extends Record<string, Measure<unknown, T>> = never,
>(
  grouping: ReadOf<typeof groupingOptions<T, K, M>>,
  taken: readonly string[] = [],
): () => GroupTable<T, GroupRow<K, M>> {
  const keys = keyColumns(grouping.by);
  const measures = Object.entries<Measure<unknown, T>>(grouping.measures);
  const names = [...taken, ...keys.map(([name]) => name), ...measures.map(([name]) => name)];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new ConfigurationError(
      'invalid_option',
      `column ${twice} appears twice in a row; rename the key or the measure`,
    );
  const { maxGroups } = grouping;

  return () => {
    const groups = new Map<Key, { key: Key[]; parts: Accumulator<unknown, T>[] }>();
    return {
      add(item) {
        const key = keys.map(([, read]) => keyOf(read(item)));
        const [first = null] = key;
        const id = key.length === 1 ? first : JSON.stringify(key);
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

function tooMany(maxGroups: number, keys: readonly [string, unknown][]): ItemError {
  const names = keys.map(([name]) => name).join(', ');
  return new ItemError(
    'too_many_groups',
    `more than ${maxGroups} groups by ${names}; group by something coarser or raise maxGroups`,
  );
}

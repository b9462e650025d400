import type { Call } from '@call-attribution/core';
import { type Grouping, type GroupRow, groupTables } from './groups.ts';
import type { Measure } from './measures.ts';
import { Operator } from './operator.ts';

/**
 * Groups a whole stream and gives one row per group when it ends, in the order the groups were first seen. Memory grows
 * with the number of groups, not of items.
 */
export function aggregate<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  grouping: Grouping<T, K, M>,
): Operator<T, GroupRow<K, M>> {
  const table = groupTables<T, K, M>(grouping);
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

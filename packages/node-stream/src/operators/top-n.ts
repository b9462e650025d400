import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOperator } from './chain.ts';
import { type Key, keyOf, nameOf, namesOf, numberOf, type Reading, reader } from './fields.ts';
import type { Operator } from './operator.ts';

/** Settings of `topN`. */
export interface TopOptions<T> {
  /** How many items are kept. */
  count: number;
  /**
   * What they are ordered by, the largest first: a field or a function that gives numbers. Items
   * without one are left out.
   */
  by: Reading<NoInfer<T>>;
  /**
   * The strongest of each group, such as `from` for rows of windows. Items of a group come one
   * after the other. Default: of all.
   */
  within?: Reading<NoInfer<T>>;
}

/**
 * The items with the largest values, the largest first; of equal ones those that came first. They
 * come out when a group ends.
 *
 * @example
 * calls.through(
 *   tumbling({ size: 'day', by: ['ppc_campaign'], measures: { calls: count() } }),
 *   topN({ count: 10, by: 'calls', within: 'from' }),
 * );
 */
export function topN<T>(options: TopOptions<T>): Operator<T, T> {
  const { count, by, within } = options;
  if (!Number.isSafeInteger(count) || count < 1 || count > 1e6)
    throw new ConfigurationError('invalid_option', `count is ${count}; expected 1 to 1000000`);
  const readValue = reader<T>(by);
  const groupOf = within === undefined ? () => null : reader<T>(within);
  return defineOperator<T, T>({
    name: 'topN',
    gives: 'other',
    settings: { count, by: nameOf(by), within: within === undefined ? [] : [nameOf(within)] },
    fields: namesOf(by, within),
    begin(state) {
      type Saved = { readonly group: Key; readonly best: readonly (readonly [number, T])[] };
      const saved = state as Saved | null;
      let group: Key | undefined = saved?.group;
      let best: (readonly [value: number, item: T])[] = [...(saved?.best ?? [])];

      // A stable sort keeps those that came first in front.
      const cut = () => {
        best = best.sort(([a], [b]) => b - a).slice(0, count);
      };

      const flush = (): T[] => {
        cut();
        const out = best.map(([, item]) => item);
        best = [];
        return out;
      };

      return {
        page(items) {
          const out: T[] = [];
          for (const item of items) {
            const now = keyOf(groupOf(item), nameOf(within) ?? 'the group', item);
            if (group !== undefined && now !== group) for (const each of flush()) out.push(each);
            group = now;
            const raw = readValue(item);
            if (raw === null || raw === undefined || raw === '') continue;
            best.push([numberOf(raw, nameOf(by) ?? 'the value', item), item]);
            if (best.length >= 2 * count + 64) cut();
          }

          return out;
        },
        end: flush,
        save(): Saved | null {
          cut();
          return group === undefined ? null : { group, best: [...best] };
        },
      };
    },
  });
}

import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { numberOf } from '../accumulators/decimal.ts';
import { reading } from '../option-kinds.ts';
import type { Operator } from './forms.ts';
import { type Key, keyOf } from './keys.ts';
import { type Reading, reader } from './measures.ts';
import { defineOperator } from './operator.ts';
import { each } from './step.ts';

const topOptions = <T>() =>
  defineOptions({
    /** How many items are kept. */
    count: option.whole(1).required(),
    /** What they are ordered by, the largest first: a field or a function that gives numbers. Items without one are left out. */
    by: reading<Reading<NoInfer<T>>>().required(),
    /** The strongest of each group, such as `from` for rows of windows. Items of a group come one after the other. Default: of all. */
    within: reading<Reading<NoInfer<T>>>(),
  });

/** Settings of `topN`. */
export interface TopOptions<T> extends OptionsOf<typeof topOptions<T>> {}

interface Ranked<T> {
  readonly value: number;
  readonly item: T;
}

interface TopState<T> {
  readonly group: Key | undefined;
  readonly best: readonly (readonly [number, T])[];
}

/**
 * The items with the largest values, the largest first; of equal ones those that came first. They come out when a group ends.
 *
 * @example
 * calls.through(
 *   tumbling({ size: 'day', by: ['ppc_campaign'], measures: { calls: count() } }),
 *   topN({ count: 10, by: 'calls', within: 'from' }),
 * );
 */
export function topN<T>(options: TopOptions<T>): Operator<T, T> {
  const { count, by, within } = topOptions<T>().read(options);
  if (count > 1e6)
    throw new ConfigurationError('invalid_option', `count is ${count}; expected 1000000 at most`);
  const readValue = reader<T>(by);
  const groupOf = within === undefined ? () => null : reader<T>(within);
  const nameOf = (of: unknown) => (typeof of === 'string' ? of : null);
  return defineOperator<T, T>({
    name: 'topN',
    settings: { count, by: nameOf(by), within: within === undefined ? [] : [nameOf(within)] },
    begin(state) {
      const saved = state as TopState<T> | null;
      let group: Key | undefined = saved?.group;
      let best: Ranked<T>[] = (saved?.best ?? []).map(([value, item]) => ({ value, item }));
      // A stable sort keeps those that came first in front.
      const cut = () => {
        best = best.sort((a, b) => b.value - a.value).slice(0, count);
      };
      const flush = (): T[] => {
        cut();
        const out = best.map(({ item }) => item);
        best = [];
        return out;
      };
      return {
        take: each((item, out) => {
          const raw = readValue(item);
          const value =
            raw === null || raw === undefined || raw === ''
              ? null
              : numberOf(raw, nameOf(by) ?? 'the value', item);
          const now = keyOf(groupOf(item), nameOf(within) ?? 'the group', item);
          if (group !== undefined && now !== group) out.push(...flush());
          group = now;
          if (value === null) return;
          best.push({ value, item });
          if (best.length >= 2 * count + 64) cut();
        }),
        // What is held may be older.
        passed: () => ({ out: [], before: null }),
        end: flush,
        save() {
          cut();
          if (group === undefined) return null;
          return { group, best: best.map(({ value, item }) => [value, item] as const) } satisfies TopState<T>;
        },
      };
    },
  });
}

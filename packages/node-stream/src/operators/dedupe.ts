import type { Call } from '@call-attribution/core';
import { checkNames } from '@call-attribution/core/options';
import { defineOperator } from './chain.ts';
import { type Key, keyOf, nameOf, namesOf, type Reading, reader } from './fields.ts';
import type { Operator } from './operator.ts';

/** Settings of `dedupe`. */
export interface DedupeOptions<T> {
  /**
   * Items with the same key are duplicates: a field or a function. Items without a key are all
   * passed on.
   */
  key: Reading<NoInfer<T>>;
}

/**
 * Lets the first item of each key through. A million numbers of callers take about 100 MB. A stream
 * of calls has each call once already.
 *
 * @example
 * createCallStream(client).through(dedupe({ key: 'ani' })); // the first call of each caller
 */
export function dedupe<T = Call>(options: DedupeOptions<T>): Operator<T, T> {
  checkNames(options, ['key']);
  const { key } = options;
  const read = reader(key);
  return defineOperator<T, T>({
    name: 'dedupe',
    settings: { key: nameOf(key) },
    fields: namesOf(key),
    gives: 'same',
    begin(state) {
      const seen = new Set(state as Key[] | null);

      const isFirst = (item: T): boolean => {
        const id = keyOf(read(item), 'the key', item);
        const isNew = id === null || !seen.has(id);
        if (id !== null) seen.add(id);
        return isNew;
      };

      return { page: (items) => items.filter(isFirst), save: () => [...seen] };
    },
  });
}

import type { Call } from '@call-attribution/core';
import { type FilterInput, matcher, printFilter, toFilter } from '@call-attribution/query-dsl';
import { defineOperator } from './chain.ts';
import type { Operator } from './operator.ts';

/**
 * Lets through the calls that match a filter in the language of `q` (a string, a tree or a
 * builder), or any items that match a function. A filter sent with the request is cheaper; this one
 * is for calls that have been fetched already.
 *
 * @example
 * createCallStream(client).through(filterCalls('talk_minutes:[2 TO *]'));
 */
export function filterCalls<T = Call>(
  filter: FilterInput | ((item: T) => boolean),
): Operator<T, T> {
  const matches = typeof filter === 'function' ? filter : matcher(toFilter(filter));
  return defineOperator<T, T>({
    name: 'filterCalls',
    settings: typeof filter === 'function' ? null : printFilter(filter),
    gives: 'same',
    begin: () => ({ page: (items) => items.filter((item) => matches(item as T & Call)) }),
  });
}

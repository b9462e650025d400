import type { Call } from '@call-attribution/core';
import { type FilterLike, matcher, toFilter } from '@call-attribution/query-dsl';
import { Operator } from './operator.ts';

type Predicate = (call: Call) => boolean;

/**
 * Lets through the calls that match: a filter in the language of `q` (text, tree or builder), or a function.
 * A filter asked of the API is cheaper; this one is for what has been fetched already.
 */
export function filterCalls(filter: string | FilterLike | Predicate): Operator<Call, Call> {
  const matches = typeof filter === 'function' ? filter : fromFilter(filter);
  return new Operator(({ emit }) => ({
    push(call) {
      if (matches(call)) emit(call);
    },
  }));
}

function fromFilter(filter: string | FilterLike): Predicate {
  const test = matcher(toFilter(filter), {
    callExtensions: { channel: 'channel', isExtension: (value) => value === 'Call Extension' },
  });
  return (call) => test(call as unknown as Readonly<Record<string, unknown>>);
}

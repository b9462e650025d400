import { type Call, isCallExtension } from '@call-attribution/core';
import { type FilterLike, matcher, toFilter } from '@call-attribution/query-dsl';
import { Operator } from './operator.ts';

type Predicate = (call: Call) => boolean;

/** Options of `filterCalls`. */
export interface FilterOptions {
  /** Do as v3 servers do: leave calls of call extensions out unless the filter says `inc_gce:1`. Default false. */
  asV3?: boolean;
}

const v3 = { channel: 'channel', isExtension: (channel: unknown) => isCallExtension({ channel }) };

/**
 * Lets through the calls that match: a filter in the language of `q` (text, tree or builder), or a function. A filter
 * asked of the API is cheaper; this one is for what has been fetched already.
 */
export function filterCalls(
  filter: string | FilterLike | Predicate,
  options: FilterOptions = {},
): Operator<Call, Call> {
  const matches = typeof filter === 'function' ? filter : compiled(filter, options);
  return new Operator(({ emit }) => ({
    push(call) {
      if (matches(call)) emit(call);
    },
  }));
}

function compiled(filter: string | FilterLike, { asV3 }: FilterOptions): Predicate {
  return matcher(toFilter(filter), asV3 ? { callExtensions: v3 } : {});
}

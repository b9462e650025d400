import { type Call, isCallExtension } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { type FilterInput, matcher, toFilter } from '@call-attribution/query-dsl';
import { Operator } from './operator.ts';

const filterOptions = defineOptions({
  /** Leave out calls of call extensions unless the filter says `inc_gce:1`, as v3 servers do. Default false. */
  asV3: option.flag().default(false),
});

/** Settings of `filterCalls`. */
export interface FilterOptions extends OptionsOf<typeof filterOptions> {}

const v3 = { channel: 'channel', isExtension: (channel: unknown) => isCallExtension({ channel }) };

/**
 * Lets through the calls that match a filter in the language of `q` (a string, a tree or a builder) or a function. A filter
 * sent with the request is cheaper; this one is for calls that have been fetched already.
 *
 * @example
 * createCallStream(client).pipe(filterCalls('talk_minutes:[2 TO *]'));
 */
export function filterCalls(
  filter: FilterInput | ((call: Call) => boolean),
  options: FilterOptions = {},
): Operator<Call, Call> {
  const { asV3 } = filterOptions.read(options);
  const matches = typeof filter === 'function' ? filter : compiled(filter, asV3);
  return new Operator(({ emit }) => ({
    push(call) {
      if (matches(call)) emit(call);
    },
  }));
}

function compiled(filter: FilterInput, asV3: boolean): (call: Call) => boolean {
  return matcher(toFilter(filter), asV3 ? { callExtensions: v3 } : {});
}

import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { type Call, isCallExtension } from '@call-attribution/core/record';
import { type FilterInput, matcher, printFilter, toFilter } from '@call-attribution/query-dsl';
import type { Operator } from './forms.ts';
import { defineOperator } from './operator.ts';
import { each } from './step.ts';

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
 * createCallStream(client).through(filterCalls('talk_minutes:[2 TO *]'));
 */
export function filterCalls(
  filter: FilterInput | ((call: Call) => boolean),
  options: FilterOptions = {},
): Operator<Call, Call> {
  const { asV3 } = filterOptions.read(options);
  const matches = typeof filter === 'function' ? filter : compiled(filter, asV3);
  return defineOperator<Call, Call>({
    name: 'filterCalls',
    settings: typeof filter === 'function' ? null : { filter: printFilter(toFilter(filter)), asV3 },
    begin: () => ({
      take: each((call, out) => {
        if (matches(call)) out.push(call);
      }),
    }),
  });
}

function compiled(filter: FilterInput, asV3: boolean): (call: Call) => boolean {
  return matcher(toFilter(filter), asV3 ? { callExtensions: v3 } : {});
}

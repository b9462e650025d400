import { day, formatNaive, parseNaive } from '@call-attribution/core/time';
import type { CallSelection, Condition } from '@call-attribution/questions';
import type { Chosen } from '../arguments/selection.ts';
import type { Source } from '../copy/source.ts';
import type { ToolContext } from './tool.ts';

/** Another way to count, which may be the one that another number comes from. */
interface Explanation {
  readonly what: string;
  readonly selection: CallSelection;
}

const kinds = {
  website: 'website calls only, without call extensions (the usual count of the API v3)',
  extensions: 'calls through call extensions only',
  all: 'all calls, call extensions included (as v2 of the API counts)',
} as const;

const answered: Condition = {
  kind: 'compare',
  field: 'talk_minutes',
  operator: '>',
  value: { type: 'number', text: '0' },
};

/** Counts in all the usual ways. */
export async function explanationsOf(
  chosen: Chosen,
  source: Source,
  context: ToolContext,
): Promise<readonly { readonly what: string; readonly total: number }[]> {
  const results: { what: string; total: number }[] = [];
  for (const { what, selection } of explanations(chosen))
    results.push({ what, total: (await source.count(selection, context)).total });
  return results;
}

/** The usual reasons for another number. */
function explanations({ selection, period }: Chosen): Explanation[] {
  const list: Explanation[] = (['website', 'extensions', 'all'] as const)
    .filter((kind) => kind !== selection.calls)
    .map((kind) => ({ what: kinds[kind], selection: { ...selection, calls: kind } }));
  if (selection.where === undefined)
    list.push({ what: 'answered calls only', selection: { ...selection, where: answered } });
  const { from, to } = period;
  if (from !== null && to?.endsWith(' 00:00:00')) {
    const last = formatNaive(parseNaive(to) - day);
    if (last > from)
      list.push({ what: 'the period without its last day', selection: { ...selection, to: last } });
  }
  return list;
}

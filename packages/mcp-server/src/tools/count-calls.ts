import * as z from 'zod';
import { choose, selectionShape, withMirror, withoutMirror } from '../arguments/selection.ts';
import type { CallSource, Selection } from '../source/source.ts';
import { count } from '../text/notes.ts';
import { incompleteSentence, scopeSentence } from '../text/summaries.ts';
import { explanations } from './explain-count.ts';
import { defineTool, readsApi, type ToolContext } from './tool.ts';

const name = 'count_calls';

/** Counts calls, and says why a count differs from another. */
export const countCalls = defineTool({
  name,
  title: 'Count calls',
  description: 'How many calls match. explain=true with expected says why another number differs.',
  input: z.object({
    ...selectionShape,
    explain: z.boolean().optional(),
    expected: z.number().optional().describe('The other number'),
  }),
  listedOnly: { withMirror, withoutMirror },
  output: z.object({
    summary: z.string(),
    total: z.number().int(),
    columns: z.array(z.string()).optional(),
    rows: z.array(z.array(z.any())).optional(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run(args, context) {
    const chosen = choose(args, context.version, context.today());
    const source = await context.source();
    const counted = await source.count(chosen.selection, context);
    const { incomplete } = counted;
    const summary = [
      ...(incomplete ? [incompleteSentence(incomplete, name, args)] : []),
      scopeSentence(counted.total, chosen.scope, counted),
    ];
    const notes = [...chosen.notes, ...counted.notes];
    if (args.explain !== true && args.expected === undefined)
      return { summary: summary.join(' '), total: counted.total, notes };
    const others = await explain(chosen.selection, source, context);
    const same = others.filter(({ total }) => total === args.expected);
    if (args.expected === counted.total) summary.push('That is the number expected.');
    else if (args.expected !== undefined)
      summary.push(
        same.length > 0
          ? `${count(args.expected)} is the number of ${same.map(({ what }) => what).join('; or ')}.`
          : `None of the usual differences gives ${count(args.expected)}.`,
      );
    return {
      summary: summary.join(' '),
      total: counted.total,
      columns: ['what is counted', 'calls'],
      rows: others.map(({ what, total }) => [what, total]),
      notes,
    };
  },
});

async function explain(
  selection: Selection,
  source: CallSource,
  context: ToolContext,
): Promise<{ what: string; total: number }[]> {
  const results: { what: string; total: number }[] = [];
  for (const { what, selection: other, overApi } of explanations(selection, context)) {
    const counted = overApi ? await overApi() : await source.count(other, context);
    if (counted !== null)
      results.push({ what, total: typeof counted === 'number' ? counted : counted.total });
  }
  return results;
}

import * as z from 'zod';
import { choose, selectionShape } from '../arguments/selection.ts';
import { count } from '../text/notes.ts';
import { scopeSentence } from '../text/summaries.ts';
import { explanationsOf } from './explain-count.ts';
import { explainZero } from './explain-zero.ts';
import { goOn, resumed } from './resume.ts';
import { defineTool, readsApi } from './tool.ts';

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
    cursor: z.string().max(80).optional().describe('Goes on; alone'),
  }),
  output: z.object({
    summary: z.string(),
    total: z.number().int().optional(),
    go_on: z.string().optional(),
    columns: z.array(z.string()).optional(),
    rows: z.array(z.array(z.any())).optional(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run(given, called) {
    const { args, saved, context } = resumed(name, given, called);
    const chosen = choose(args, context);
    const source = await context.source();
    const counted = await source.count(chosen.selection, { ...context, saved });
    const more = goOn(name, args, counted, context);
    if (more && !more.hasNumbers) return { summary: more.sentence, notes: [], go_on: more.cursor };
    const { total } = counted;
    const zero = total === 0 ? await explainZero(chosen, counted, source, context) : [];
    const notes = [...chosen.notes, ...zero, ...counted.notes];
    const summary = [...(more ? [more.sentence] : []), scopeSentence(total, chosen.scope, counted)];
    if (args.explain !== true && args.expected === undefined)
      return { summary: summary.join(' '), total, notes };
    const others = await explanationsOf(chosen, source, context);
    const same = others.filter((other) => other.total === args.expected);
    if (args.expected === total) summary.push('That is the number expected.');
    else if (args.expected !== undefined)
      summary.push(
        same.length > 0
          ? `${count(args.expected)} is the number of ${same.map(({ what }) => what).join('; or ')}.`
          : `None of the usual differences gives ${count(args.expected)}.`,
      );
    return {
      summary: summary.join(' '),
      total,
      columns: ['what is counted', 'calls'],
      rows: others.map((other) => [other.what, other.total]),
      notes,
    };
  },
});

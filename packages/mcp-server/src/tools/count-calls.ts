import * as z from 'zod';
import { choose, selectionShape } from '../arguments/selection.ts';
import { count } from '../text/notes.ts';
import { scopeSentence, withoutSentence } from '../text/summaries.ts';
import { explanationsOf } from './explain-count.ts';
import { explainZero } from './explain-zero.ts';
import { defineTool, readsApi } from './tool.ts';

/** Counts calls, and says why a count differs from another. */
export const countCalls = defineTool({
  name: 'count_calls',
  title: 'Count calls',
  description: 'How many calls match. expected: another number; says why it differs.',
  input: z.object({
    ...selectionShape,
    expected: z.number().optional().describe('The other number'),
  }),
  output: z.object({
    summary: z.string(),
    total: z.number().int().optional(),
    columns: z.array(z.string()).optional(),
    rows: z.array(z.array(z.any())).optional(),
    complete: z.boolean().optional(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run(args, context) {
    const { source } = context;
    const chosen = choose(args, context);
    const counted = await source.count(chosen.selection, context);
    const { total, without } = counted;
    const zero = total === 0 ? await explainZero(chosen, counted, source, context) : [];
    const notes = [...chosen.notes, ...zero, ...counted.notes];
    const summary = [withoutSentence(without), scopeSentence(total, chosen.scope, counted)].filter(
      (text) => text !== '',
    );
    const result = { total, ...(without.length > 0 ? { complete: false } : {}), notes };
    const { expected } = args;
    if (expected === undefined) return { summary: summary.join(' '), ...result };
    const others = await explanationsOf(chosen, source, context);
    const same = others.filter((other) => other.total === expected).map(({ what }) => what);
    if (expected === total) summary.push('That is the number expected.');
    else if (same.length > 0) summary.push(`${count(expected)} is the number of ${same.join('; or ')}.`);
    else summary.push(`None of the usual differences gives ${count(expected)}.`);
    return {
      summary: summary.join(' '),
      ...result,
      columns: ['what is counted', 'calls'],
      rows: others.map((other) => [other.what, other.total]),
    };
  },
});

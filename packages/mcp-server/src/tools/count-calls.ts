import * as z from 'zod';
import { scopeSentence, withoutSentence } from '../text/words.ts';
import { choose, selectionShape } from './arguments.ts';
import { explainZero } from './explain-zero.ts';
import { tableOutput, tool } from './tool.ts';

const { summary, complete, notes } = tableOutput;

/** Counts calls. */
export const countCalls = tool({
  name: 'count_calls',
  title: 'Count calls',
  description: 'How many calls match.',
  input: z.object(selectionShape).partial(),
  output: z.object({ summary, complete, notes, total: z.number().int() }).partial(),
  answers: 'How many',
  async run(args, context) {
    const chosen = choose(args, context);
    const counted = await context.source.count(chosen.selection, context);
    const { total, without } = counted;
    const zero = total === 0 ? await explainZero(chosen, counted, context) : [];
    return {
      summary: `${withoutSentence(without)} ${scopeSentence(total, chosen.scope, counted)}`.trim(),
      total,
      ...(without.length > 0 ? { complete: false } : {}),
      notes: [...chosen.notes, ...zero, ...counted.notes],
    };
  },
});

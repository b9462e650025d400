import { day, formatNaive, parseNaive } from '@call-attribution/core/time';
import type { CallSelection, Condition } from '@call-attribution/questions';
import { formatCount } from '@call-attribution/questions/chart';
import * as z from 'zod';
import { scopeSentence, withoutSentence } from '../text/words.ts';
import { type Chosen, choose, selectionShape } from './arguments.ts';
import { explainZero } from './explain-zero.ts';
import { tableOutput, tool } from './tool.ts';

/** Counts calls, and says why a count differs from another. */
export const countCalls = tool({
  name: 'count_calls',
  title: 'Count calls',
  description: 'How many calls match. expected: another number; says why it differs.',
  input: z.object({ ...selectionShape, expected: z.number().describe('The other number') }).partial(),
  output: z.object({ ...tableOutput, total: z.number().int() }).partial(),
  answers: 'How many',
  async run(args, context) {
    const { source } = context;
    const chosen = choose(args, context);
    const counted = await source.count(chosen.selection, context);
    const { total, without } = counted;
    const zero = total === 0 ? await explainZero(chosen, counted, context) : [];
    const notes = [...chosen.notes, ...zero, ...counted.notes];
    const summary = [withoutSentence(without), scopeSentence(total, chosen.scope, counted)].filter(
      (text) => text !== '',
    );
    const result = { total, ...(without.length > 0 ? { complete: false } : {}), notes };
    const { expected } = args;
    if (expected === undefined) return { summary: summary.join(' '), ...result };
    const others: { readonly what: string; readonly total: number }[] = [];
    for (const { what, selection } of explanations(chosen))
      others.push({ what, total: (await source.count(selection, context)).total });
    const same = others.filter((other) => other.total === expected).map(({ what }) => what);
    if (expected === total) summary.push('That is the number expected.');
    else if (same.length > 0)
      summary.push(`${formatCount(expected)} is the number of ${same.join('; or ')}.`);
    else summary.push(`None of the usual differences gives ${expected.toLocaleString('en')}.`);
    return {
      summary: summary.join(' '),
      ...result,
      columns: ['what is counted', 'calls'],
      rows: others.map((other) => [other.what, other.total]),
    };
  },
});

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

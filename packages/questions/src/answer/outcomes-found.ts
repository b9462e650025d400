import { formatCount, formatCounted } from '@call-attribution/core/errors';
import { type Unmatched, unmatchedTexts } from '../outcomes/match-outcomes.ts';
import { oneCurrency } from '../outcomes/read-outcomes.ts';
import type { LeftOut } from '../question/answer.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { Counted } from './counted.ts';
import { explainLeftOut } from './left-out.ts';

/** What is said of the outcomes of a question: how many are counted, and why not the others. */
export function outcomesLeftOut(
  { outcomes, parts }: ReadPlan,
  { matches, total }: Pick<Counted, 'matches' | 'total'>,
): LeftOut[] {
  if (outcomes === null) return [];
  const counted = total.now[parts.findIndex(({ id }) => id === 'outcomes')] ?? null;
  const valid = matches.filter(({ outcome }) => outcome.counts);
  const matched = valid.filter(({ call }) => call !== null).length;
  const reasons = new Map<Unmatched, number>();
  for (const { why } of valid) if (why !== null) reasons.set(why, (reasons.get(why) ?? 0) + 1);

  const cancelled = matches.length - valid.length;
  const others = counted === null ? 0 : matched - counted;
  const named = [
    ...(others > 0 ? [`${formatCount(others)} of calls that are not counted here`] : []),
    ...(cancelled > 0 ? [`${formatCount(cancelled)} cancelled or worth 0`] : []),
    ...[...reasons].map(([why, count]) => `${formatCount(count)} ${why} (${unmatchedTexts[why]})`),
  ];
  const currency = oneCurrency(outcomes.all, '');
  const own = counted ?? matched;
  const head = `${formatCount(own)} of ${formatCounted(matches.length, 'outcome')} ${own === 1 ? 'belongs' : 'belong'} to calls that are counted${currency === null ? '' : `, in ${currency}`}`;
  const text = named.length === 0 ? `${head}.` : `${head}. Not counted: ${named.join('; ')}.`;
  return [explainLeftOut('outcomes', matches.length - own, text)];
}

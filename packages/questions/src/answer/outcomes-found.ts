import { formatCount, formatCounted } from '@call-attribution/core/errors';
import { type OutcomeMatch, type Unmatched, unmatchedTexts } from '../outcomes/match-outcomes.ts';
import { oneCurrency } from '../outcomes/read-outcomes.ts';
import type { FoundOutcome, LeftOut } from '../question/answer.ts';
import { shownMoment } from '../question/measures.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { Counted, MatchedCall } from './counted.ts';
import { explainLeftOut } from './left-out.ts';

/** An outcome as answers show it. */
export function shownOutcome({ outcome, call, why }: OutcomeMatch<MatchedCall>): FoundOutcome {
  const { place, time, value, currency, counts } = outcome;
  return {
    place,
    time: shownMoment(time),
    value,
    currency,
    account: call?.account ?? null,
    sid: call?.sid ?? null,
    date_added: call === null ? null : shownMoment(call.time),
    why: counts ? why : 'cancelled',
  };
}

/** What is said of the outcomes of a question: how many are counted, and why not the others. */
export function outcomesLeftOut(
  { outcomes, parts }: ReadPlan,
  { matches, total }: Pick<Counted, 'matches' | 'total'>,
): LeftOut[] {
  if (outcomes === null) return [];
  const counted = total.now[parts.findIndex(({ id }) => id === 'outcomes')] ?? null;
  const valid = matches.filter(({ outcome }) => outcome.counts);
  const matched = valid.filter(({ call }) => call !== null).length;
  const reasons = (Object.keys(unmatchedTexts) as Unmatched[]).map((reason) => {
    return { reason, count: valid.filter(({ why }) => why === reason).length };
  });

  const cancelled = matches.length - valid.length;
  const others = counted === null ? 0 : matched - counted;
  const named = [
    ...(others > 0
      ? [`${formatCount(others)} of other calls, such as those of another period`]
      : []),
    ...(cancelled > 0 ? [`${formatCount(cancelled)} cancelled or worth 0`] : []),
    ...reasons
      .filter(({ count }) => count > 0)
      .map(({ reason, count }) => `${formatCount(count)} ${reason} (${unmatchedTexts[reason]})`),
  ];
  const currency = oneCurrency(outcomes.all, '');
  const own = counted ?? matched;
  const head = `${formatCount(own)} of ${formatCounted(matches.length, 'outcome')} ${own === 1 ? 'belongs' : 'belong'} to calls that are counted${currency === null ? '' : `, in ${currency}`}`;
  const text = named.length === 0 ? `${head}.` : `${head}. Not counted: ${named.join('; ')}.`;
  return [explainLeftOut('outcomes', matches.length - own, text)];
}

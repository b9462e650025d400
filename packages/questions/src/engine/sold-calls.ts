import type { Judge } from '../conditions/holds.ts';
import { Batch, nobody, type Shift, type Sold, valueSteps } from '../fields/batch.ts';
import type { Numbering } from '../fields/numbering.ts';
import { matchOutcomes, type OutcomeMatch } from '../outcomes/match-outcomes.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { KeptAccount } from './sequences.ts';

/** Where a call is kept: its account, and its place there. */
export interface KeptPlace {
  readonly account: string;
  readonly at: number;
  /** Its session id; null where it was not read. */
  readonly sid: string | null;
  /** When it began, in naive milliseconds. */
  readonly time: number;
}

/** Which outcomes of a plan belong to which of the kept calls. */
export interface SoldCalls {
  readonly matches: readonly OutcomeMatch<KeptPlace>[];
  /** What became of the calls of an account, by their place. */
  of(account: string): ReadonlyMap<number, Sold>;
}

/** Matches the outcomes of a plan with calls whose callers have these numbers. */
export function soldCalls(
  outcomes: NonNullable<ReadPlan['outcomes']>,
  accounts: Iterable<KeptAccount>,
  callers: Numbering,
  shift: Shift,
  isExcluded: Judge<Batch>,
): SoldCalls {
  const numbers = callers.keys;
  const matcher = matchOutcomes<KeptPlace>(outcomes.all, outcomes.window);
  for (const { calls, sequenceOf } of accounts) {
    const { account, sentTimes, columns } = calls;
    const batch = new Batch(calls, shift, (all) => sequenceOf(all, null));
    for (batch.at = 0; batch.at < calls.length; batch.at += 1) {
      const caller = batch.caller === nobody ? null : (numbers[batch.caller] ?? null);
      if (!matcher.wants(caller)) continue;
      const { at } = batch;
      const time = sentTimes[at] as number;
      const sid = columns.sid === undefined ? null : String(columns.sid[at]);
      matcher.add(caller, {
        account,
        time,
        sid: sid ?? '',
        isExcluded: isExcluded(batch) === true,
        it: { account, at, sid, time },
      });
    }
  }

  const matches = matcher.matches();
  const sold = new Map<string, Map<number, Sold>>();
  for (const { outcome, call } of matches) {
    if (call === null || !outcome.counts) continue;
    const ofAccount = sold.get(call.account) ?? new Map<number, Sold>();
    const { outcomes: count, revenue } = ofAccount.get(call.at) ?? { outcomes: 0, revenue: 0 };
    const value = Math.round(outcome.value * valueSteps);
    ofAccount.set(call.at, { outcomes: count + 1, revenue: revenue + value });
    sold.set(call.account, ofAccount);
  }

  return { matches, of: (account) => sold.get(account) ?? new Map() };
}

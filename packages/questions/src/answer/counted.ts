import type { Value } from '../conditions/condition.ts';
import type { OutcomeMatch } from '../outcomes/match-outcomes.ts';
import type { AccountStatus } from '../question/answer.ts';
import type { PartValue } from '../question/measures.ts';

/**
 * What was counted of the calls of one group: the values of the parts of the plan, null for a
 * period without a call.
 */
export interface CountedGroup {
  /** The keys of its groups; of time these are numbers (see `buckets.ts`). */
  readonly key: readonly Value[];
  /** Its parts in the period; null when it has no call there. */
  readonly now: readonly PartValue[] | null;
  /** The same in the compared period. */
  readonly past: readonly PartValue[] | null;
}

/** The call of an outcome. */
export interface MatchedCall {
  readonly account: string;
  readonly sid: string | null;
  /** When it began, in naive milliseconds. */
  readonly time: number;
}

/** What was counted. An answer is made of it. */
export interface Counted {
  /** The parts over all calls of the period, and of the one it is compared with. */
  readonly total: {
    readonly now: readonly PartValue[];
    readonly past: readonly PartValue[] | null;
  };
  /** Every group that has a call, in any order. */
  readonly groups: readonly CountedGroup[];
  /** Calls of the period that came through call extensions. */
  readonly extensions: number;
  /** Calls of the period that are not counted because of their channel. */
  readonly otherChannel: number;
  /** Calls of the period that the question excludes. */
  readonly excluded: number;
  /** Calls without a time, when there is a period. */
  readonly noTime: number;
  /** Calls of the period that a negation leaves out because they have no value, by the field. */
  readonly withoutValue: ReadonlyMap<string, number>;
  /**
   * How often each value occurs of the texts that conditions compare, in all calls of the accounts.
   */
  readonly values: ReadonlyMap<string, ReadonlyMap<Value, number>>;
  /**
   * How many calls were read of each hour, by its number since 1970 on the clock of the answer:
   * whatever the conditions leave of them.
   */
  readonly hours: ReadonlyMap<number, number>;
  /** The first and the last call of the accounts, on that clock; null where that is not known. */
  readonly first: number | null;
  readonly last: number | null;
  /** Where the copies of these accounts begin, on that clock; null for one that has all calls. */
  readonly since: number | null;
  /** Up to when all calls are known, on that clock; null where nobody knows. */
  readonly until: number | null;
  /** The outcomes of a question that measures what calls became, with their calls. */
  readonly matches: readonly OutcomeMatch<MatchedCall>[];
  /** The accounts that the question is about and that are known. */
  readonly accounts: readonly AccountStatus[];
}

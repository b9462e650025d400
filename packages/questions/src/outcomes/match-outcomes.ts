import { day } from '@call-attribution/core/time';
import { compareValues } from '../conditions/condition.ts';
import { type Outcome, refuseRow } from './outcome.ts';

/** Why an outcome belongs to no call, in one line each. */
export const unmatchedTexts = {
  no_number: 'its phone number is none that somebody calls from',
  no_call: 'no call from this number is known before it',
  too_late: 'the last call from this number is longer ago than the window',
  many_calls: 'more than 20 calls came from this number in the window: it is not one customer',
  excluded: 'calls from this number do not count, as the exclusion says',
} as const;

/** Why an outcome belongs to no call. */
export type Unmatched = keyof typeof unmatchedTexts;

/**
 * An outcome with the call that it belongs to, or why there is none, and the calls of its caller
 * within the window.
 */
export type OutcomeMatch<T> = { readonly outcome: Outcome; readonly within: readonly T[] } & (
  | { readonly call: T; readonly why: null }
  | { readonly call: null; readonly why: Unmatched }
);

/** How far a call may lie before what became of it, in milliseconds. */
export const usualWindow = 30 * day;

/** From a number with more calls in the window nobody knows which of them it was. */
const mostCalls = 20;

/** A call, as far as its place among those of its caller goes. */
export interface MatchedCall<T> {
  /** The account of the call. */
  readonly account: string;
  /** When it began, in naive milliseconds. */
  readonly time: number;
  /** Its session id, which orders calls of one second. */
  readonly sid: string;
  /** Calls of this number do not count. */
  readonly isExcluded: boolean;
  /** What a match gives back. */
  readonly it: T;
}

/** Takes calls in any order, and says which outcome belongs to which. */
export interface OutcomeMatcher<T> {
  /** Whether outcomes of this caller are known: calls of others need not be added. */
  wants(caller: number | null): caller is number;
  /** Takes a call of a caller. */
  add(caller: number, call: MatchedCall<T>): void;
  /** Matches all outcomes. Throws a `QuestionError` for one that belongs to calls of two accounts. */
  matches(): readonly OutcomeMatch<T>[];
}

/**
 * An outcome belongs to the last call of its caller before it, at most `window` milliseconds before,
 * whatever the call came from.
 *
 * @example
 * const matcher = matchOutcomes(outcomes.all, usualWindow);
 * for await (const call of calls) {
 *   const caller = callerOf(call);
 *   if (matcher.wants(caller)) matcher.add(caller, { account: '101', time: parseNaive(call.date_added), sid: String(call.sid), isExcluded: false, it: call });
 * }
 * for (const { outcome, call, why } of matcher.matches()) console.log(outcome.place, call?.sid ?? why);
 */
export function matchOutcomes<T>(
  outcomes: readonly Outcome[],
  window: number = usualWindow,
): OutcomeMatcher<T> {
  const callers = new Map<number, MatchedCall<T>[]>();
  for (const { caller } of outcomes) if (caller !== null) callers.set(caller, []);

  const matchOne = (outcome: Outcome): OutcomeMatch<T> => {
    const { caller, time, until, place } = outcome;
    const none = (why: Unmatched): OutcomeMatch<T> => ({ outcome, within: [], call: null, why });
    if (caller === null) return none('no_number');
    const before = (callers.get(caller) ?? []).filter((call) => call.time <= until);
    if (before.length === 0) return none('no_call');
    const within = before.filter((call) => call.time >= time - window);
    const [first] = within;
    if (first === undefined) return none('too_late');
    const other = within.find(({ account }) => account !== first.account);
    if (other !== undefined)
      throw refuseRow(
        place,
        `it belongs to calls of two accounts, ${[first.account, other.account].sort().join(' and ')}: ask about one of them, with its own file`,
      );

    if (within.some(({ isExcluded }) => isExcluded)) return none('excluded');
    if (within.length > mostCalls) return none('many_calls');
    const last = within.reduce((a, b) => (isLater(b, a) ? b : a));
    return { outcome, within: within.map(({ it }) => it), call: last.it, why: null };
  };

  return {
    wants: (caller): caller is number => caller !== null && callers.has(caller),
    add(caller, call) {
      if (!Number.isNaN(call.time)) callers.get(caller)?.push(call);
    },
    matches: () => outcomes.map(matchOne),
  };
}

const isLater = <T>(a: MatchedCall<T>, b: MatchedCall<T>): boolean =>
  a.time === b.time ? compareValues(a.sid, b.sid) > 0 : a.time > b.time;

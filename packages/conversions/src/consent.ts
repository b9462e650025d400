import type { Call } from '@call-attribution/core/record';
import type { Definitions } from '@call-attribution/questions';
import { type CallCondition, conditionOf, conditionProblem } from './condition.ts';

/** Whether the person agreed to the use of their data for ads, as Google asks for it. */
export interface Consent {
  /** Data about the person may be sent to the tool for advertising. */
  readonly adUserData: ConsentStatus;
  /** The data may be used for personalized advertising. */
  readonly adPersonalization: ConsentStatus;
}

/** `unknown`: neither was said, and nothing is said to the tool. */
export type ConsentStatus = 'granted' | 'denied' | 'unknown';

/** When a consent is given: conditions in the words of `--where`, or the same for all calls. */
export type ConsentRule =
  | 'granted'
  | 'denied'
  | {
      /** True of calls whose caller agreed. What no condition grants is not granted. */
      readonly granted?: string | undefined;
      /** True of calls whose caller refused. It wins over `granted`. */
      readonly denied?: string | undefined;
    };

/** The two consents, each judged by itself. */
export interface ConsentRules {
  /** See `Consent`. */
  readonly adUserData: ConsentRule;
  /** See `Consent`. */
  readonly adPersonalization: ConsentRule;
  /**
   * What becomes of a call of which `adUserData` is neither granted nor denied. Default: it is left
   * out.
   */
  readonly otherwise?: 'leave-out' | 'unknown' | undefined;
}

/** Judges the consent of one call after the other. */
export interface ConsentJudge {
  /** The conditions that it has. */
  readonly conditions: readonly CallCondition[];
  /** What the caller agreed to. */
  consentOf(call: Call): Consent;
}

/** Makes a judge of rules. Throws a `QuestionError` for a condition with a mistake. */
export function consentJudge(rules: ConsentRules, definitions?: Definitions): ConsentJudge {
  const conditions: CallCondition[] = [];

  const read = (where: string | undefined): CallCondition | null => {
    if (where === undefined) return null;
    const condition = conditionOf(where, definitions);
    conditions.push(condition);
    return condition;
  };

  const statusOf = (rule: ConsentRule): ((call: Call) => ConsentStatus) => {
    if (typeof rule === 'string') return () => rule;
    const granted = read(rule.granted);
    const denied = read(rule.denied);
    return (call) => {
      if (denied?.holds(call)) return 'denied';
      return granted?.holds(call) ? 'granted' : 'unknown';
    };
  };

  const adUserData = statusOf(rules.adUserData);
  const adPersonalization = statusOf(rules.adPersonalization);
  return {
    conditions,
    consentOf: (call) => ({
      adUserData: adUserData(call),
      adPersonalization: adPersonalization(call),
    }),
  };
}

/** What is wrong with a condition of the rules, and where; null when all can be read. */
export function consentProblem(rules: ConsentRules, definitions?: Definitions): string | null {
  for (const name of ['adUserData', 'adPersonalization'] as const) {
    const rule = rules[name];
    for (const [status, where] of typeof rule === 'string' ? [] : Object.entries(rule)) {
      const problem = where === undefined ? null : conditionProblem(where, definitions);
      if (problem !== null) return `consent.${name}.${status} has a mistake: ${problem}`;
    }
  }

  return null;
}

import type { Call } from '@call-attribution/core/record';
import type { Definitions } from '@call-attribution/questions';
import { type CallCondition, conditionOf } from './condition.ts';
import { type Consent, type ConsentRules, consentJudge } from './consent.ts';
import { type CallerFacts, labelOf, type ValueRules } from './value-rules.ts';

/** What a call is worth: see `value` of `ConditionalRules`. */
export type Worth = number | ValueRules | ((call: Call, caller: CallerFacts) => number | null);

/** What callers agreed to: see `consent` of `ConditionalRules`. */
export type Agreement = ConsentRules | ((call: Call) => Consent | null);

/** What rules say by conditions. */
export interface ConditionalRules {
  /**
   * Value of each call, a table of rules by condition, or a function that says it, null when no
   * rule applies. Without it, conversions carry no value.
   */
  readonly value?: Worth | undefined;
  /**
   * What callers agreed to: by conditions, for all calls, or a function that says it. Default:
   * nothing is said about consent.
   */
  readonly consent?: Agreement | undefined;
  /** Which calls count: those of which this is true. */
  readonly where?: string | undefined;
  /**
   * Calls of which this is true, such as those of your own office, are left out. It takes nothing
   * back.
   */
  readonly exclude?: string | undefined;
  /** Conditions with a name, which may stand in all others. */
  readonly definitions?: Definitions | undefined;
}

/** Rules whose conditions were read once, for one call after the other. */
export interface RulesRead<R = ConditionalRules> {
  /** The rules themselves. */
  readonly rules: R;
  /** Some depend on the other calls of a caller: all calls have to be learned before one is judged. */
  readonly needsCallers: boolean;
  /** A call of which nobody knows whether its caller agreed is left out. */
  readonly leavesUnknown: boolean;
  /** Looks at a call that others may depend on. */
  learn(call: Call): void;
  /** What a call is worth, and the rule that says so. */
  worthOf(
    call: Call,
    caller: CallerFacts,
  ): { readonly value: number | null; readonly rule: string | null };
  /** What its caller agreed to; null when the rules say nothing of it. */
  consentOf(call: Call): Consent | null;
  /** Whether its condition is true of a call. */
  isChosen(call: Call): boolean;
  /** Whether a call is one of those that do not count at all. */
  isExcluded(call: Call): boolean;
}

/** The conditions that stand in rules, as they are written. */
export function conditionsOf({ value, consent, where, exclude }: ConditionalRules): string[] {
  const ofValue = typeof value === 'object' ? value.rules.map((rule) => rule.where) : [];
  const ofConsent =
    typeof consent === 'object'
      ? [consent.adUserData, consent.adPersonalization].flatMap((rule) =>
          typeof rule === 'string' ? [] : [rule.granted, rule.denied],
        )
      : [];
  return [where, exclude, ...ofValue, ...ofConsent].filter((text) => text !== undefined);
}

/**
 * Whether rules depend on the other calls of a caller, as a condition on `caller_type` does: then
 * earlier calls have to be read, too.
 */
export const rulesNeedCallers = (rules: ConditionalRules): boolean => readRules(rules).needsCallers;

/** Reads the conditions of rules. Throws a `QuestionError` for one with a mistake. */
export function readRules<R extends ConditionalRules>(rules: R): RulesRead<R> {
  const { value, consent, where, exclude, definitions } = rules;
  const conditions: CallCondition[] = [];
  const read = (text: string | undefined): CallCondition | null => {
    const condition = text === undefined ? null : conditionOf(text, definitions);
    if (condition !== null) conditions.push(condition);
    return condition;
  };

  const chosen = read(where);
  const excluded = read(exclude);
  const none = { value: null, rule: null };

  let worthOf: RulesRead['worthOf'] = () => none;
  if (typeof value === 'number') worthOf = () => ({ value, rule: null });
  else if (typeof value === 'function')
    worthOf = (call, caller) => ({ value: value(call, caller), rule: null });
  else if (value !== undefined) {
    const table = value.rules.map((rule) => ({
      condition: read(rule.where),
      found: { value: rule.value, rule: labelOf(rule) },
    }));
    const otherwise = { value: value.otherwise ?? null, rule: null };
    worthOf = (call) =>
      table.find(({ condition }) => condition === null || condition.holds(call))?.found ??
      otherwise;
  }

  let consentOf: RulesRead['consentOf'] = () => null;
  if (typeof consent === 'function') consentOf = consent;
  else if (consent !== undefined) {
    const judge = consentJudge(consent, definitions);
    conditions.push(...judge.conditions);
    consentOf = judge.consentOf;
  }

  const dependent = conditions.filter(({ needsCallers }) => needsCallers);
  return {
    rules,
    needsCallers: dependent.length > 0,
    leavesUnknown: typeof consent === 'object' && consent.otherwise !== 'unknown',
    learn(call) {
      for (const condition of dependent) condition.learn(call);
    },
    worthOf,
    consentOf,
    isChosen: (call) => chosen?.holds(call) ?? true,
    isExcluded: (call) => excluded?.holds(call) ?? false,
  };
}

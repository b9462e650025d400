import type { Call } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { ValueRulesProblem } from './reasons.ts';
import { valueRulesText } from './words.ts';

/** What the earlier calls say about a caller. */
export interface CallerFacts {
  /** Nobody with this number has called before, as far as the calls that were read say; null for a withheld number. */
  readonly isFirstCall: boolean | null;
}

/** One rule: it applies when all of its conditions hold. In strings `*` stands for any characters; case does not matter. */
export interface ValueRule {
  /** Talk minutes, at least. */
  readonly minMinutes?: number;
  /** Talk minutes, less than. */
  readonly maxMinutes?: number;
  /** `ppc_campaign` of the call. */
  readonly campaign?: string;
  /** `phone_label` of the call. */
  readonly label?: string;
  /** What the conversion is worth. */
  readonly value: number;
}

/** A rule table: the first rule that applies gives the value. */
export interface ValueRules {
  /** In the order they are tried. */
  readonly rules: readonly ValueRule[];
  /** Value when no rule applies; without it such calls are left out. */
  readonly otherwise?: number;
}

/** A rule table that cannot be used. */
export class ValueRulesError extends Error {
  /** The name of the class, which survives a bundler. */
  override readonly name = 'ValueRulesError';
  /** Stable name of the problem. */
  readonly code: ValueRulesProblem['code'];
  /** What to write instead; null when the message says it. */
  readonly hint: string | null;

  constructor(problem: ValueRulesProblem, source: string) {
    const [message, hint] = valueRulesText(problem, source);
    super(message);
    this.code = problem.code;
    this.hint = hint ?? null;
  }
}

const numbers = ['minMinutes', 'maxMinutes', 'value'];
const names = [...numbers, 'campaign', 'label'];

/**
 * Reads a rule table from JSON. Throws a `ValueRulesError` that says which rule is wrong.
 *
 * @param source what the error calls the table, such as the name of its file.
 * @example
 * const rules = readValueRules('{ "rules": [{ "minMinutes": 10, "value": 80 }], "otherwise": 20 }', 'rules.json');
 * valueByRules(call, rules);
 */
export function readValueRules(text: string, source: string): ValueRules {
  const refuse = (problem: ValueRulesProblem): never => {
    throw new ValueRulesError(problem, source);
  };
  const objectOf = (
    json: unknown,
    rule: number | null,
    known: readonly string[],
  ): Record<string, unknown> => {
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      return refuse({ code: 'not_an_object', rule });
    const name = Object.keys(json).find((key) => !known.includes(key));
    if (name !== undefined) refuse({ code: 'unknown_name', rule, name, near: nearest(name, known), known });
    return json as Record<string, unknown>;
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    refuse({ code: 'not_json', reason: (error as Error).message });
  }
  const { rules: list, otherwise } = objectOf(json, null, ['rules', 'otherwise']);
  if (!Array.isArray(list)) return refuse({ code: 'rules_not_a_list' });
  const rules = list.map((item: unknown, index): ValueRule => {
    const rule = index + 1;
    const fields = objectOf(item, rule, names);
    for (const [name, value] of Object.entries(fields)) {
      if (numbers.includes(name)) {
        if (!isAmount(value)) refuse({ code: 'not_an_amount', rule, name });
      } else if (typeof value !== 'string') refuse({ code: 'not_a_string', rule, name });
    }
    if (fields.value === undefined) refuse({ code: 'value_missing', rule });
    return fields as unknown as ValueRule;
  });
  if (otherwise === undefined || otherwise === null) return { rules };
  if (!isAmount(otherwise)) return refuse({ code: 'not_an_amount', rule: null, name: 'otherwise' });
  return { rules, otherwise };
}

/** The value of a call by the rules; null when no rule applies and there is no `otherwise`. */
export function valueByRules(call: Call, table: ValueRules): number | null {
  const minutes = Number(call.talk_minutes);
  const rule = table.rules.find(
    ({ minMinutes, maxMinutes, campaign, label }) =>
      (minMinutes === undefined || minutes >= minMinutes) &&
      (maxMinutes === undefined || minutes < maxMinutes) &&
      (campaign === undefined || matches(call.ppc_campaign, campaign)) &&
      (label === undefined || matches(call.phone_label, label)),
  );
  return rule?.value ?? table.otherwise ?? null;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

// Not a regular expression: a pattern with many stars must not take exponential time.
function matches(text: unknown, pattern: string): boolean {
  if (typeof text !== 'string') return false;
  const [head = '', ...tail] = pattern.toLowerCase().split('*');
  let rest = text.toLowerCase();
  if (tail.length === 0) return rest === head;
  if (!rest.startsWith(head)) return false;
  rest = rest.slice(head.length);
  const end = tail.pop() ?? '';
  for (const part of tail) {
    const at = rest.indexOf(part);
    if (at < 0) return false;
    rest = rest.slice(at + part.length);
  }
  return rest.endsWith(end);
}

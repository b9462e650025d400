import type { Call } from '@call-attribution/core';
import { CallsError, nameErrors } from '@call-attribution/core/errors';
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
  /** Name of the rule, for people. Each name once. */
  readonly name?: string;
  /** Talk minutes, at least. */
  readonly minMinutes?: number;
  /** Talk minutes, less than. */
  readonly maxMinutes?: number;
  /** `ppc_campaign` of the call. */
  readonly campaign?: string;
  /** `phone_label` of the call. */
  readonly label?: string;
  /** Hour of the day at which the call began, at least; on the clocks of the account. */
  readonly fromHour?: number;
  /** Hour of the day, less than. A span over midnight is possible: from 22 to 6. */
  readonly toHour?: number;
  /** `first`: nobody with this number has called before; `repeat`: somebody has. */
  readonly caller?: 'first' | 'repeat';
  /** What the conversion is worth. */
  readonly value: number;
}

/** A rule table: the first rule that applies gives the value. */
export interface ValueRules {
  /** In the order they are tried. */
  readonly rules: readonly ValueRule[];
  /** Value when no rule applies; without it such calls are left out. */
  readonly otherwise?: number | undefined;
}

/** A rule table that cannot be used. */
export class ValueRulesError extends CallsError<ValueRulesProblem['code']> {
  static {
    nameErrors(ValueRulesError, 'ValueRulesError');
  }

  constructor(problem: ValueRulesProblem, source: string) {
    const [message, hint] = valueRulesText(problem, source);
    super(problem.code, hint === undefined ? message : { message, hint });
  }
}

const numbers = ['minMinutes', 'maxMinutes', 'value'];
const hours = ['fromHour', 'toHour'];
const names = [...numbers, ...hours, 'campaign', 'label', 'caller', 'name'];

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
      } else if (hours.includes(name)) {
        if (!isAmount(value) || value > 24) refuse({ code: 'not_an_hour', rule, name });
      } else if (name === 'caller') {
        if (value !== 'first' && value !== 'repeat') refuse({ code: 'not_a_caller', rule });
      } else if (typeof value !== 'string') refuse({ code: 'not_a_string', rule, name });
    }
    if (fields.value === undefined) refuse({ code: 'value_missing', rule });
    return fields as unknown as ValueRule;
  });
  for (const [at, rule] of rules.entries()) {
    if (isEmpty(rule)) refuse({ code: 'never_applies', rule: at + 1 });
    const by = rules.slice(0, at).findIndex((earlier) => covers(earlier, rule));
    if (by >= 0) refuse({ code: 'hidden', rule: at + 1, by: by + 1 });
    const first = rules.findIndex(({ name }) => name !== undefined && name === rule.name);
    if (first >= 0 && first < at)
      refuse({ code: 'repeated_name', rule: at + 1, name: rule.name ?? '', first: first + 1 });
  }
  if (otherwise === undefined || otherwise === null) return { rules };
  if (!isAmount(otherwise)) return refuse({ code: 'not_an_amount', rule: null, name: 'otherwise' });
  return { rules, otherwise };
}

/**
 * The value of a call by the rules; null when no rule applies and there is no `otherwise`. A rule with `caller` applies only
 * where it is known whether the caller has called before.
 */
export function valueByRules(
  call: Call,
  table: ValueRules,
  { isFirstCall }: CallerFacts = { isFirstCall: null },
): number | null {
  const minutes = Number(call.talk_minutes);
  const hour = Number(String(call.date_added).slice(11, 13));
  const rule = table.rules.find(
    ({ minMinutes, maxMinutes, campaign, label, fromHour, toHour, caller }) =>
      (minMinutes === undefined || minutes >= minMinutes) &&
      (maxMinutes === undefined || minutes < maxMinutes) &&
      (campaign === undefined || matches(call.ppc_campaign, campaign)) &&
      (label === undefined || matches(call.phone_label, label)) &&
      isWithin(hour, fromHour, toHour) &&
      (caller === undefined || isFirstCall === (caller === 'first')),
  );
  return rule?.value ?? table.otherwise ?? null;
}

function isWithin(hour: number, from = 0, to = 24): boolean {
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to;
}

/** Whether no call can satisfy a rule. */
function isEmpty({
  minMinutes = 0,
  maxMinutes = Number.POSITIVE_INFINITY,
  fromHour,
  toHour,
}: ValueRule): boolean {
  const isNever = fromHour !== undefined && fromHour === toHour;
  return minMinutes >= maxMinutes || isNever || fromHour === 24 || (fromHour === undefined && toHour === 0);
}

/** Whether a rule applies to every call that another rule applies to. */
function covers(rule: ValueRule, other: ValueRule): boolean {
  const covered = (pattern: string | undefined, text: string | undefined): boolean =>
    pattern === undefined || (text !== undefined && matches(text, pattern));
  return (
    (rule.minMinutes ?? 0) <= (other.minMinutes ?? 0) &&
    (rule.maxMinutes ?? Number.POSITIVE_INFINITY) >= (other.maxMinutes ?? Number.POSITIVE_INFINITY) &&
    covered(rule.campaign, other.campaign) &&
    covered(rule.label, other.label) &&
    (rule.caller === undefined || rule.caller === other.caller) &&
    Array.from({ length: 24 }, (_, hour) => hour).every(
      (hour) => isWithin(hour, rule.fromHour, rule.toHour) || !isWithin(hour, other.fromHour, other.toHour),
    )
  );
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

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `ValueRulesError` of conversions. */
    ValueRulesError: ValueRulesError;
  }
}

import type { Call } from '@call-attribution/core';
import { anyText, compilePattern } from '@call-attribution/core/record';
import { readJsonInput } from '@call-attribution/core/settings';
import { type Duration, durationMillis, minute, parseDuration } from '@call-attribution/core/time';

/** What the earlier calls say about a caller. */
export interface CallerFacts {
  /**
   * Nobody with this number has called before, as far as the calls that were read say; null for a
   * withheld number.
   */
  readonly isFirstCall: boolean | null;
}

/**
 * One rule: it applies when all of its conditions hold. In strings `*` stands for any characters;
 * case does not matter.
 */
export interface ValueRule {
  /** Name of the rule, for people. */
  readonly name?: string | undefined;
  /** How long they talked, at least. */
  readonly minTalk?: Duration | undefined;
  /** How long they talked, less than. */
  readonly maxTalk?: Duration | undefined;
  /** `ppc_campaign` of the call. */
  readonly campaign?: string | undefined;
  /** `phone_label` of the call. */
  readonly label?: string | undefined;
  /** Hour of the day at which the call began, at least; on the clocks of the account. */
  readonly fromHour?: number | undefined;
  /** Hour of the day, less than. A span over midnight is possible: from 22 to 6. */
  readonly toHour?: number | undefined;
  /** `first`: nobody with this number has called before; `repeat`: somebody has. */
  readonly caller?: 'first' | 'repeat' | undefined;
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

/**
 * The value of a call by the rules; null when no rule applies and there is no `otherwise`. A rule
 * with `caller` applies only where it is known whether the caller has called before.
 */
export function valueByRules(
  call: Call,
  table: ValueRules,
  { isFirstCall }: CallerFacts = { isFirstCall: null },
): number | null {
  const talk = Math.round(Number(call.talk_minutes) * minute);
  const hour = Number(String(call.date_added).slice(11, 13));
  const rule = table.rules.find(
    ({ minTalk, maxTalk, campaign, label, fromHour, toHour, caller }) =>
      (minTalk === undefined || talk >= durationMillis(minTalk, 'minTalk')) &&
      (maxTalk === undefined || talk < durationMillis(maxTalk, 'maxTalk')) &&
      (campaign === undefined || matches(call.ppc_campaign, campaign)) &&
      (label === undefined || matches(call.phone_label, label)) &&
      isWithin(hour, fromHour, toHour) &&
      (caller === undefined || isFirstCall === (caller === 'first')),
  );
  return rule?.value ?? table.otherwise ?? null;
}

/** Whether an hour of the day is within a span, which may go over midnight. */
function isWithin(hour: number, from = 0, to = 24): boolean {
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to;
}

/** Whether a text has the form of a pattern, in which `*` stands for any characters. */
function matches(text: unknown, pattern: string): boolean {
  if (typeof text !== 'string') return false;
  const [head = '', ...rest] = pattern.toLowerCase().split('*');
  const parts = [head, ...rest.flatMap((part) => [anyText, part])];
  return compilePattern(parts)(text.toLowerCase());
}

/**
 * Reads a rule table from JSON. Throws a `ConfigurationError` that says which rule is wrong. zod is
 * loaded with the first table.
 *
 * @param source what the error calls the table, such as the name of its file.
 * @example
 * const rules = await readValueRules('{ "rules": [{ "minTalk": "10m", "value": 80 }], "otherwise":
 * 20 }', 'rules.json'); valueByRules(call, rules);
 */
export async function readValueRules(text: string, source: string): Promise<ValueRules> {
  return readJsonInput(await tableSchema(), text, source);
}

async function tableSchema() {
  const { z } = await import('zod');
  const amount = z
    .number('must be a number, 0 or greater')
    .min(0, 'must be a number, 0 or greater');
  const hour = amount.max(24, 'must be an hour, from 0 to 24');
  const isDuration = (given: unknown): boolean =>
    typeof given === 'string' && parseDuration(given) >= 0;
  const span = z.custom<Duration>(isDuration, 'must be a duration such as 90s or 10m');
  const conditions = z
    .strictObject({
      name: z.string(),
      minTalk: span,
      maxTalk: span,
      campaign: z.string(),
      label: z.string(),
      fromHour: hour,
      toHour: hour,
      caller: z.enum(['first', 'repeat']),
    })
    .partial();
  const rules = z.array(conditions.extend({ value: amount }));
  return z.strictObject({
    rules,
    otherwise: amount.optional(),
  });
}

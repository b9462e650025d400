import { readJsonInput } from '@call-attribution/core/settings';
import { type Duration, durationMillis, parseDuration } from '@call-attribution/core/time';
import type { RefinementCtx, ZodType } from 'zod';
import { isWithin, matches, type ValueRule, type ValueRules } from './value-rules.ts';

/**
 * Reads a rule table from JSON. Throws an `InputError` that says which rule is wrong. zod is loaded with the first table.
 *
 * @param source what the error calls the table, such as the name of its file.
 * @example
 * const rules = await readValueRules('{ "rules": [{ "minTalk": "10m", "value": 80 }], "otherwise": 20 }', 'rules.json');
 * valueByRules(call, rules);
 */
export async function readValueRules(text: string, source: string): Promise<ValueRules> {
  return readJsonInput(await tableSchema(), text, source);
}

async function tableSchema() {
  const { z } = await import('zod');
  const amount = z.number('must be a number, 0 or greater').min(0, 'must be a number, 0 or greater');
  const hour = amount.max(24, 'must be an hour, from 0 to 24');
  const span = z.custom<Duration>(isDuration, 'must be a duration such as 90s or 10m');
  const rule = z.strictObject({
    name: z.string().optional(),
    minTalk: span.optional(),
    maxTalk: span.optional(),
    campaign: z.string().optional(),
    label: z.string().optional(),
    fromHour: hour.optional(),
    toHour: hour.optional(),
    caller: z.enum(['first', 'repeat']).optional(),
    value: amount,
  } satisfies Record<keyof ValueRule, ZodType>);
  return z.strictObject({
    rules: z.array(rule).superRefine(checkRules),
    otherwise: amount.nullish().transform((value) => value ?? undefined),
  } satisfies Record<keyof ValueRules, ZodType>);
}

const isDuration = (value: unknown): boolean => typeof value === 'string' && parseDuration(value) >= 0;
const least = (span: Duration = 0): number => durationMillis(span, 'minTalk');
const limit = (span: Duration | undefined): number =>
  span === undefined ? Number.POSITIVE_INFINITY : durationMillis(span, 'maxTalk');

/** Refuses rules that can apply to no call. */
function checkRules(rules: readonly ValueRule[], context: RefinementCtx): void {
  for (const [at, rule] of rules.entries()) {
    const refuse = (message: string, hint?: string): void =>
      context.addIssue({ code: 'custom', path: [at], message, params: { hint } });
    if (isEmpty(rule)) refuse('can never apply: its conditions exclude each other');
    const earlier = rules.slice(0, at);
    const by = earlier.findIndex((one) => covers(one, rule));
    if (by >= 0)
      refuse(
        `can never apply: rules[${by}] applies to the same calls first`,
        'put the narrower rule first, or remove one of them',
      );
    const first = earlier.findIndex(({ name }) => name !== undefined && name === rule.name);
    if (first >= 0) refuse(`has the name ${JSON.stringify(rule.name)}, as rules[${first}] has`);
  }
}

/** Whether no call can satisfy a rule. */
function isEmpty({ minTalk, maxTalk, fromHour, toHour }: ValueRule): boolean {
  const isNever = fromHour !== undefined && fromHour === toHour;
  return (
    least(minTalk) >= limit(maxTalk) || isNever || fromHour === 24 || (fromHour === undefined && toHour === 0)
  );
}

/** Whether a rule applies to every call that another rule applies to. */
function covers(rule: ValueRule, other: ValueRule): boolean {
  const covered = (pattern: string | undefined, text: string | undefined): boolean =>
    pattern === undefined || (text !== undefined && matches(text, pattern));
  return (
    least(rule.minTalk) <= least(other.minTalk) &&
    limit(rule.maxTalk) >= limit(other.maxTalk) &&
    covered(rule.campaign, other.campaign) &&
    covered(rule.label, other.label) &&
    (rule.caller === undefined || rule.caller === other.caller) &&
    Array.from({ length: 24 }, (_, hour) => hour).every(
      (hour) => isWithin(hour, rule.fromHour, rule.toHour) || !isWithin(hour, other.fromHour, other.toHour),
    )
  );
}

import { readJsonInput } from '@call-attribution/core/settings';
import { type Duration, parseDuration } from '@call-attribution/core/time';
import type { RefinementCtx, ZodType } from 'zod';
import type { ValueRule, ValueRules } from './value-rules.ts';

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
    rules: z.array(rule).superRefine(checkNames),
    otherwise: amount.nullish().transform((value) => value ?? undefined),
  } satisfies Record<keyof ValueRules, ZodType>);
}

const isDuration = (value: unknown): boolean => typeof value === 'string' && parseDuration(value) >= 0;

/** Names are for people, who could not tell two rules apart. */
function checkNames(rules: readonly ValueRule[], context: RefinementCtx): void {
  for (const [at, { name }] of rules.entries()) {
    const first = name === undefined ? at : rules.findIndex((rule) => rule.name === name);
    if (first < at)
      context.addIssue({
        code: 'custom',
        path: [at],
        message: `has the name ${JSON.stringify(name)}, as rules[${first}] has`,
      });
  }
}

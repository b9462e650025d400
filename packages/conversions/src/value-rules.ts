import { readJsonInput } from '@call-attribution/core/settings';
import { type Duration, durationMillis, minute, parseDuration } from '@call-attribution/core/time';
import { type Definitions, quote } from '@call-attribution/questions';
import { conditionProblem } from './condition.ts';

/** What the earlier calls say about a caller. */
export interface CallerFacts {
  /**
   * Nobody with this number has called before, as far as the calls that were read say; null for a
   * withheld number.
   */
  readonly isFirstCall: boolean | null;
}

/** One rule: what a call is worth of which a condition is true. */
export interface ValueRule {
  /** Name of the rule, for people. */
  readonly name?: string | undefined;
  /**
   * A condition in the words of `--where`, such as `talk_minutes >= 10 AND campaign LIKE 'Brand%'`.
   * Without one the rule applies to every call.
   */
  readonly where?: string | undefined;
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

/** What people know a rule by: its name, else its condition. */
export const labelOf = ({ name, where }: ValueRule): string => name ?? where ?? 'every call';

/**
 * Reads a rule table from JSON. Throws a `ConfigurationError` that says which rule is wrong. zod is
 * loaded with the first table.
 *
 * @param source what the error calls the table, such as the name of its file.
 * @param definitions conditions with a name, which may stand in those of the rules.
 * @example
 * const value = await readValueRules('{ "rules": [{ "where": "talk_minutes >= 10", "value": 80 }],
 * "otherwise": 20 }', 'rules.json');
 */
export async function readValueRules(
  text: string,
  source: string,
  definitions?: Definitions,
): Promise<ValueRules> {
  return readJsonInput(await tableSchema(definitions), text, source);
}

async function tableSchema(definitions: Definitions | undefined) {
  const { z } = await import('zod');
  const amount = z
    .number('must be a number, 0 or greater')
    .min(0, 'must be a number, 0 or greater');
  const rule = z
    .strictObject({
      name: z.string().optional(),
      where: z.string().optional(),
      value: amount,
      ...Object.fromEntries(earlierNames.map((name) => [name, z.unknown().optional()])),
    })
    .superRefine((given, context) => {
      const names = earlierNames.filter((name) => Object.hasOwn(given, name));
      const where = typeof given.where === 'string' ? given.where : undefined;
      if (names.length > 0) {
        context.addIssue({
          code: 'custom',
          message: `has ${names.join(' and ')}, a condition of earlier releases`,
          params: { hint: `write "where": ${JSON.stringify(whereInstead(given, where))}` },
        });
        return;
      }

      const problem = where === undefined ? null : conditionProblem(where, definitions);
      if (problem !== null)
        context.addIssue({ code: 'custom', path: ['where'], message: `has a mistake: ${problem}` });
    })
    .transform(({ name, where, value }): ValueRule => ({ name, where, value }));
  return z.strictObject({
    rules: z.array(rule),
    otherwise: amount.optional(),
  });
}

/** Conditions that earlier releases had instead of `where`. */
const earlierNames = [
  'minTalk',
  'maxTalk',
  'campaign',
  'label',
  'fromHour',
  'toHour',
  'caller',
] as const;

/** The condition that says what those of an earlier release said. */
function whereInstead(given: Readonly<Record<string, unknown>>, where: string | undefined): string {
  const minutes = (span: unknown): number =>
    typeof span === 'string' && parseDuration(span) >= 0
      ? durationMillis(span as Duration, 'span') / minute
      : 0;
  const like = (field: string, pattern: string): string =>
    pattern.includes('*')
      ? `${field} LIKE ${quote(pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%'))}`
      : `${field} = ${quote(pattern)}`;
  const { minTalk, maxTalk, campaign, label, fromHour, toHour, caller } = given;
  const parts = where === undefined ? [] : [where];
  if (minTalk !== undefined) parts.push(`talk_minutes >= ${minutes(minTalk)}`);
  if (maxTalk !== undefined) parts.push(`talk_minutes < ${minutes(maxTalk)}`);
  if (campaign !== undefined) parts.push(like('campaign', String(campaign)));
  if (label !== undefined) parts.push(like('phone_label', String(label)));
  const isOverNight = Number(fromHour) > Number(toHour);
  if (isOverNight) parts.push(`(hour >= ${fromHour} OR hour < ${toHour})`);
  if (!isOverNight && fromHour !== undefined) parts.push(`hour >= ${fromHour}`);
  if (!isOverNight && toHour !== undefined) parts.push(`hour < ${toHour}`);
  if (caller !== undefined)
    parts.push(`caller_type = ${quote(caller === 'repeat' ? 'returning' : 'first')}`);
  return parts.join(' AND ');
}

// What a file of rules may hold, also where rules stand in another file. zod is loaded with this, so
// `readRulesFile` imports it with the first file.
import { type Duration, parseDuration } from '@call-attribution/core/time';
import * as z from 'zod';
import { isCurrency } from './check-rules.ts';

/** A text of which something has to be true. */
export const checked = (isGood: (text: string) => boolean, expected: string) =>
  z.string(expected).refine(isGood, expected);
/** A duration of which something has to be true. */
export const span = (isGood: (text: string) => boolean, expected: string) =>
  z.custom<Duration>((value) => typeof value === 'string' && isGood(value), expected);
const amount = z.number('must be a number, 0 or greater').min(0, 'must be a number, 0 or greater');
const isDays = (days: string) => /^(?=.*[1-9])\d+(?:\.\d+)?[hdw]$/.test(days);
/** A duration of days. */
export const days = (example: string) => span(isDays, `must be a duration such as 36h, ${example}`);
/** Is this a duration? */
export const isDuration = (time: string) => parseDuration(time) >= 0;
/** A condition. Names that are defined are only known when it is used, and then refused or not. */
const condition = z.string().min(1);
const consent = z.union([
  z.enum(['granted', 'denied']),
  z.strictObject({ granted: condition, denied: condition }).partial(),
]);

/** Which calls count, and at what value. */
export const ruleFields = z
  .strictObject({
    value: amount,
    valueRules: z.union([z.string().min(1), z.record(z.string(), z.unknown())]),
    currency: checked(isCurrency, 'must be the code of a currency, such as USD'),
    minAge: span(isDuration, 'must be a duration such as 6h'),
    clickWindow: days('30d or 4w'),
    unanswered: z.boolean(),
    firstCallOnly: z.boolean(),
    oncePerCaller: days('30d or 4w'),
    history: days('90d or 12w'),
    repeatedHour: z.enum(['leave-out', 'first', 'second']),
    where: condition,
    consent: z.strictObject({
      adUserData: consent,
      adPersonalization: consent,
      otherwise: z.enum(['leave-out', 'unknown']).optional(),
    }),
  })
  .partial();

/** What a file of rules may hold. */
export const rulesSchema = ruleFields.superRefine((read, context) => {
  const message = twoValues(read);
  if (message !== null) context.addIssue({ code: 'custom', message, params: { hint: keepOne } });
});

/** Two values for one conversion, in words; null where there are not two. */
export const twoValues = ({ value, valueRules }: RuleFields): string | null =>
  value !== undefined && valueRules !== undefined ? 'has both value and valueRules' : null;

/** What to do about two values. */
export const keepOne = 'keep one of the two';

/** Rules, as a file has them. */
export type RuleFields = z.infer<typeof ruleFields>;

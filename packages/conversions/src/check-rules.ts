import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';
import { day, durationMillis, hour, isTimeZone } from '@call-attribution/core/time';
import { type ConversionRules, ruleOptions } from './conversion.ts';
import type { RulesProblem } from './reasons.ts';
import type { Tool } from './sheet-format.ts';
import { rulesProblemText } from './words.ts';

const rulesErrors = codeTable({
  usage: {
    zone_missing: 'The rules have no time zone, which the tool needs. Set `timeZone`.',
    zone_unknown: 'The time zone does not exist. Use a name such as America/New_York.',
    name_missing: 'The tool needs the name of the conversion. Set `conversionName`, spelled as in the tool.',
    currency_unknown: 'The currency does not exist. Use a code of three letters such as USD.',
    window_too_long: 'The window is longer than the tool remembers a click. Use a shorter one.',
    no_age_left:
      'The minimum age is longer than the window, so that no call is left. Shorten the age or widen the window.',
    from_unreadable: 'The start is not a time. Write it as YYYY-MM-DD HH:MM:SS.',
  },
});

/** Rules that make no sense for a tool. */
export class RulesError extends CallsError<RulesProblem['code']> {
  static override readonly codes: CodeTable = rulesErrors;
  /** What is wrong, as facts. */
  readonly problem: RulesProblem;

  static {
    nameErrors(RulesError, 'RulesError');
  }

  constructor(problem: RulesProblem, tool: string) {
    super(problem.code, rulesProblemText(problem, tool));
    this.problem = problem;
  }
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/**
 * Throws a `RulesError` for rules that no call could satisfy or that the tool would refuse. `conversions` and `toConversions`
 * do this first.
 *
 * @example
 * checkRules(rules, sheetFormats['google-ads-clicks']);
 */
export function checkRules(rules: ConversionRules, tool: Tool): void {
  ruleOptions.check(rules);
  const problem = problemOf(rules, tool);
  if (problem) throw new RulesError(problem, tool.title ?? 'the tool');
}

function problemOf(rules: ConversionRules, { accepts, needsName = false }: Tool): RulesProblem | null {
  const { timeZone, conversionName, currency, from } = rules;
  if (timeZone === null) return { code: 'zone_missing' };
  if (!isTimeZone(timeZone)) return { code: 'zone_unknown', zone: timeZone };
  if (needsName && !/^\S.{0,99}$/u.test(conversionName)) return { code: 'name_missing' };
  if (currency !== undefined && !isCurrency(currency)) return { code: 'currency_unknown', currency };
  const most = accepts.clickWindow === null ? null : durationMillis(accepts.clickWindow, 'clickWindow');
  const window = rules.clickWindow === undefined ? most : durationMillis(rules.clickWindow, 'clickWindow');
  if (window !== null && most !== null && window > most)
    return { code: 'window_too_long', days: window / day, most: most / day };
  const age = durationMillis(rules.minAge ?? accepts.minAge, 'minAge');
  if (window !== null && age >= window) return { code: 'no_age_left', hours: age / hour, days: window / day };
  if (from !== undefined && !/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(from))
    return { code: 'from_unreadable' };
  return null;
}

/** Whether this is the ISO 4217 code of a currency, such as `USD`. */
export function isCurrency(code: string): boolean {
  return /^[A-Z]{3}$/.test(code) && currencies.has(code);
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `RulesError` of conversions. */
    RulesError: RulesError;
  }
}

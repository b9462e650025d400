import {
  CallsError,
  type CodeTable,
  ConfigurationError,
  codeTable,
  nameErrors,
} from '@call-attribution/core/errors';
import { checkNames } from '@call-attribution/core/options';
import { day, durationMillis, hour, isTimeZone, zoneProblem } from '@call-attribution/core/time';
import { conditionProblem } from './condition.ts';
import { consentProblem } from './consent.ts';
import type { ConversionRules } from './conversion.ts';
import { looksPersonal, type Tool } from './sheet-format.ts';

const rulesErrors = codeTable({
  usage: {
    invalid_rules:
      'The rules of a run make no sense for a tool. `option` names the rule; the message says what it may be.',
  },
});

/** Rules that make no sense for a tool. */
export class RulesError extends CallsError<keyof typeof rulesErrors> {
  static override readonly codes: CodeTable = rulesErrors;
  /** The rule that is wrong. */
  readonly option: keyof ConversionRules;

  static {
    nameErrors(RulesError, 'RulesError');
  }

  constructor(option: keyof ConversionRules, message: string) {
    super('invalid_rules', message);
    this.option = option;
  }
}

const ruleNames = Object.keys({
  timeZone: 1,
  conversionName: 1,
  currency: 1,
  now: 1,
  minAge: 1,
  repeatedHour: 1,
  unanswered: 1,
  minTalk: 1,
  clickWindow: 1,
  firstCallOnly: 1,
  oncePerCaller: 1,
  from: 1,
  outcomes: 1,
  value: 1,
  consent: 1,
  where: 1,
  exclude: 1,
  definitions: 1,
} satisfies Record<keyof ConversionRules, 1>);

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/**
 * Throws a `RulesError` for rules that no call could satisfy or that the tool would refuse.
 * `conversions` and `toConversions` do this first.
 *
 * @example
 * checkRules(rules, sheetFormats['google-ads-clicks']);
 */
export function checkRules(rules: ConversionRules, tool: Tool): void {
  if (typeof Object(tool).accepts !== 'object')
    throw new ConfigurationError(
      'invalid_option',
      "Expected the tool after the rules, such as sheetFormats['google-ads-clicks'].",
    );

  checkNames(rules, ruleNames, 'rules');
  const { accepts, needsName = false, title = 'the tool' } = tool;
  const { timeZone, conversionName, currency, from, value } = rules;
  // One that is undefined would be that of this machine.
  if (!timeZone)
    throw new RulesError(
      'timeZone',
      `${title} needs a time zone: the API does not say which time zone its times are in`,
    );

  if (!isTimeZone(timeZone)) {
    const { problem, fix } = zoneProblem(timeZone);
    throw new RulesError('timeZone', `${problem}; ${fix}`);
  }

  if (rules.outcomes !== undefined && !accepts.takesValue)
    throw new RulesError(
      'outcomes',
      `${title} takes calls without a value: it has no place for outcomes`,
    );

  checkValue(value, rules);
  checkConsent(rules);
  for (const option of ['where', 'exclude'] as const) {
    const text = rules[option];
    const problem = text === undefined ? null : conditionProblem(text, rules.definitions);
    if (problem !== null) throw new RulesError(option, `${option} has a mistake: ${problem}`);
  }

  if (needsName && !/^\S.{0,99}$/u.test(conversionName))
    throw new RulesError(
      'conversionName',
      `${title} needs a conversion name: at most 100 characters, spelled as in the tool`,
    );

  if (needsName && looksPersonal(conversionName))
    throw new RulesError(
      'conversionName',
      'the conversion name must not be an address or a phone number',
    );

  if (currency !== undefined && !isCurrency(currency))
    throw new RulesError(
      'currency',
      `there is no currency ${JSON.stringify(currency)}; use the three letters of ISO 4217, such as USD`,
    );

  const most =
    accepts.clickWindow === null ? null : durationMillis(accepts.clickWindow, 'clickWindow');
  const window =
    rules.clickWindow === undefined ? most : durationMillis(rules.clickWindow, 'clickWindow');
  if (window !== null && most !== null && window > most)
    throw new RulesError(
      'clickWindow',
      `a click window of ${window / day} days is too long: ${title} accepts clicks of at most ${most / day} days`,
    );

  durationMillis(rules.minTalk ?? 0, 'minTalk');
  const age = durationMillis(rules.minAge ?? accepts.minAge, 'minAge');
  if (window !== null && age >= window)
    throw new RulesError(
      'minAge',
      `no call can count: calls must be ${age / hour} hours old, and clicks at most ${window / day} days`,
    );

  if (from !== undefined && !/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(from))
    throw new RulesError('from', 'from must be a time such as 2026-11-01 00:00:00');
}

function checkValue(value: ConversionRules['value'], { definitions }: ConversionRules): void {
  if (value === undefined || typeof value === 'function') return;
  const isAmount = (one: unknown): boolean => Number.isFinite(one) && Number(one) >= 0;
  const isTable = typeof value === 'object' && value !== null && Array.isArray(value.rules);
  if (!isTable && !isAmount(value))
    throw new RulesError(
      'value',
      'value must be a number of 0 or more, a table of rules, or a function that returns the value of a call',
    );

  if (typeof value !== 'object') return;
  for (const [at, rule] of value.rules.entries()) {
    const problem = rule.where === undefined ? null : conditionProblem(rule.where, definitions);
    if (problem !== null)
      throw new RulesError('value', `value.rules[${at}].where has a mistake: ${problem}`);
    if (!isAmount(rule.value))
      throw new RulesError('value', `value.rules[${at}].value must be a number of 0 or more`);
  }
}

function checkConsent({ consent, definitions }: ConversionRules): void {
  if (consent === undefined || typeof consent === 'function') return;
  const problem = consentProblem(consent, definitions);
  if (problem !== null) throw new RulesError('consent', problem);
}

/** Whether this is the ISO 4217 code of a currency, such as `USD`. */
export function isCurrency(code: string): boolean {
  return currencies.has(code);
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `RulesError` of conversions. */
    RulesError: RulesError;
  }
}

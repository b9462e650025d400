import { resolve } from 'node:path';
import { ConfigurationError, codeOf } from '@call-attribution/core/errors';
import { readJsonInput, readSmallFile } from '@call-attribution/core/settings';
import { day, durationMillis } from '@call-attribution/core/time';
import type { Definitions } from '@call-attribution/questions';
import { conditionProblem } from './condition.ts';
import { consentProblem } from './consent.ts';
import type { ConversionRules } from './conversion.ts';
import { type ConditionalRules, rulesNeedCallers } from './rules-read.ts';
import type { RuleFields } from './rules-schema.ts';
import { readValueRules } from './value-rules.ts';

/** Days before the window that are read to know who has called before. */
const firstCallDays = 90;
/** Most bytes of a file with rules of values. */
const mostBytes = 1024 * 1024;

/** Where rules stand, for errors, and what they refer to. */
export interface RulesPlace {
  /** What errors call the place. */
  readonly place: string;
  /** Folder that paths start from. */
  readonly folder: string;
  /**
   * Conditions with a name, which may stand in those of rules, and calls that do not count, as the
   * configuration file has them.
   */
  readonly configured: Pick<ConditionalRules, 'definitions' | 'exclude'>;
}

/** Which calls count and at what value, with nothing about the tool, the account or the time. */
export type CountingRules = Pick<
  ConversionRules,
  | 'value'
  | 'currency'
  | 'minAge'
  | 'clickWindow'
  | 'unanswered'
  | 'firstCallOnly'
  | 'oncePerCaller'
  | 'repeatedHour'
  | 'consent'
  | 'where'
>;

/**
 * The rules of a file, and how many days before a period are read to know who has called before.
 */
export interface RulesFile {
  /** Which calls count, and at what value. */
  readonly rules: CountingRules;
  /** Days before a period that are read, too. */
  readonly history: number;
}

/**
 * Reads rules from JSON: the names of a feed that say which calls count and at what value. Throws a
 * `ConfigurationError` with one sentence about what is wrong.
 *
 * @param folder that paths in it start from.
 * @param definitions conditions with a name, which may stand in its own.
 * @example
 * const { rules } = await readRulesFile('{ "value": 25, "currency": "USD", "firstCallOnly": true
 * }', 'rules.json', '.');
 */
export async function readRulesFile(
  text: string,
  source: string,
  folder: string,
  definitions?: Definitions,
): Promise<RulesFile> {
  const { rulesSchema } = await import('./rules-schema.ts');
  const fields = readJsonInput(rulesSchema, text, source);
  return rulesIn(fields, { place: source, folder, configured: { definitions } });
}

/** What rules in a file say. Throws as `readRulesFile` does. */
export async function rulesIn(fields: RuleFields, where: RulesPlace): Promise<RulesFile> {
  const { currency, minAge, clickWindow, unanswered, firstCallOnly, oncePerCaller } = fields;
  const { repeatedHour, history } = fields;
  const { place, configured } = where;
  const { definitions } = configured;
  const value = await readValue(fields, where);
  const { consent, where: chosen } = fields;
  const refuse = (problem: string | null): void => {
    if (problem !== null) throw new ConfigurationError('invalid_option', `${place}: ${problem}`);
  };

  refuse(consent === undefined ? null : consentProblem(consent, definitions));
  const mistake = chosen === undefined ? null : conditionProblem(chosen, definitions);
  refuse(mistake === null ? null : `where has a mistake: ${mistake}`);
  const needsCallers = rulesNeedCallers({ ...configured, value, consent, where: chosen });
  const daysOf = (span: typeof history): number => durationMillis(span ?? 0, 'history') / day;
  const usual = Math.max(firstCallOnly || needsCallers ? firstCallDays : 0, daysOf(oncePerCaller));
  return {
    rules: {
      value,
      currency,
      minAge,
      clickWindow,
      unanswered,
      firstCallOnly,
      oncePerCaller,
      repeatedHour,
      consent,
      where: chosen,
    },
    history: history === undefined ? usual : daysOf(history),
  };
}

async function readValue(
  { value, valueRules }: RuleFields,
  { place, folder, configured: { definitions } }: RulesPlace,
): Promise<CountingRules['value']> {
  if (valueRules === undefined) return value;
  const at = `${place}.valueRules`;
  let text = JSON.stringify(valueRules);
  let source = at;
  if (typeof valueRules === 'string') {
    try {
      ({ text } = readSmallFile(resolve(folder, valueRules), mostBytes));
    } catch (error) {
      const reason = codeOf(error) ?? 'unknown reason';
      throw new ConfigurationError(
        'invalid_option',
        `${at} names ${valueRules}, which cannot be read (${reason})`,
      );
    }
    source = `${at}: ${valueRules}`;
  }

  return readValueRules(text, source, definitions);
}

import { resolve } from 'node:path';
import type { ConditionalRules, ConversionRules, Ledger } from '@call-attribution/conversions';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Environment, readJsonInput } from '@call-attribution/core/settings';
import { day, durationMillis } from '@call-attribution/core/time';
import type { Definitions } from '@call-attribution/questions';
import type { Access } from '../http/access.ts';
import type { Feed } from './feed.ts';
import type { FeedFields, RuleFields } from './feeds-schema.ts';

/** Where `readFeeds` finds what the file refers to. */
export interface FeedsContext {
  /** What errors call the file. */
  readonly source: string;
  /** Folder that paths in it start from. */
  readonly folder: string;
  /** Variables with passwords. */
  readonly env: Environment;
  /** Time zone of feeds that name none. */
  readonly timeZone?: string | null;
  /**
   * Conditions with a name, which may stand in those of rules, and calls that do not count, as the
   * configuration file has them.
   */
  readonly configured?: Pick<ConditionalRules, 'definitions' | 'exclude'> | undefined;
}

/** Days before the window that are read to know who has called before. */
const firstCallDays = 90;

/**
 * Reads feeds from JSON. What stands next to `feeds` holds for each feed that does not say
 * otherwise. Throws a `ConfigurationError` with one sentence about what is wrong. zod and what
 * makes sheets are loaded with the first file.
 *
 * @example
 * const feeds = await readFeeds(await readFile('feeds.json', 'utf8'), { source: 'feeds.json',
 * folder: '.', env: process.env }); const service = createService({ store, feeds });
 */
export async function readFeeds(text: string, context: FeedsContext): Promise<Feed[]> {
  const { source, folder, env, timeZone = null, configured = {} } = context;
  const { feedsSchema } = await import('./feeds-schema.ts');
  const { feeds } = readJsonInput(feedsSchema(timeZone, { folder, env }), text, source);
  const opened = new Map<string, Promise<Ledger>>();
  try {
    const read: Feed[] = [];
    for (const [at, fields] of feeds.entries())
      read.push(
        await feedOf(fields, { place: `${source}: feeds[${at}]`, folder, configured }, opened),
      );
    return read;
  } catch (error) {
    for (const ledger of opened.values())
      await ledger.then((one) => one.close()).catch(() => undefined);
    throw error;
  }
}

/** Where rules stand, for errors, and what they refer to. */
interface Place {
  readonly place: string;
  /** Folder that paths start from. */
  readonly folder: string;
  readonly configured: NonNullable<FeedsContext['configured']>;
}

async function feedOf(
  fields: FeedFields & { readonly access: Access | null },
  where: Place,
  opened: Map<string, Promise<Ledger>>,
): Promise<Feed> {
  const { place, folder, configured } = where;
  const { sheetFormats, openLedger } = await import('@call-attribution/conversions');
  const { path, account, access, window, once, ledger: file, timeZone } = fields;
  const { conversionName = '', minTalk } = fields;
  const { rules, history } = await rulesOf(fields, where);
  const feed: Feed = {
    path,
    account,
    access,
    history,
    once: null,
    format: sheetFormats[fields.format],
    days: durationMillis(window, 'window') / day,
    rules: { ...rules, ...configured, timeZone, conversionName, minTalk },
  };
  if (once === undefined || file === undefined) return feed;
  const name = resolve(folder, file);
  const opening = opened.get(name) ?? openLedger(name);
  opened.set(name, opening);
  const ledger = await opening.catch((error: unknown) => {
    throw new ConfigurationError(
      'invalid_option',
      `${place}.ledger cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  return { ...feed, once: { every: durationMillis(once, 'once'), ledger } };
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
  const { rulesSchema } = await import('./feeds-schema.ts');
  const fields = readJsonInput(rulesSchema, text, source);
  return rulesOf(fields, { place: source, folder, configured: { definitions } });
}

async function rulesOf(fields: RuleFields, where: Place): Promise<RulesFile> {
  const { currency, minAge, clickWindow, unanswered, firstCallOnly, oncePerCaller } = fields;
  const { repeatedHour, history } = fields;
  const { place, configured } = where;
  const { definitions } = configured;
  const { conditionProblem, consentProblem, rulesNeedCallers } = await import(
    '@call-attribution/conversions'
  );
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
  { place, folder, configured: { definitions } }: Place,
): Promise<CountingRules['value']> {
  if (valueRules === undefined) return value;
  const at = `${place}.valueRules`;
  let text = JSON.stringify(valueRules);
  let source = at;
  if (typeof valueRules === 'string') {
    const { namedFile } = await import('../http/access-schema.ts');
    const found = namedFile(valueRules, folder);
    if ('problem' in found)
      throw new ConfigurationError('invalid_option', `${at} ${found.problem}`);
    text = found.text;
    source = `${at}: ${valueRules}`;
  }

  const { readValueRules } = await import('@call-attribution/conversions');
  return readValueRules(text, source, definitions);
}

import { resolve } from 'node:path';
import {
  type Consent,
  isCurrency,
  type Ledger,
  openLedger,
  readValueRules,
  type SheetFormat,
  type SheetFormatName,
  sheetFormats,
  valueByRules,
} from '@call-attribution/conversions';
import { day, isTimeZone, parseDuration } from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl';
import type { Feed } from './feed.ts';
import { FeedsError } from './problems.ts';
import { accessOf, type FeedsContext, fileOf, type Refuse } from './read-access.ts';

const names = [
  'path',
  'format',
  'account',
  'window',
  'timeZone',
  'conversionName',
  'value',
  'valueRules',
  'currency',
  'minTalk',
  'minAge',
  'unanswered',
  'firstCallOnly',
  'oncePerCallerDays',
  'repeatedHour',
  'consent',
  'once',
  'ledger',
  'user',
  'passwordEnv',
  'passwordFile',
  'passwordHash',
] as const;
type Name = (typeof names)[number];
type Fields = Readonly<Partial<Record<Name, unknown>>>;

const shortestPeriod = 3_600_000;
/** Days before the window that are read to know who has called before. */
const firstCallDays = 90;

/**
 * Reads feeds from JSON. What stands next to `feeds` holds for each feed that does not say otherwise. Throws a `FeedsError`
 * with one sentence about what is wrong.
 *
 * @example
 * const feeds = await readFeeds(await readFile('feeds.json', 'utf8'), { source: 'feeds.json', folder: '.', env: process.env });
 * const service = createService({ store, feeds });
 */
export async function readFeeds(text: string, context: FeedsContext): Promise<Feed[]> {
  const refuse: Refuse = (problem) => {
    throw new FeedsError(problem, context.source);
  };
  const { feeds, ...shared } = objectOf(jsonOf(text, refuse), refuse);
  checkNames(shared, null, refuse);
  if (!Array.isArray(feeds) || feeds.length === 0) return refuse({ code: 'no_feeds' });
  const read: Feed[] = [];
  const opened = new Map<string, Promise<Ledger>>();
  const ledgers = (file: string): Promise<Ledger> => {
    const path = resolve(context.folder, file);
    const ledger = opened.get(path) ?? openLedger(path);
    opened.set(path, ledger);
    return ledger;
  };
  try {
    for (const [index, item] of feeds.entries()) {
      const number = index + 1;
      if (typeof item !== 'object' || item === null || Array.isArray(item))
        return refuse({ code: 'not_an_object', feed: number });
      checkNames(item, number, refuse);
      const feed = await readFeed({ ...shared, ...item }, number, context, refuse, ledgers);
      const other = read.findIndex(({ path }) => path === feed.path);
      if (other >= 0) refuse({ code: 'same_path', feed: number, other: other + 1, path: feed.path });
      read.push(feed);
    }
    return read;
  } catch (error) {
    for (const ledger of opened.values()) await ledger.then((one) => one.close()).catch(() => undefined);
    throw error;
  }
}

function jsonOf(text: string, refuse: Refuse): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return refuse({ code: 'not_json', reason: (error as Error).message });
  }
}

function objectOf(json: unknown, refuse: Refuse): Record<string, unknown> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>;
  return refuse({ code: 'no_feeds' });
}

function checkNames(fields: object, feed: number | null, refuse: Refuse): void {
  for (const name of Object.keys(fields)) {
    if (name === 'password') refuse({ code: 'clear_password', feed: feed ?? 1 });
    if ((names as readonly string[]).includes(name)) continue;
    const known = feed === null ? [...names, 'feeds'] : names;
    refuse({ code: 'unknown_name', feed, name, near: nearest(name, known), known });
  }
}

async function readFeed(
  fields: Fields,
  feed: number,
  context: FeedsContext,
  refuse: Refuse,
  ledgers: (file: string) => Promise<Ledger>,
): Promise<Feed> {
  const check = <T>(name: Name, isGood: (value: unknown) => boolean, expected: string): T | undefined => {
    const value = fields[name];
    if (value === undefined) return undefined;
    return isGood(value) ? (value as T) : refuse({ code: 'wrong_value', feed, name, expected });
  };
  const needed = (name: Name, form: RegExp, example: string, expected: string): string =>
    check<string>(name, (value) => typeof value === 'string' && form.test(value), expected) ??
    refuse({ code: 'missing', feed, name, example });
  const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
  const yesNo = (name: Name): boolean | undefined =>
    check(name, (value) => typeof value === 'boolean', 'true or false');
  const text = (name: Name): string | undefined =>
    check(name, (value) => typeof value === 'string' && value !== '', 'a string');

  const path = needed(
    'path',
    /^(?:\/[\w.~-]+)+\.(?:csv|tsv)$/,
    '"/feeds/clicks.csv"',
    'a path of letters, digits, dots and dashes that ends in .csv or .tsv',
  );
  const format = formatOf(fields.format, feed, refuse);
  const isTabs = format.delimiter === '\t';
  if (path.endsWith('.tsv') !== isTabs)
    refuse({
      code: 'wrong_value',
      feed,
      name: 'path',
      expected: `one that ends in ${isTabs ? '.tsv' : '.csv'}, as the format is`,
    });
  const account = needed('account', /^[\w.-]{1,64}$/, '"101"', 'an account ID');
  const window = needed('window', /^\d+(?:\.\d+)?[hdw]$/, '"14d"', 'a duration such as 36h, 14d or 2w');
  const days = parseDuration(window) / day;
  const most = format.accepts.maxClickDays;
  if (days <= 0) refuse({ code: 'wrong_value', feed, name: 'window', expected: 'longer than nothing' });
  if (most !== null && days > most)
    refuse({ code: 'window_too_long', feed, days, most, title: format.title });
  const timeZone = text('timeZone') ?? context.timeZone ?? null;
  if (timeZone === null)
    return refuse({ code: 'missing', feed, name: 'timeZone', example: '"America/New_York"' });
  if (!isTimeZone(timeZone)) refuse({ code: 'unknown_zone', feed, zone: timeZone });
  const conversionName = check<string>(
    'conversionName',
    (value) => typeof value === 'string' && /^\S.{0,99}$/u.test(value.trim()),
    'at most 100 characters',
  )?.trim();
  if (format.needsName && conversionName === undefined)
    refuse({ code: 'no_name', feed, title: format.title });
  const currency = check<string>(
    'currency',
    (code) => isCurrency(String(code)),
    'the code of a currency, such as USD',
  );
  const { value, needsCallers } = await ruleOf(fields, feed, context, refuse);
  const minAge = text('minAge');
  const minAgeMs = minAge === undefined ? undefined : parseDuration(minAge);
  if (Number.isNaN(minAgeMs))
    refuse({ code: 'wrong_value', feed, name: 'minAge', expected: 'a duration such as 6h' });
  const rules: Feed['rules'] = {
    timeZone,
    conversionName: conversionName ?? '',
    ...defined('value', value),
    ...defined('currency', currency),
    ...defined('minAge', minAgeMs),
    ...defined('minTalk', check<number>('minTalk', isCount, 'a number of seconds')),
    ...defined('unanswered', yesNo('unanswered')),
    ...defined('firstCallOnly', yesNo('firstCallOnly')),
    ...defined('oncePerCallerDays', check<number>('oncePerCallerDays', isCount, 'a number of days')),
    ...defined(
      'repeatedHour',
      check<'first'>(
        'repeatedHour',
        (choice) => ['leave-out', 'first', 'second'].includes(String(choice)),
        'leave-out, first or second',
      ),
    ),
    ...defined(
      'consent',
      check<Consent>('consent', isConsent, '{ "adUserData": "granted", "adPersonalization": "denied" }'),
    ),
  };
  const access = await accessOf(fields, feed, context, refuse);
  const every = text('once');
  if (every !== undefined && !(parseDuration(every) >= shortestPeriod))
    refuse({
      code: 'wrong_value',
      feed,
      name: 'once',
      expected: 'a duration of an hour or more, such as 1d',
    });
  if (every === undefined && format.columns({ ...rules, now: 0 }).every(({ isKey }) => !isKey))
    refuse({ code: 'adds_up', feed, title: format.title });
  const file = text('ledger');
  if ((every === undefined) !== (file === undefined))
    refuse({ code: 'ledger_alone', feed, missing: every === undefined ? 'once' : 'ledger' });
  const { firstCallOnly = false, oncePerCallerDays = 0 } = rules;
  const history = Math.max(firstCallOnly || needsCallers ? firstCallDays : 0, oncePerCallerDays);
  const read = { path, format, account, days, history, rules, access };
  if (every === undefined || file === undefined) return read;
  const ledger = await ledgers(file).catch((error: unknown) =>
    refuse({ code: 'ledger_unusable', feed, file, message: (error as Error).message }),
  );
  return { ...read, once: { every: parseDuration(every), ledger } };
}

function defined<K extends string, T>(name: K, value: T | undefined): { [key in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [key in K]?: T });
}

function isConsent(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { adUserData, adPersonalization, ...others } = value as Record<string, unknown>;
  const known = ['granted', 'denied'] as unknown[];
  return known.includes(adUserData) && known.includes(adPersonalization) && Object.keys(others).length === 0;
}

function formatOf(name: unknown, feed: number, refuse: Refuse): SheetFormat {
  const known = Object.keys(sheetFormats);
  if (name === undefined)
    return refuse({ code: 'missing', feed, name: 'format', example: '"google-ads-clicks"' });
  if (known.includes(String(name))) return sheetFormats[name as SheetFormatName];
  return refuse({ code: 'unknown_format', feed, near: nearest(String(name), known), known });
}

async function ruleOf(
  { value, valueRules }: Fields,
  feed: number,
  { folder }: FeedsContext,
  refuse: Refuse,
): Promise<{ readonly value?: Feed['rules']['value'] | undefined; readonly needsCallers: boolean }> {
  if (value !== undefined && valueRules !== undefined) refuse({ code: 'two_values', feed });
  if (value !== undefined) {
    if (typeof value !== 'number' || !(value >= 0))
      refuse({ code: 'wrong_value', feed, name: 'value', expected: 'a number, 0 or greater' });
    return { value: () => value as number, needsCallers: false };
  }
  if (valueRules === undefined) return { needsCallers: false };
  if (typeof valueRules !== 'string')
    return refuse({ code: 'wrong_value', feed, name: 'valueRules', expected: 'the name of a file' });
  const content = await fileOf(valueRules, folder, feed, refuse);
  try {
    const table = readValueRules(content, valueRules);
    return {
      value: (call, caller) => valueByRules(call, table, caller),
      needsCallers: table.rules.some(({ caller }) => caller !== undefined),
    };
  } catch (error) {
    return refuse({ code: 'value_rules', feed, message: (error as Error).message });
  }
}

import { resolve } from 'node:path';
import type { Ledger, RulesPlace } from '@call-attribution/conversions';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Environment, readJsonInput } from '@call-attribution/core/settings';
import { day, durationMillis } from '@call-attribution/core/time';
import type { Access } from '../http/access.ts';
import type { Feed, FeedReport, ReportFeed, SheetFeed } from './feed.ts';
import type { FeedFields, ReportFields } from './feeds-schema.ts';

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
  /** See `RulesPlace` of conversions. */
  readonly configured?: RulesPlace['configured'] | undefined;
  /** The reports of the configuration file, by their names. Default: none. */
  readonly reports?: ReadonlyMap<string, FeedReport> | undefined;
}

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
  const { source, folder, env, timeZone = null, configured = {}, reports } = context;
  const { feedsSchema } = await import('./feeds-schema.ts');
  const { feeds } = readJsonInput(feedsSchema(timeZone, { folder, env }), text, source);
  const opened = new Map<string, Promise<Ledger>>();
  try {
    const read: Feed[] = [];
    for (const [at, fields] of feeds.entries()) {
      const where = { place: `${source}: feeds[${at}]`, folder, configured };
      if (fields.kind === 'sheet') read.push(await feedOf(fields, where, opened));
      else read.push(await reportFeedOf(fields, where.place, reports ?? new Map()));
    }
    return read;
  } catch (error) {
    for (const ledger of opened.values())
      await ledger.then((one) => one.close()).catch(() => undefined);
    throw error;
  }
}

async function reportFeedOf(
  { path, account, access, report: name }: ReportFields & { readonly access: Access | null },
  place: string,
  reports: ReadonlyMap<string, FeedReport>,
): Promise<ReportFeed> {
  const refuse = (problem: string): ConfigurationError =>
    new ConfigurationError('invalid_option', `${place}.report ${problem}`);
  const report = reports.get(name);
  if (report === undefined) {
    const names = reports.size === 0 ? 'has none' : `has ${[...reports.keys()].join(', ')}`;
    throw refuse(`names ${JSON.stringify(name)}, and the configuration file ${names}`);
  }

  const { groups } = await report.plan(account, Date.now());
  const personal = groups.find((group) => group.personal);
  if (personal !== undefined)
    throw refuse(
      `names ${name}, whose groups of ${personal.name} are personal data: a feed of them would be kept by whoever fetches it`,
    );
  return { path, account, access, once: null, report };
}

async function feedOf(
  fields: FeedFields & { readonly access: Access | null },
  where: RulesPlace,
  opened: Map<string, Promise<Ledger>>,
): Promise<Feed> {
  const { place, folder, configured } = where;
  const { sheetFormats, openLedger, rulesIn } = await import('@call-attribution/conversions');
  const { path, account, access, window, once, ledger: file, timeZone } = fields;
  const { conversionName = '', minTalk, outcomes: outcomeFile } = fields;
  const { rules, history } = await rulesIn(fields, where);
  const { usualWindow } = await import('@call-attribution/questions');
  const { outcomeWindow, outcomeDates: dates = null } = fields;
  const outcomes =
    outcomeFile === undefined
      ? null
      : {
          path: resolve(folder, outcomeFile),
          dates,
          window: durationMillis(outcomeWindow ?? usualWindow, 'outcomeWindow'),
        };
  const before = outcomes === null ? 0 : Math.ceil(outcomes.window / day);
  const feed: SheetFeed = {
    path,
    account,
    access,
    history: Math.max(history, before),
    outcomes,
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

import { CallsError } from '@call-attribution/core/errors';
import { day, formatNaive } from '@call-attribution/core/time';
import {
  planQuestion,
  type Question,
  QuestionError,
  type Spend,
} from '@call-attribution/questions';
import { columnTitle } from '@call-attribution/questions/chart';
import type { PageReport, PageSetup } from '@call-attribution/service';
import {
  accountCalled,
  type FileSection,
  type NamedReport,
  type Settings,
} from '@call-attribution/settings';
import { type Args, listIn } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import { forServer, type Io } from '../../io.ts';
import { contextOf } from '../typed/accounts.ts';
import { checkedDefinitions } from '../typed/chosen-calls.ts';
import { conditionsOf } from '../typed/filter.ts';
import { readReports, typedOf } from '../typed/named-report.ts';
import { outcomesOf } from '../typed/outcomes.ts';
import { readAccountSettings, readStoredSettings } from '../typed/settings.ts';
import { spendOf } from '../typed/spend.ts';
import { groupsOf, questionOfFilter, typedPeriod } from './report-question.ts';

/** What the configuration file has set up for the page. What has a mistake is refused with it. */
export async function pageSetupOf(args: Args, settings: Settings, io: Io): Promise<PageSetup> {
  const definitions = await checkedDefinitions(settings);
  const { exclude = null, annotations = [] } = settings.file ?? {};
  const { path, all } = readReports(args, io);
  const idOf = (called: string) => accountCalled(called, settings.accounts)?.id ?? called;

  const homes =
    settings.accounts.length === 0
      ? [settings]
      : readAccountSettings('all', args, io).map((own) => own.settings);

  // Spend and outcomes are on the page by names alone: other files are beside a terminal.
  const areNamed = (section: FileSection, typed = '') =>
    listIn(typed).every((name) => homesOf(homes, section, name).length > 0);
  const shown = [...all].filter(
    ([, { spend, outcomes }]) => areNamed('spend', spend) && areNamed('outcomes', outcomes),
  );
  const offered = new Map(await offeredReports(homes, [...all.values()], io));
  const reports = [...shown, ...offered].map(([name, report]): PageReport => {
    const typed = typedOf(report);
    const accounts = typed.text('account') === null ? null : typed.list('account').map(idOf);
    const hasSpend = typed.text('spend') !== null;
    const hasOutcomes = typed.text('outcomes') !== null;
    const question: Question = {
      ...questionOf(typed, settings, io),
      ...(hasSpend ? { spend: [], calls: 'all' } : {}),
      ...(hasOutcomes ? { outcomes: { all: [], window: 0 } } : {}),
    };
    const files = async (account: string) => {
      const own = accountCalled(account, settings.accounts)?.name;
      const read = own === undefined ? settings : readStoredSettings(own, args, io);
      const quiet = forServer(io);
      const spend = await spendOf(typed, [read], quiet);
      const named = [{ called: null, files: read.outcomes }];
      const outcomes = await outcomesOf(typed, named, read.timeZone?.value ?? null, quiet);
      const period = offered.has(name) ? ownPeriod(spend) : null;
      return {
        ...(spend === undefined ? {} : { spend }),
        ...(outcomes === null ? {} : { outcomes }),
        ...(period === null ? {} : { period }),
      };
    };

    try {
      const { columns } = planQuestion({ ...question, definitions }, { now: io.clock.now() });
      const title =
        report.title ??
        `By ${columns
          .filter(({ kind }) => kind === 'group')
          .map((each) => columnTitle(each.name).toLowerCase())
          .join(' and ')}`;
      return { name, title, accounts, question, files: hasSpend || hasOutcomes ? files : null };
    } catch (error) {
      if (!(error instanceof QuestionError)) throw error;
      throw new UsageError(`${path}: reports.${name}: ${error.message}`);
    }
  });
  return {
    definitions,
    exclude,
    reports,
    annotations: annotations.map(({ date, text, account }) => ({
      date,
      text,
      account: account === null ? null : idOf(account),
    })),
  };
}

/** The accounts that have a file of this name, or the settings without accounts. */
const homesOf = (homes: readonly Settings[], section: FileSection, name: string): Settings[] =>
  homes.filter((home) => home[section].has(name));

/** What a file of spend may have amounts of: how it is typed, and what the page calls it. */
const levels = [
  { field: 'ppc_campaign', by: 'campaign', title: 'campaigns' },
  { field: 'ppc_adgroup', by: 'ad_group', title: 'ad groups' },
  { field: 'ppc_keywords', by: 'keyword', title: 'keywords' },
] as const;

/**
 * The reports that the page has by itself, of each file with a name: by campaign, ad group and
 * keyword, as far as the file has them and no report of the team has the same. What was spent is
 * shown beside what calls became where that is one file.
 */
async function offeredReports(
  homes: readonly Settings[],
  own: readonly NamedReport[],
  io: Io,
): Promise<[name: string, report: NamedReport][]> {
  const namesOf = (section: FileSection) => [
    ...new Set(homes.flatMap((home) => [...home[section].keys()])),
  ];
  const spent = namesOf('spend');
  const sold = namesOf('outcomes');
  const offered: [string, NamedReport][] = [];

  const offer = (
    section: FileSection,
    file: string,
    files: NamedReport,
    fields: readonly string[],
  ): void => {
    const having = homesOf(homes, section, file);
    const accounts = having.map(({ account }) => account?.name ?? '').join();
    const isOne = namesOf(section).length === 1;
    const isSold = 'outcomes' in files;
    for (const { field, by, title } of levels) {
      const isKnown = own.some(
        (report) =>
          listIn(report.by ?? '').includes(by) && listIn(report[section] ?? '').includes(file),
      );
      if (isKnown || !fields.includes(field)) continue;
      const report: NamedReport = {
        ...files,
        ...(having.length === homes.length ? {} : { account: accounts }),
        title: `What ${title} ${isSold ? 'earn' : 'cost'}${isOne ? '' : ` (${file})`}`,
        by,
        measures: isSold ? 'revenue,outcomes,calls' : 'calls',
        order: `${section === 'spend' ? 'spend' : 'revenue'} desc`,
        limit: '50',
        period: 'last 30 days',
        'include-extensions': 'true',
        // With an exclusion there is no cost per call.
        ...(section === 'spend' ? { 'no-exclude': 'true' } : {}),
      };
      offered.push([`${by}:${file}`, report]);
    }
  };

  for (const spend of spent) {
    const having = homesOf(homes, 'spend', spend);
    const read = await spendOf(typedOf({ spend }), having.slice(0, 1), io).catch(
      (error: unknown) => {
        // Who opens the report is told what is wrong with its file.
        if (CallsError.is(error) && error.kind === 'usage') return [];
        throw error;
      },
    );
    const [only, ...others] = sold.filter((name) =>
      having.every((home) => home.outcomes.has(name)),
    );
    const isSold = only !== undefined && others.length === 0;
    const files = isSold ? { spend, outcomes: only } : { spend };
    offer('spend', spend, files, read?.[0]?.fields ?? ['ppc_campaign']);
  }

  if (spent.length === 0 || sold.length > 1)
    for (const outcomes of sold)
      offer('outcomes', outcomes, { outcomes }, ['ppc_campaign', 'ppc_keywords']);

  return offered;
}

/** The days of a file of spend that has none of its own, as a period; null for others. */
function ownPeriod(all: readonly Spend[] = []): string | null {
  const [spend] = all;
  if (!spend?.covers || spend.amounts.some(({ period }) => period !== null)) return null;
  const { from, to } = spend.covers;
  return `${formatNaive(from).slice(0, 10)} to ${formatNaive(to - day).slice(0, 10)}`;
}

/** The question of a report, with its period in words. */
function questionOf(typed: Args, settings: Settings, io: Io): Question {
  const context = contextOf(settings, io);
  const filter = conditionsOf(typed, context);
  const where = typed.text('where');
  const compare = typed.text('compare');
  const exclude = typed.flag('no-exclude') ? null : (settings.file?.exclude ?? null);
  return {
    ...groupsOf(typed, settings.accounts),
    ...typedPeriod(typed),
    ...questionOfFilter(filter, context.version),
    ...(where === null ? {} : { where }),
    ...(compare === null ? {} : { compare: compare.trim().toLowerCase() }),
    ...(exclude === null ? {} : { exclude }),
    personal: 'show',
  };
}

import { planQuestion, type Question, QuestionError } from '@call-attribution/questions';
import { columnTitle } from '@call-attribution/questions/chart';
import type { PageReport, PageSetup } from '@call-attribution/service';
import { accountCalled, type FileSection, type Settings } from '@call-attribution/settings';
import { type Args, listIn } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import { type Io, silent } from '../../io.ts';
import { contextOf } from '../typed/accounts.ts';
import { checkedDefinitions } from '../typed/chosen-calls.ts';
import { conditionsOf } from '../typed/filter.ts';
import { readReports, typedOf } from '../typed/named-report.ts';
import { outcomesOf } from '../typed/outcomes.ts';
import { readStoredSettings } from '../typed/settings.ts';
import { spendOf } from '../typed/spend.ts';
import { groupsOf, questionOfFilter, typedPeriod } from './report-question.ts';

/** What the configuration file has set up for the page. What has a mistake is refused with it. */
export async function pageSetupOf(args: Args, settings: Settings, io: Io): Promise<PageSetup> {
  const definitions = await checkedDefinitions(settings);
  const { exclude = null, annotations = [] } = settings.file ?? {};
  const { path, all } = readReports(args, io);
  const idOf = (called: string) => accountCalled(called, settings.accounts)?.id ?? called;

  // Spend and outcomes are on the page by names alone: other files are beside a terminal.
  const areNamed = (section: FileSection, typed = '') =>
    listIn(typed).every((name) => settings[section].has(name));
  const shown = [...all].filter(
    ([, { spend, outcomes }]) => areNamed('spend', spend) && areNamed('outcomes', outcomes),
  );
  const reports = shown.map(([name, report]): PageReport => {
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
      const quiet = { ...io, stderr: silent };
      const spend = await spendOf(typed, [read], quiet);
      const named = [{ called: null, files: read.outcomes }];
      const outcomes = await outcomesOf(typed, named, read.timeZone?.value ?? null, quiet);
      return {
        ...(spend === undefined ? {} : { spend }),
        ...(outcomes === null ? {} : { outcomes }),
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

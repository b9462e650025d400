import { everything, type Period, textOf } from '@call-attribution/core/time';
import { type Filter, printFilter, type Version } from '@call-attribution/query-dsl';
import { planQuestion, type Question, splitList } from '@call-attribution/questions';
import { accountCalled, type ConfiguredAccount } from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import { leavesExtensions } from '../../input/filter.ts';
import type { Io } from '../../io.ts';
import type { AskedQuestion } from '../../report/question.ts';
import { contextOf, planEach, type ReadAccount } from '../typed/accounts.ts';
import { chosenCalls } from '../typed/chosen-calls.ts';
import {
  askedPeriod,
  conditionsOf,
  type FilterContext,
  readTyped,
  sayPeriod,
} from '../typed/filter.ts';
import { expectedIn } from '../typed/named-report.ts';
import { outcomesOf } from '../typed/outcomes.ts';
import { spendOf } from '../typed/spend.ts';

const usualMeasures = ['calls', 'share', 'missed', 'talk_mean'];
const usualOfOutcomes = ['calls', 'outcomes', 'revenue', 'revenue_per_call'];

/** An account that is asked, whoever answers for it. */
type AskedAccount = Pick<ReadAccount, 'name' | 'called' | 'settings' | 'problem'>;

/**
 * The question that the options ask, to all accounts at once, and its plan. Which period is meant
 * is said; which one it is compared with, the answer says.
 */
export async function questionOf(
  args: Args,
  accounts: readonly AskedAccount[],
  io: Io,
): Promise<AskedQuestion> {
  const by = args.list('by');
  const having = args.text('fail-if');
  const { period, selection } = await selectionOf(args, accounts, io);
  const { from, to } = textOf(period);
  const spend = await spendOf(
    args,
    accounts.map(({ settings }) => settings),
    io,
  );
  const typed = args.text('compare');
  const compare = typed ?? (having === null ? null : usualComparison(by, period));
  const files = accounts.map(({ settings }) => {
    return { called: settings.account?.name ?? null, files: settings.outcomes };
  });
  const outcomes = await outcomesOf(args, files, selection.timeZone ?? null, io);
  if (outcomes === null && args.flag('dry-run'))
    throw new UsageError('--dry-run lists outcomes: it needs --outcomes FILE');
  const question: Question = {
    ...groupsOf(args, accounts[0]?.settings.accounts ?? []),
    ...(outcomes === null ? {} : { outcomes }),
    ...selection,
    // Calls through call extensions were paid for, too.
    ...(spend === undefined ? {} : { spend, calls: 'all' }),
    // What nobody asked to compare keeps its end: today, too.
    ...(typed === null ? fixedPeriod(from, to) : typedPeriod(args)),
    personal: 'show',
  };
  const present = { now: io.clock.now(), timeZone: question.timeZone ?? null };
  const [first] = accounts;
  const read = { now: present.now, version: first?.settings.apiVersion.value };
  if (compare === null) return { question, plan: planQuestion(question, read), read };
  const asked = { ...question, compare: compare.trim().toLowerCase() };
  const plan = planQuestion(asked, read);
  if (!/^\s*(?:previous|year)\s*$/i.test(compare)) await readTyped({ period: compare }, present);
  return { question: asked, plan, read };
}

/** The groups and measures that the options name, with what is shown of them. */
export function groupsOf(args: Args, configured: readonly ConfiguredAccount[]): Question {
  const by = args.list('by');
  const measures = args.text('measures');
  const order = args.text('order');
  const limit = args.integer('limit');
  const having = args.text('fail-if');
  const isByAccount = by.some((name) => name.toLowerCase() === 'account');

  // Calls are counted under the ID of their account.
  const idOf = (name: string) => (isByAccount ? accountCalled(name, configured)?.id : null) ?? name;
  const expect = expectedIn(args).map(idOf);
  const usual = args.flag('outcomes') ? usualOfOutcomes : usualMeasures;
  return {
    groupBy: by.length > 0 ? by : ['day'],
    measures: measures === null ? usual : splitList(measures).map((each) => each.trim()),
    ...(order === null ? {} : { order }),
    ...(limit === null ? {} : { limit }),
    ...(having === null ? {} : { having }),
    ...(expect.length === 0 ? {} : { expect }),
  };
}

export const typedPeriod = (args: Args): Partial<Question> =>
  Object.fromEntries(
    (['period', 'from', 'to'] as const).flatMap((name) => {
      const text = args.text(name);
      return text === null ? [] : [[name, text]];
    }),
  );

const fixedPeriod = (from: string | null, to: string | null): Partial<Question> => ({
  ...(from === null ? {} : { from }),
  ...(to === null ? {} : { to }),
});

/**
 * What a report with a condition is compared with, so that a group that had calls in the period
 * before and has none now is there, with 0. Times are there anyway.
 */
function usualComparison(by: readonly string[], { from, to }: Period): string | null {
  const isOfTime =
    by.length === 0 || by.some((name) => /^(?:day|week|month|hour|weekday)$/i.test(name.trim()));
  return isOfTime || from === null || to === null ? null : 'previous';
}

async function selectionOf(
  args: Args,
  accounts: readonly AskedAccount[],
  io: Io,
): Promise<{ readonly period: Period; readonly selection: Partial<Question> }> {
  const planned = await planEach(accounts, async ({ called, settings }) => {
    const context = contextOf(settings, io);
    const period = await askedPeriod(args, context);
    await sayPeriod(period, context, io);
    return { name: called ?? 'main', period, context, filter: conditionsOf(args, context) };
  });
  const own = planned.map(({ plan }) => plan);
  const [first] = own;
  if (first === undefined) return { period: everything, selection: {} };
  for (const [what, textOf] of Object.entries(mustBeAlike)) {
    const values = own.map(({ name, context }) => [name, textOf(context)] as const);
    if (new Set(values.map(([, value]) => value)).size === 1) continue;
    const named = values.map(([name, value]) => `${name} (${value})`).join(', ');
    throw new UsageError(`a report is of accounts with the same ${what}: ${named}`, [
      `ask for those that are alike: --account ${first.name}`,
    ]);
  }

  const { context, filter } = first;
  const { timeZone, version } = context;
  const [{ settings }] = accounts as [AskedAccount];
  const selection: Partial<Question> = {
    ...questionOfFilter(filter, version),
    ...(timeZone === null ? {} : { timeZone }),
    ...(await chosenCalls(args, settings)),
  };
  return { period: first.period, selection };
}

/** Which calls a filter of the API selects, as a part of a question. */
export const questionOfFilter = (
  filter: Filter,
  version: Version,
): Pick<Question, 'q' | 'calls'> => ({
  q: printFilter(filter),
  calls: leavesExtensions(filter, version) ? 'website' : 'all',
});

/** Where accounts differ in these, the same words would mean other calls. */
const mustBeAlike: Readonly<Record<string, (context: FilterContext) => string>> = {
  'time zone': ({ timeZone }) => timeZone ?? 'none',
  'version of the API': ({ version }) => version,
};

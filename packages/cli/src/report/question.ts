import { textOf } from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import { type Plan, planQuestion, type Question, splitList } from '@call-attribution/questions';
import type { Args } from '../args.ts';
import { UsageError } from '../errors.ts';
import { contextOf, planEach, type ReadAccount } from '../input/accounts.ts';
import {
  askedPeriod,
  conditionsOf,
  type FilterContext,
  leavesExtensions,
  periodText,
  readTyped,
  sayPeriod,
} from '../input/filter.ts';
import { type Io, say } from '../io.ts';

/** A question, and what is known of it before any call is read. */
export interface AskedQuestion {
  readonly question: Question;
  readonly plan: Plan;
}

const usualMeasures = ['calls', 'share', 'missed', 'talk_mean'];

/**
 * The question that the options ask, to all accounts at once, and its plan. Which periods are meant
 * is said.
 */
export async function questionOf(
  args: Args,
  accounts: readonly ReadAccount[],
  io: Io,
): Promise<AskedQuestion> {
  const by = args.list('by');
  const measures = args.text('measures');
  const order = args.text('order');
  const limit = args.integer('limit');
  const compare = args.text('compare');
  const question: Question = {
    groupBy: by.length > 0 ? by : ['day'],
    measures: measures === null ? usualMeasures : splitList(measures).map((each) => each.trim()),
    ...(order === null ? {} : { order }),
    ...(limit === null ? {} : { limit }),
    ...(await selectionOf(args, accounts, io)),
    personal: 'show',
  };
  const present = { now: io.clock.now(), timeZone: question.timeZone ?? null };
  if (compare === null) return { question, plan: planQuestion(question, { now: present.now }) };
  const asked = { ...question, compare: compare.trim().toLowerCase() };
  const plan = planQuestion(asked, { now: present.now });
  if (plan.compared === null) return { question: asked, plan };
  if (!/^\s*(?:previous|year)\s*$/i.test(compare)) await readTyped({ period: compare }, present);
  say(io, `compared with ${await periodText(plan.compared, present)}`);
  const compared = textOf(plan.compared);
  return { question: { ...question, compare: `${compared.from} to ${compared.to}` }, plan };
}

async function selectionOf(
  args: Args,
  accounts: readonly ReadAccount[],
  io: Io,
): Promise<Partial<Question>> {
  const planned = await planEach(accounts, async ({ called, settings }) => {
    const context = contextOf(settings, io);
    const period = await askedPeriod(args, context);
    await sayPeriod(period, context, io);
    return { name: called ?? 'main', period, context, filter: conditionsOf(args, context) };
  });
  const own = planned.map(({ plan }) => plan);
  const [first] = own;
  if (first === undefined) return {};
  for (const [what, textOf] of Object.entries(mustBeAlike)) {
    const values = own.map(({ name, context }) => [name, textOf(context)] as const);
    if (new Set(values.map(([, value]) => value)).size === 1) continue;
    const named = values.map(([name, value]) => `${name} (${value})`).join(', ');
    throw new UsageError(`a report is of accounts with the same ${what}: ${named}`, [
      `ask for those that are alike: --account ${first.name}`,
    ]);
  }

  const { context, filter } = first;
  const { from, to } = textOf(first.period);
  const { timeZone, version } = context;
  const where = args.text('where');
  return {
    q: printFilter(filter),
    ...(timeZone === null ? {} : { timeZone }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...(where === null ? {} : { where }),
    calls: leavesExtensions(filter, version) ? 'website' : 'all',
  };
}

/** Where accounts differ in these, the same words would mean other calls. */
const mustBeAlike: Readonly<Record<string, (context: FilterContext) => string>> = {
  'time zone': ({ timeZone }) => timeZone ?? 'none',
  'version of the API': ({ version }) => version,
};

/** A group of a question. */
interface Group {
  readonly name: string;
  readonly isTime: boolean;
}

/**
 * How a report is laid out: the groups of its rows, and the time that goes across, which a picture
 * shows.
 */
export interface Layout {
  readonly rows: readonly Group[];
  readonly across: Group | null;
  /** The group within each row of a page, where none of the two is a time. */
  readonly inner: Group | null;
  /**
   * What is asked: the rows; with a time across also its calls in each row, and in all; with a
   * group within the rows also the pairs.
   */
  readonly plans: readonly Plan[];
}

/** Most rows of data, and of time, which is always shown whole. */
const mostRows = 1_000_000;

/**
 * The layout of a question. For people, a time that is one of two groups goes across; on a page,
 * other second groups stand within the first ones. With an order, each pair has its row.
 */
export function layoutOf(
  { question, plan }: AskedQuestion,
  isForPeople: boolean,
  isPage = false,
): Layout {
  const { groups } = plan;
  const [first, second] = groups;

  const limited = (rows: readonly Group[]): Question => ({
    ...question,
    groupBy: rows.map(({ name }) => name),
    limit: question.limit ?? (isForPeople && rows[0]?.isTime !== true ? 10 : mostRows),
  });
  const planned = (...questions: Question[]) => questions.map((each) => planQuestion(each));

  const across = second?.isTime ? second : first;
  const isPair = isForPeople && question.order === undefined && groups.length === 2;
  if (isPair && isPage && first && second && !across?.isTime) {
    const plans = planned(limited([first]), { ...limited(groups), limit: mostRows });
    return { rows: [first], across: null, inner: second, plans };
  }

  if (!isPair || !across?.isTime)
    return { rows: groups, across: null, inner: null, plans: planned(limited(groups)) };
  const rows = groups.filter((group) => group !== across);
  const { compare: _, ...plain } = question;

  const calls = (...by: readonly Group[]): Question => ({
    ...plain,
    groupBy: by.map(({ name }) => name),
    measures: ['calls'],
    limit: mostRows,
  });

  const plans = planned(limited(rows), calls(...rows, across), calls(across));
  return { rows, across, inner: null, plans };
}

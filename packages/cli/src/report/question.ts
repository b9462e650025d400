import { printFilter } from '@call-attribution/query-dsl';
import { planQuestion, type Question, splitList } from '@call-attribution/questions';
import type { Args } from '../args.ts';
import { UsageError } from '../errors.ts';
import { contextOf } from '../input/connect.ts';
import { type NamedAccount, planEach, ready } from '../input/each-account.ts';
import { conditionsOf, leavesExtensions } from '../input/filter.ts';
import { naiveRange, periodText, rangeOf, readRange, sayPeriod } from '../input/period.ts';
import { type Io, say } from '../io.ts';

/** An account that is asked. */
export interface AskedAccount extends NamedAccount {
  /** As its calls are counted: its ID, or its name where the settings have no ID. */
  readonly key: string;
}

const usualMeasures = ['calls', 'share', 'missed', 'talk_mean'];

/** The question that the options ask, to all accounts at once. Which periods are meant is said. */
export async function questionOf(args: Args, accounts: readonly AskedAccount[], io: Io): Promise<Question> {
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
  if (compare === null) return question;
  const present = { now: io.clock.now(), timeZone: question.timeZone ?? null };
  const plan = planQuestion({ ...question, compare: compare.trim().toLowerCase() }, { now: present.now });
  if (plan.compared === null) return question;
  if (!/^\s*(?:previous|year)\s*$/i.test(compare)) readRange({ period: compare }, present);
  const compared = naiveRange(plan.compared);
  say(io, `compared with ${periodText(compared, present)}`);
  return { ...question, compare: `${compared.from} to ${compared.to}` };
}

async function selectionOf(
  args: Args,
  accounts: readonly AskedAccount[],
  io: Io,
): Promise<Partial<Question>> {
  const planned = await planEach(accounts, ({ key, name, settings }) => {
    const context = contextOf(settings, io);
    const range = rangeOf(args, context);
    sayPeriod(range, context, io);
    return { name: name ?? key, range, context, filter: conditionsOf(args, context) };
  });
  // An account with a problem fails when its turn comes.
  const own = ready(planned).map(({ plan }) => plan);
  const [first] = own;
  if (first === undefined) return {};
  needAlike(
    'time zone',
    own.map(({ name, context }) => [name, context.timeZone ?? 'none']),
  );
  needAlike(
    'version of the API',
    own.map(({ name, context }) => [name, context.version]),
  );
  const { range, context, filter } = first;
  const { timeZone, version } = context;
  const where = args.text('where');
  return {
    q: printFilter(filter),
    ...(timeZone === null ? {} : { timeZone }),
    ...(range.from === null ? {} : { from: range.from }),
    ...(range.to === null ? {} : { to: range.to }),
    ...(where === null ? {} : { where }),
    calls: leavesExtensions(filter, version) ? 'website' : 'all',
  };
}

/** Refuses accounts in which the same words would mean other calls. */
function needAlike(what: string, accounts: readonly (readonly [name: string, value: string])[]): void {
  if (new Set(accounts.map(([, value]) => value)).size < 2) return;
  const named = accounts.map(([name, value]) => `${name} (${value})`).join(', ');
  throw new UsageError(`a report is of accounts with the same ${what}: ${named}`, {
    hints: [`ask for those that are alike: --account ${accounts[0]?.[0]}`],
  });
}

/** The groups of a question, of which time goes across: see `layoutOf`. */
interface Group {
  readonly name: string;
  readonly isTime: boolean;
}

/** How a report is laid out: the groups of its rows, and the one that goes across, which a picture shows. */
export interface Layout {
  readonly rows: readonly Group[];
  readonly across: Group | null;
  /** What is asked: the rows; with a group across also its calls in each row, and in all; of one that is no time also all measures of the pairs. */
  readonly questions: readonly Question[];
}

/** Most cells of a picture. */
const mostCells = 1_000_000;

/** Most rows of data, and of time, which is always shown whole. */
const mostRows = 1_000_000;

/**
 * The layout of a question. For people one of two groups goes across: time, whichever came first, otherwise the second. With an order, each
 * pair has its row.
 */
export function layoutOf(question: Question, isForPeople: boolean): Layout {
  const { groups } = planQuestion(question);
  const [first, second] = groups;
  const limited = (rows: readonly Group[]): Question => ({
    ...question,
    groupBy: rows.map(({ name }) => name),
    limit: question.limit ?? (isForPeople && rows[0]?.isTime !== true ? 10 : mostRows),
  });
  if (!isForPeople || question.order !== undefined || groups.length !== 2 || !first || !second)
    return { rows: groups, across: null, questions: [limited(groups)] };
  const [row, across] = first.isTime && !second.isTime ? [second, first] : [first, second];
  const { compare: _, ...plain } = question;
  const calls = (...by: readonly Group[]): Question => ({
    ...plain,
    groupBy: by.map(({ name }) => name),
    measures: ['calls'],
    limit: mostCells,
  });
  const pairs = { ...question, groupBy: [row.name, across.name], limit: mostCells };
  const questions = [limited([row]), calls(row, across), calls(across), ...(across.isTime ? [] : [pairs])];
  return { rows: [row], across, questions };
}

/** Whether the groups of a question are personal data of callers; their name if so. */
export const personalGroup = (question: Question): string | null =>
  planQuestion(question).groups.find(({ personal }) => personal)?.name ?? null;

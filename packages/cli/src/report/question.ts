import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { type Filter, printFilter } from '@call-attribution/query-dsl';
import {
  type Condition,
  parseCondition,
  planQuestion,
  type Question,
  splitList,
} from '@call-attribution/questions';
import type { Args } from '../args/command.ts';
import { movesWithClock, type NaiveRange, needZone } from '../args/time.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { contextOf } from '../reading/connect.ts';
import { type NamedAccount, planEach, ready } from '../reading/each-account.ts';
import { conditionsOf, leavesExtensions, rangeOf } from '../reading/filter.ts';
import { periodText, sayPeriod } from '../reading/period.ts';
import { whereOf } from '../reading/where.ts';

/** An account that is asked. */
export interface AskedAccount extends NamedAccount {
  /** As calls are counted for it: its name, or its ID in a copy. */
  readonly key: string;
}

/** The accounts that are asked, and what they are called in conditions. */
interface AskedPlace {
  readonly accounts: readonly AskedAccount[];
  readonly accountsAs: 'id' | 'name';
}

const usualMeasures = ['calls', 'share', 'missed', 'talk_mean'];

/** The question that the options ask, to all accounts at once. Which periods are meant is said. */
export async function questionOf(args: Args, place: AskedPlace, io: Io): Promise<Question> {
  const by = args.list('by');
  const measures = args.text('measures');
  const order = args.text('order');
  const limit = args.integer('limit', { min: 1 });
  const compare = args.text('compare');
  const question: Question = {
    groupBy: by.length > 0 ? by : ['day'],
    measures: measures === null ? usualMeasures : splitList(measures).map((each) => each.trim()),
    ...(order === null ? {} : { order }),
    ...(limit === null ? {} : { limit }),
    ...(await selectionOf(args, place, io)),
    personal: 'show',
  };
  if (compare === null) return question;
  if (movesWithClock(compare)) needZone({ timeZone: question.timeZone ?? null }, JSON.stringify(compare));
  const plan = planQuestion({ ...question, compare: compare.trim().toLowerCase() }, { now: io.clock.now() });
  if (plan.compared === null) return question;
  const compared = { from: formatNaive(plan.compared.from), to: formatNaive(plan.compared.to) };
  say(io, `compared with ${periodText(compared, plan.zones.timeZone)}`);
  return { ...question, compare: compared };
}

/** What the options say of the calls of an account. */
interface OwnSelection {
  readonly account: AskedAccount;
  readonly range: NaiveRange;
  readonly timeZone: string | null;
  /** Without calls through call extensions, as the API answers. */
  readonly leaves: boolean;
  readonly filter: Filter;
}

async function selectionOf(
  args: Args,
  { accounts, accountsAs }: AskedPlace,
  io: Io,
): Promise<Partial<Question>> {
  const planned = await planEach(accounts, (account): OwnSelection => {
    const context = contextOf(account.settings, io);
    const range = rangeOf(args, context);
    sayPeriod(range, context, io);
    const filter = conditionsOf(args, context);
    const { timeZone, version } = context;
    return { account, range, timeZone, filter, leaves: leavesExtensions(filter, version) };
  });
  // An account with a problem fails when its turn comes.
  const own = ready(planned).map(({ plan }) => plan);
  const [first, ...others] = own;
  if (first === undefined) return {};
  const { account, range, timeZone, filter } = first;
  const { from, to } = around(own);
  const other = others.find((one) => one.range.from !== range.from || one.range.to !== range.to);
  if (other !== undefined && from !== null && to !== null && args.text('compare') !== null)
    throw comparesMany(first, other);
  const areAlike = other === undefined && others.every(({ leaves }) => leaves === first.leaves);
  const where = whereOf(args, account.settings, accountsAs);
  const which = areAlike
    ? where
    : both(where, { kind: 'or', parts: own.map((one) => callsOf(one, other !== undefined)) });
  return {
    q: printFilter(filter),
    ...(timeZone !== null && others.every((one) => one.timeZone === timeZone) ? { timeZone } : {}),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...(which === null ? {} : { where: which }),
    calls: areAlike && first.leaves ? 'website' : 'all',
  };
}

/** The time from the earliest start of the periods to their latest end. */
function around(own: readonly OwnSelection[]): NaiveRange {
  const starts = own.map(({ range }) => range.from).sort();
  const ends = own.map(({ range }) => range.to).sort();
  return {
    from: starts.includes(null) ? null : (starts[0] ?? null),
    to: ends.includes(null) ? null : (ends.at(-1) ?? null),
  };
}

/** The same day would be in the period of one account, and in the time before that of another. */
function comparesMany(one: OwnSelection, other: OwnSelection): UsageError {
  const [first, second] = [one, other].map(({ account }) => account.name ?? account.key);
  const [from = '', to = ''] = (periodText(one.range, null) ?? '').match(/\d{4}-\d\d-\d\d/g) ?? [];
  return new UsageError(
    `--compare needs one period for all accounts, and that of ${first} is not that of ${second}, which is in another time zone`,
    {
      hints: [`write it as dates: --from ${from} --to ${to}`, `or ask for each account: --account ${first}`],
    },
  );
}

/** The calls of an account, whose period or version is not that of the others, as a condition. */
function callsOf({ account, range, leaves }: OwnSelection, isOwnPeriod: boolean): Condition {
  const bound = (operator: '>=' | '<', time: string | null): Condition[] =>
    time === null || !isOwnPeriod
      ? []
      : [
          {
            kind: 'compare',
            field: 'date_added',
            operator,
            value: { type: 'time', millis: parseNaive(time), isWholeDay: false },
          },
        ];
  return {
    kind: 'and',
    parts: [
      { kind: 'compare', field: 'account', operator: '==', value: { type: 'text', text: account.key } },
      ...bound('>=', range.from),
      ...bound('<', range.to),
      ...(leaves ? [{ kind: 'not', part: { kind: 'flag', field: 'is_extension' } } as const] : []),
    ],
  };
}

function both(where: Condition | string | null, condition: Condition): Condition | string {
  if (where === null) return condition;
  if (typeof where !== 'string') return { kind: 'and', parts: [where, condition] };
  const read = parseCondition(where);
  // A condition that cannot be read is explained where it is asked.
  return read.ok ? { kind: 'and', parts: [read.condition, condition] } : where;
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
  /** What is asked: the rows; with a group across also its calls in each row, and in all. */
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
  return { rows: [row], across, questions: [limited([row]), calls(row, across), calls(across)] };
}

/** Whether the groups of a question are personal data of callers; their name if so. */
export const personalGroup = (question: Question): string | null =>
  planQuestion(question).groups.find(({ personal }) => personal)?.name ?? null;

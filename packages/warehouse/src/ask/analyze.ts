import {
  type AccountStatus,
  type Answer,
  type Counted,
  type CountedGroup,
  comparedFields,
  finishAnswer,
  type PartValue,
  type Plan,
  planQuestion,
  type Question,
  type Value,
} from '@call-attribution/questions';
import type { Session } from '../file/session.ts';
import { fn } from '../sql/functions.ts';
import { type Printed, printQuery } from '../sql/print.ts';
import { and, as, cast, column, isNotNull, isNull, type Query, type Sql } from '../sql/tree.ts';
import { type AskedPlan, composeCalls, composeGroupCount, composeRows, composeTotal } from './compose.ts';
import { fieldSql, sourceOf } from './fields.ts';
import { checkAccounts, locate, type StoredPlan } from './select.ts';
import { selected } from './selected.ts';
import { accountStatuses } from './status.ts';

/** Answers a question over an open warehouse: DuckDB counts, and the answer is made of the counts as everywhere. */
export async function analyze(session: Session, question: Question): Promise<Answer> {
  const asked = planQuestion(question);
  const known = await accountStatuses(session);
  const plan = await readPlan(session, asked, known);
  return answerTo(session, plan, known, await countWhole(session, plan, [plan], known));
}

/** Answers several questions. What they ask of the same calls as a whole is counted together. */
export async function analyzeAll(session: Session, questions: readonly Question[]): Promise<Answer[]> {
  const asked = questions.map((question) => planQuestion(question));
  const known = await accountStatuses(session);
  const plans: { readonly plan: StoredPlan; readonly calls: string }[] = [];
  for (const each of asked) {
    const plan = await readPlan(session, each, known);
    plans.push({ plan, calls: callsOf(plan) });
  }
  const wholes = new Map<string, Whole>();
  const answers: Answer[] = [];
  for (const { plan, calls } of plans) {
    const same = plans.flatMap((other) => (other.calls === calls ? [other.plan] : []));
    const whole = wholes.get(calls) ?? (await countWhole(session, plan, same, known));
    wholes.set(calls, whole);
    answers.push(await answerTo(session, plan, known, whole));
  }
  return answers;
}

async function readPlan(session: Session, asked: Plan, known: readonly AccountStatus[]): Promise<StoredPlan> {
  checkAccounts(asked.accounts, known);
  return locate(asked, session);
}

/** What tells the calls of a question, and the values of their fields, from those of others. */
const callsOf = (plan: StoredPlan): string => JSON.stringify([composeCalls(plan), plan.settings]);

const accountsOf = ({ accounts }: StoredPlan, known: readonly AccountStatus[]) =>
  known.filter(({ account }) => accounts?.includes(account) ?? true);

async function answerTo(
  session: Session,
  plan: StoredPlan,
  known: readonly AccountStatus[],
  { totalOf, ...whole }: Whole,
): Promise<Answer> {
  const rows = await readGroups(session, plan);
  return finishAnswer(plan, { ...whole, ...rows, total: totalOf(plan), accounts: accountsOf(plan, known) });
}

/** What was counted of the calls of some questions as a whole. */
interface Whole extends Pick<Counted, 'otherChannel' | 'noTime' | 'values'> {
  /** The parts of one of the questions. */
  totalOf(plan: Plan): Counted['total'];
}

/** Counts the calls of a question as a whole, for all questions about the same calls. */
async function countWhole(
  session: Session,
  one: StoredPlan,
  same: readonly StoredPlan[],
  known: readonly AccountStatus[],
): Promise<Whole> {
  const parts = new Map(same.flatMap((each) => each.parts.map((part) => [JSON.stringify(part), part])));
  const plan = { ...one, parts: [...parts.values()] };
  const bitmap = await bitmapOf(session, plan, { inTotal: true, accounts: accountsOf(plan, known).length });
  const { now, past } = await readTotals(session, { ...plan, bitmap });
  const places = new Map([...parts.keys()].map((part, at) => [part, at]));
  const pick = (own: Plan, values: readonly PartValue[]) =>
    own.parts.map((part) => values[places.get(JSON.stringify(part)) ?? -1] ?? null);
  return {
    totalOf: (own) => ({ now: pick(own, now), past: past && pick(own, past) }),
    ...(await countLeftOut(session, plan)),
    values: now[0] === 0 ? await valuesOf(session, plan) : new Map(),
  };
}

// Bytes that the bitmaps of all groups may take together.
const mostBitmaps = 64e6;

/**
 * The largest number of a caller, when a bitmap of all callers for each group is the cheapest way to count them. Callers with
 * several calls are found in bitmaps only in the totals of one account.
 */
async function bitmapOf(
  session: Session,
  plan: StoredPlan,
  { inTotal = false, accounts = 0 }: { inTotal?: boolean; accounts?: number } = {},
): Promise<number | null> {
  const kinds = plan.parts.map(({ kind }) => kind);
  const needsRepeated = kinds.includes('repeat_callers');
  if (needsRepeated ? !inTotal || accounts !== 1 : !kinds.includes('callers')) return null;
  const { last } = await session.one('SELECT max(no) AS last FROM callers');
  if (last === null) return null;
  const { sql, values } = composeGroupCount(plan);
  const groups = inTotal ? 2 : Number((await session.one(sql, values)).n);
  return (groups * Number(last)) / 8 <= mostBitmaps ? Number(last) : null;
}

interface CountedRow {
  readonly p: number;
  readonly key: readonly Value[];
  readonly parts: readonly PartValue[];
  readonly groups: number;
}

async function* countedRows(session: Session, plan: AskedPlan, { sql, values: given }: Printed) {
  const keys = plan.groups.length;
  for await (const chunk of session.column(sql, given)) {
    for (const json of chunk) {
      const [p, ...values]: [number, ...PartValue[]] = JSON.parse(json);
      const row: CountedRow = {
        p,
        key: values.slice(0, keys),
        parts: values.slice(keys, -1),
        groups: values.at(-1) ?? 0,
      };
      yield row;
    }
  }
}

async function readTotals(session: Session, plan: AskedPlan): Promise<Counted['total']> {
  const none = plan.parts.map((): PartValue => 0);
  let now: readonly PartValue[] = none;
  let past: readonly PartValue[] | null = plan.compared === null ? null : none;
  for await (const { p, parts } of countedRows(session, { ...plan, groups: [] }, composeTotal(plan))) {
    if (p === 0) now = parts;
    else past = parts;
  }
  return { now, past };
}

async function readGroups(
  session: Session,
  stored: StoredPlan,
): Promise<Pick<Counted, 'groups' | 'groupCount'>> {
  if (stored.groups.length === 0) return { groups: [], groupCount: 1 };
  const plan = { ...stored, bitmap: await bitmapOf(session, stored) };
  const found: CountedGroup[] = [];
  const places = new Map<string, number>();
  let groupCount = 0;
  for await (const { p, key, parts, groups } of countedRows(session, plan, composeRows(plan))) {
    groupCount = groups;
    const own = { key, now: p === 0 ? parts : null, past: p === 1 ? parts : null };
    if (plan.compared === null) {
      found.push(own);
      continue;
    }
    const id = JSON.stringify(key);
    const at = places.get(id);
    const other = at === undefined ? undefined : found[at];
    if (at === undefined || other === undefined) places.set(id, found.push(own) - 1);
    else found[at] = { key, now: own.now ?? other.now, past: own.past ?? other.past };
  }
  return { groups: found, groupCount: Math.max(groupCount, found.length) };
}

/** Calls of the period and the conditions that are not counted because of their channel, or in no period. */
async function countLeftOut(
  session: Session,
  plan: StoredPlan,
): Promise<Pick<Counted, 'otherChannel' | 'noTime'>> {
  const countOf = async (where: Sql) => {
    const query = { columns: [as(fn.count(), 'n')], source: { from: 'records' }, where };
    const { sql, values } = printQuery(query);
    return Number((await session.one(sql, values)).n);
  };
  const isOpen = plan.period.from === null && plan.period.to === null;
  return {
    otherChannel: plan.calls === 'all' ? 0 : await countOf(selected(plan, { channel: 'other' })),
    noTime: isOpen ? 0 : await countOf(and(selected(plan, { period: null }), isNull(column('date_added')))),
  };
}

const mostValues = 20_000;

/** How often each value occurs of the text fields that the condition compares. */
async function valuesOf(session: Session, plan: StoredPlan): Promise<Counted['values']> {
  const found = new Map<string, ReadonlyMap<string, number>>();
  for (const name of comparedFields(plan)) {
    const v = column('v');
    const all: Query = {
      columns: [as(fieldSql(name, plan.time, plan.settings), 'v')],
      source: sourceOf([name]),
      where: selected({ ...plan, conditions: [], calls: 'all' }, { period: null }),
    };
    const statement = printQuery({
      columns: [as(cast(fn.jsonArray(cast(v, 'VARCHAR'), fn.count()), 'VARCHAR'), 'json')],
      source: { from: all, as: 'every' },
      where: isNotNull(v),
      groupBy: [v],
      sort: [
        { by: fn.count(), descending: true },
        { by: v, descending: false },
      ],
      limit: mostValues,
    });
    const values = new Map<string, number>();
    // A string of its own would lose a byte order mark.
    for await (const chunk of session.column(statement.sql, statement.values)) {
      for (const json of chunk) {
        const [value, count]: [string, number] = JSON.parse(json);
        values.set(value, count);
      }
    }
    found.set(name, values);
  }
  return found;
}

import {
  type AccountStatus,
  type Answer,
  type Counted,
  type CountedGroup,
  finishAnswer,
  mostValues,
  type PartValue,
  type Plan,
  planQuestion,
  type Question,
  unmetFields,
  type Value,
  type ValueCounts,
} from '@call-attribution/questions';
import type { Session } from '../file/session.ts';
import { fn } from '../sql/functions.ts';
import { type Printed, printQuery } from '../sql/print.ts';
import { and, as, cast, column, isNull, type Query, type Sql } from '../sql/tree.ts';
import { composeCalls, composeGroupCount, composeRows } from './compose.ts';
import { fieldSql, sourceOf } from './fields.ts';
import { checkAccounts, locate, type StoredPlan } from './select.ts';
import { selected } from './selected.ts';
import { accountStatuses } from './status.ts';
import { composeTogether } from './together.ts';

/** Answers a question over an open warehouse: DuckDB counts, and the answer is made of the counts as everywhere. */
export async function analyze(session: Session, question: Question): Promise<Answer> {
  const asked = planQuestion(question);
  const known = await accountStatuses(session);
  const plan = await readPlan(session, asked, known);
  const answerTo = await answersTo(session, [plan], known);
  return answerTo(plan);
}

/** Answers several questions. What they ask of the same calls is counted together. */
export async function analyzeAll(session: Session, questions: readonly Question[]): Promise<Answer[]> {
  const asked = questions.map((question) => planQuestion(question));
  const known = await accountStatuses(session);
  const plans: StoredPlan[] = [];
  const byCalls = new Map<string, SamePlans>();
  for (const each of asked) {
    const plan = await readPlan(session, each, known);
    plans.push(plan);
    addTo(byCalls, callsOf(plan), plan);
  }
  const answers = new Map<StoredPlan, Answer>();
  for (const same of byCalls.values()) {
    const answerTo = await answersTo(session, same, known);
    for (const plan of same) answers.set(plan, answerTo(plan));
  }
  return plans.flatMap((plan) => answers.get(plan) ?? []);
}

/** Questions about the same calls. */
type SamePlans = [StoredPlan, ...StoredPlan[]];

async function readPlan(session: Session, asked: Plan, known: readonly AccountStatus[]): Promise<StoredPlan> {
  checkAccounts(asked.accounts, known);
  return locate(asked, session);
}

/** What tells the calls of a question, and the values of their fields, from those of others. */
const callsOf = (plan: StoredPlan): string => JSON.stringify([composeCalls(plan), plan.settings]);

/** Counts for questions about the same calls. Returns what makes the answer to each of them. */
async function answersTo(
  session: Session,
  same: Readonly<SamePlans>,
  stored: readonly AccountStatus[],
): Promise<(plan: StoredPlan) => Answer> {
  const [one] = same;
  const accounts = stored.filter(({ account }) => one.accounts?.includes(account) ?? true);
  const parts = new Map(same.flatMap((plan) => plan.parts.map((part) => [JSON.stringify(part), part])));
  const places = new Map([...parts.keys()].map((part, at) => [part, at]));
  /** The calls as a whole, with what all questions count of them. */
  const whole: StoredPlan = { ...one, groups: [], parts: [...parts.values()] };
  const found = await countAll(session, whole, same, accounts.length);
  const [{ now = null, past = null } = {}] = found.get(whole)?.groups ?? [];
  const leftOut = await countLeftOut(session, one);
  const pick = (plan: StoredPlan, counts: readonly PartValue[] | null) =>
    plan.parts.map((part) =>
      counts === null ? 0 : (counts[places.get(JSON.stringify(part)) ?? -1] ?? null),
    );
  const known = new Map<string, ValueCounts>();
  for (const plan of same)
    for (const name of unmetFields(plan, pick(plan, now)))
      if (!known.has(name)) known.set(name, await valuesOf(session, one, name));
  return (plan) => {
    const total = { now: pick(plan, now), past: plan.compared === null ? null : pick(plan, past) };
    const { groups = [], groupCount = 1 } = plan.groups.length === 0 ? {} : (found.get(plan) ?? {});
    const values = new Map(unmetFields(plan, total.now).map((name) => [name, known.get(name) ?? new Map()]));
    return finishAnswer(plan, { ...leftOut, values, total, groups, groupCount, accounts });
  };
}

type Found = Pick<Counted, 'groups' | 'groupCount'>;

/**
 * Counts calls as a whole, and in the groups of each question. Questions that count the same share a scan: DuckDB counts everything that
 * one of them asks for in the groups of each. What compares, or counts callers in its own way, is counted alone.
 */
async function countAll(
  session: Session,
  whole: StoredPlan,
  same: Readonly<SamePlans>,
  accounts: number,
): Promise<ReadonlyMap<StoredPlan, Found>> {
  const found = new Map<StoredPlan, Found>();
  const together = new Map<string, SamePlans>();
  for (const plan of [whole, ...same.filter(({ groups }) => groups.length > 0)]) {
    if (plan.compared === null && !countsCallers(plan)) {
      addTo(together, JSON.stringify(plan.parts), plan);
      continue;
    }
    const bitmap = await bitmapOf(session, plan, plan === whole ? accounts : 0);
    const [rows = { groups: [] }] = await readRows(session, [plan], composeRows({ ...plan, bitmap }));
    found.set(plan, rows);
  }
  for (const plans of together.values()) {
    const rows = await readRows(session, plans, composeTogether(plans));
    for (const [i, plan] of plans.entries()) found.set(plan, rows[i] ?? { groups: [] });
  }
  return found;
}

function addTo(plans: Map<string, SamePlans>, key: string, plan: StoredPlan): void {
  const known = plans.get(key);
  if (known === undefined) plans.set(key, [plan]);
  else known.push(plan);
}

const countsCallers = ({ parts }: StoredPlan): boolean =>
  parts.some(({ kind }) => kind === 'callers' || kind === 'repeat_callers');

// Bytes that the bitmaps of all groups may take together.
const mostBitmaps = 64e6;

/**
 * The largest number of a caller, when a bitmap of all callers for each group is the cheapest way to count them. Callers with
 * several calls are found in bitmaps only in the totals of one account; `accounts`: how many the totals are about, 0 for groups.
 */
async function bitmapOf(session: Session, plan: StoredPlan, accounts: number): Promise<number | null> {
  const kinds = plan.parts.map(({ kind }) => kind);
  const needsRepeated = kinds.includes('repeat_callers');
  if (needsRepeated ? accounts !== 1 : !kinds.includes('callers')) return null;
  const { last } = await session.one('SELECT max(no) AS last FROM callers');
  if (last === null) return null;
  const { sql, values } = composeGroupCount(plan);
  const groups = plan.groups.length === 0 ? 2 : Number((await session.one(sql, values)).n);
  return (groups * Number(last)) / 8 <= mostBitmaps ? Number(last) : null;
}

/** Runs the statement of some questions. */
async function readRows(
  session: Session,
  plans: readonly StoredPlan[],
  { sql, values }: Printed,
): Promise<Found[]> {
  const all = plans.map((plan) => new FoundGroups(plan));
  for await (const chunk of session.column(sql, values)) {
    for (const json of chunk) {
      const [of, ...row]: [number, number, ...PartValue[]] = JSON.parse(json);
      all[of]?.add(row);
    }
  }
  return all.map((found) => found.result());
}

/** The groups of a question, with what was counted of each in both periods. */
class FoundGroups {
  readonly #keys: number;
  readonly #compares: boolean;
  readonly #found: CountedGroup[] = [];
  readonly #places = new Map<string, number>();
  #count = 0;

  constructor({ groups, compared }: StoredPlan) {
    this.#keys = groups.length;
    this.#compares = compared !== null;
  }

  add([p, ...values]: readonly [number, ...PartValue[]]): void {
    const key = values.slice(0, this.#keys);
    const parts = values.slice(this.#keys, -1);
    this.#count = Number(values.at(-1) ?? 0);
    const own = { key, now: p === 0 ? parts : null, past: p === 1 ? parts : null };
    if (!this.#compares) {
      this.#found.push(own);
      return;
    }
    const id = JSON.stringify(key);
    const at = this.#places.get(id);
    const other = at === undefined ? undefined : this.#found[at];
    if (at === undefined || other === undefined) this.#places.set(id, this.#found.push(own) - 1);
    else this.#found[at] = { key, now: own.now ?? other.now, past: own.past ?? other.past };
  }

  result(): Found {
    return { groups: this.#found, groupCount: Math.max(this.#count, this.#found.length) };
  }
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

/** How often each value of a field occurs in all calls of the accounts. */
async function valuesOf(session: Session, plan: StoredPlan, name: string): Promise<ValueCounts> {
  const v = column('v');
  const type = plan.fields.get(name)?.type;
  const own = fieldSql(name, plan.time, plan.settings);
  const isTime = ['time', 'day', 'week', 'month'].includes(type ?? '');
  const all: Query = {
    columns: [as(isTime ? fn.epochMs(cast(own, 'TIMESTAMP')) : own, 'v')],
    source: sourceOf([name]),
    where: selected({ ...plan, conditions: [], calls: 'all' }, { period: null }),
  };
  const statement = printQuery({
    columns: [
      as(cast(fn.jsonArray(type === 'text' ? cast(v, 'VARCHAR') : v, fn.count()), 'VARCHAR'), 'json'),
    ],
    source: { from: all, as: 'every' },
    groupBy: [v],
    sort: [
      { by: fn.count(), descending: true },
      { by: v, descending: false },
    ],
    limit: mostValues,
  });
  const values = new Map<Value, number>();
  // A string of its own would lose a byte order mark.
  for await (const chunk of session.column(statement.sql, statement.values)) {
    for (const json of chunk) {
      const [value, count]: [Value, number] = JSON.parse(json);
      values.set(value, count);
    }
  }
  return values;
}

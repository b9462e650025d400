import { formatNaive } from '@call-attribution/core/time';
import { WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';
import type { Answer, AnswerColumn, AnswerValue, LeftOut } from './answer.ts';
import { bucketStart, composeGroupCount, composeRows, composeTotal } from './compose.ts';
import { groupValue } from './groups.ts';
import { callsLeftOut, explainLeftOut, notesOf, spendLeftOut } from './left-out.ts';
import { measureSpecs } from './measures.ts';
import { comparedPeriod, shownTime } from './period.ts';
import { type Cell, cellsOf, columnNames, havingTerms, type Plan } from './plan.ts';
import type { Question } from './question.ts';
import { readCount, readGroups, readMeasures, readOrder, readWhere } from './resolve.ts';
import { type ReadSelection, readSelection } from './select.ts';
import { readSpend, spendTotal } from './spend.ts';
import { accountStatuses, asOf } from './status.ts';
import type { QuestionField } from './vocabulary.ts';
import { worthOf } from './worth.ts';

/** Answers a question over an open warehouse. */
export async function analyze(session: Session, question: Question): Promise<Answer> {
  const read = await readSelection(question, session);
  const plan = planOf(question, read);
  const statuses = await accountStatuses(session, plan.accounts);
  const forTotals = await bitmapOf(session, plan, { inTotal: true, accounts: statuses.length });
  const totals = await readTotals(session, { ...plan, bitmap: forTotals });
  const bitmap = await bitmapOf(session, plan);
  const { rows, groups, filled } = await readRows(session, { ...plan, bitmap }, totals.total, question);
  const { period, zones, warnings } = { ...read, period: plan.period };
  const answer = {
    columns: columnsOf(plan),
    rows,
    total: totals.total,
    calls: totals.calls,
    groups,
    period: {
      from: shownTime(period.from),
      to: shownTime(period.to),
      timeZone: zones.inZone ?? zones.timeZone,
    },
    compared: plan.compared && { from: formatNaive(plan.compared.from), to: formatNaive(plan.compared.to) },
    asOf: asOf(statuses),
    accounts: statuses,
  };
  const usesTime = plan.groups.some(({ isTime }) => isTime) || period.from !== null || period.to !== null;
  return {
    ...answer,
    leftOut: [
      ...(await callsLeftOut(session, plan)),
      ...totals.leftOut,
      ...(groups > rows.length ? [explainLeftOut('groups', groups - rows.length)] : []),
      ...(filled === -1 ? [explainLeftOut('empty_buckets', 0)] : []),
      ...(await spendLeftOut(session, plan)),
    ],
    notes: notesOf(
      answer,
      usesTime,
      statuses,
      warnings.map(({ message }) => `where: ${message}`),
    ),
  };
}

function planOf(question: Question, { plan, fields }: ReadSelection): Plan {
  const groups = readGroups(question.groupBy ?? [], fields);
  const measures = readMeasures(question.measures ?? ['calls'], fields);
  refusePersonal(groups, question);
  const isValued = measures.some(({ name }) => name === 'value');
  if (isValued && question.values === undefined) {
    throw new WarehouseError(
      'invalid_question',
      'The measure value needs `values`, the rule table that says what a call is worth.',
    );
  }
  const base = {
    ...plan,
    groups,
    measures,
    compared: question.compare === undefined ? null : comparedPeriod(question.compare, plan.period),
    worth: question.values === undefined ? null : worthOf(question.values, fields),
    spend: question.spend === undefined ? null : readSpend(question.spend, groups, bucketStart(plan.period)),
  };
  const cells = cellsOf(base);
  const columns = columnNames(groups, cells);
  for (const name of ['having', 'topPer'] as const) {
    if (question[name] !== undefined && groups.length === 0) {
      throw new WarehouseError(
        'invalid_question',
        `${name} needs groupBy: there is only one row without groups.`,
      );
    }
  }
  return {
    ...base,
    having:
      question.having === undefined
        ? null
        : readWhere(question.having, havingTerms(cells), 'having').condition,
    order: question.order === undefined ? usualOrder(groups, cells) : readOrder(question.order, columns),
    limit: readCount('limit', question.limit, 1, 1_000_000) ?? 1000,
    topPer: readCount('topPer', question.topPer, 1, 1_000_000),
    bitmap: null,
  };
}

/** Time in its order; otherwise most of the first measure first. */
function usualOrder([first]: readonly QuestionField[], cells: readonly Cell[]): Plan['order'] {
  if (first?.isTime) return [];
  return [{ column: cells[0]?.column.name ?? '', descending: true }];
}

function refusePersonal(groups: readonly QuestionField[], { personal }: Question): void {
  const field = groups.find((group) => group.personal);
  if (field === undefined || personal === 'show' || typeof personal === 'function') return;
  throw new WarehouseError(
    'personal_data',
    `${field.name} is personal data. To count callers use the measure callers; to see the values set \`personal\` to 'show' or to a function that masks them.`,
  );
}

function columnsOf(plan: Plan): AnswerColumn[] {
  const groups = plan.groups.map(
    ({ name, meaning, isTime }): AnswerColumn => ({
      name,
      kind: 'group',
      unit: isTime ? 'time' : 'value',
      meaning,
    }),
  );
  return [...groups, ...cellsOf(plan).map(({ column }) => column)];
}

// Bytes that the bitmaps of all groups may take together.
const mostBitmaps = 64e6;

/**
 * The largest number of a caller, when a bitmap of all callers for each group is the cheapest way to count them. Callers with
 * several calls are found in bitmaps only in the totals of one account.
 */
async function bitmapOf(
  session: Session,
  plan: Plan,
  { inTotal = false, accounts = 0 }: { inTotal?: boolean; accounts?: number } = {},
): Promise<number | null> {
  const names = plan.measures.map(({ name }) => name);
  const needsRepeated = names.includes('repeat_callers');
  if (needsRepeated ? !inTotal || accounts !== 1 : !names.includes('callers')) return null;
  const { last } = await session.one('SELECT max(no) AS last FROM callers');
  if (last === null) return null;
  const { sql, parameters } = composeGroupCount(plan);
  const groups = inTotal ? 2 : Number((await session.one(sql, parameters.values)).n);
  return (groups * Number(last)) / 8 <= mostBitmaps ? Number(last) : null;
}

interface Totals {
  readonly calls: number;
  readonly total: Record<string, AnswerValue>;
  readonly leftOut: LeftOut[];
}

async function readTotals(session: Session, plan: Plan): Promise<Totals> {
  const leaves = [
    ...new Set(
      plan.measures.flatMap(({ name }) => (name === 'distinct' ? [] : (measureSpecs[name].leaves ?? []))),
    ),
  ];
  const { sql, parameters } = composeTotal(plan, leaves);
  const byPeriod = new Map<number, AnswerValue[]>();
  for await (const chunk of session.column(sql, parameters.values)) {
    for (const row of chunk) {
      const [p, ...cells]: [number, ...AnswerValue[]] = JSON.parse(row);
      byPeriod.set(p, cells);
    }
  }
  const now = byPeriod.get(0) ?? [];
  const past = byPeriod.get(1) ?? [];
  const measured = (cells: AnswerValue[], i: number): AnswerValue => {
    const name = plan.measures[i]?.name ?? 'calls';
    const empty = name === 'distinct' ? 0 : measureSpecs[name].empty;
    return cells[i + 1] ?? empty;
  };
  const total: Record<string, AnswerValue> = {};
  plan.measures.forEach(({ column, name }, i) => {
    const value = measured(now, i);
    total[column] = value;
    if (plan.compared === null) return;
    const before = measured(past, i);
    total[`${column}_before`] = before;
    if (name === 'distinct' || measureSpecs[name].number !== 'time')
      total[`${column}_change`] = difference(value, before);
  });
  if (plan.spend !== null) {
    const spent = spendTotal(plan.spend);
    total.spend = exact(spent);
    total.cost_per_call = Number(now[0] ?? 0) === 0 ? null : exact(spent / Number(now[0]));
  }
  const counts = leaves.map((code, i) => [code, Number(now[1 + plan.measures.length + i] ?? 0)] as const);
  return {
    calls: Number(now[0] ?? 0),
    total,
    leftOut: counts.filter(([, count]) => count > 0).map(([code, count]) => explainLeftOut(code, count)),
  };
}

/** A number without the noise of binary fractions. */
const exact = (value: number): number => Number(value.toPrecision(12));

function difference(after: AnswerValue, before: AnswerValue): number | null {
  return typeof after === 'number' && typeof before === 'number' ? exact(after - before) : null;
}

async function readRows(
  session: Session,
  plan: Plan,
  total: Record<string, AnswerValue>,
  question: Question,
): Promise<{ rows: Record<string, AnswerValue>[]; groups: number; filled: number }> {
  if (plan.groups.length === 0) return { rows: [total], groups: 1, filled: 0 };
  const answer = await readGroupRows(session, plan, question);
  if (answer.rows.length > 0 || plan.having === null) return answer;
  // Without a row nothing says how many groups there are.
  const { groups, filled } = await readGroupRows(
    session,
    { ...plan, having: null, topPer: null, limit: 1 },
    question,
  );
  return { rows: [], groups, filled };
}

async function readGroupRows(
  session: Session,
  plan: Plan,
  { personal }: Question,
): Promise<{ rows: Record<string, AnswerValue>[]; groups: number; filled: number }> {
  const { sql, parameters } = composeRows(plan);
  const cells = cellsOf(plan);
  const start = bucketStart(plan.period);
  const rows: Record<string, AnswerValue>[] = [];
  let [groups, filled] = [0, 0];
  for await (const chunk of session.column(sql, parameters.values)) {
    for (const json of chunk) {
      const values: AnswerValue[] = JSON.parse(json);
      const row: Record<string, AnswerValue> = {};
      plan.groups.forEach((group, i) => {
        const value = groupValue(group, values[i], start);
        row[group.name] =
          group.personal && typeof personal === 'function' && value !== null
            ? personal(group.name, String(value))
            : value;
      });
      cells.forEach(({ column, number }, i) => {
        const value = values[plan.groups.length + i] ?? null;
        row[column.name] =
          column.kind === 'change' && number !== 'time' && typeof value === 'number' ? exact(value) : value;
      });
      [groups = 0, filled = 0] = values.slice(-2).map(Number);
      rows.push(row);
    }
  }
  return { rows, groups, filled };
}

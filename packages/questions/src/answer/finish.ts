import { formatNaive } from '@call-attribution/core/time';
import type { Value } from '../conditions/condition.ts';
import { compareValues } from '../conditions/fold.ts';
import { compileCondition } from '../conditions/holds.ts';
import type { AccountStatus, Answer, AnswerValue, LeftOut } from '../question/answer.ts';
import { alignmentOf, groupValue, isInside, unmoved } from '../question/buckets.ts';
import { growsWithTime, type PlannedMeasure } from '../question/columns.ts';
import type { PartValue } from '../question/measures.ts';
import { shownTime } from '../question/period.ts';
import type { ReadQuestion } from '../question/plan.ts';
import type { Counted, CountedGroup } from './counted.ts';
import { countedStretch, daysIn } from './days.ts';
import { fillEmptyBuckets } from './fill.ts';
import { explainLeftOut } from './left-out.ts';
import { notesOf } from './notes.ts';
import { type SpendFound, spendOf } from './spend-found.ts';

type Cells = Record<string, AnswerValue>;

interface Row {
  readonly key: readonly Value[];
  readonly cells: Cells;
  /** Its calls in the period. */
  readonly calls: number;
}

/** Makes the answer of what an engine counted. */
export function finishAnswer(plan: ReadQuestion, counted: Counted): Answer {
  const { total } = counted;
  const filled = fillEmptyBuckets(plan, counted);
  const spend = plan.spend === null ? null : spendOf(plan, filled.groups);
  const totals = totalsOf(plan, counted, spend);
  const all =
    plan.groups.length === 0
      ? [{ key: [], cells: totals, calls: total.now[0] ?? 0 }]
      : rowsOf(plan, counted, filled.groups, spend);
  const met = meetHaving(plan, all);
  const sorted = sortRows(plan, met);
  const top = topOfEach(plan, sorted);
  const rows = top.slice(0, plan.limit);
  const hidden = top.length - rows.length;
  const calls = total.now[0] ?? 0;
  const { period, zones, compared } = plan;
  const answer = {
    columns: plan.columns,
    rows: rows.map((row) => shownRow(plan, row)),
    total: totals,
    calls,
    groups: all.length,
    extensions: {
      counted: total.now[1] ?? 0,
      leftOut: plan.calls === 'website' ? counted.otherChannel : 0,
    },
    period: {
      from: shownTime(period.from),
      to: shownTime(period.to),
      timeZone: zones.inZone ?? zones.timeZone,
    },
    compared: compared && { from: formatNaive(compared.from), to: formatNaive(compared.to) },
    asOf: asOf(counted.accounts),
    accounts: counted.accounts,
  };
  const leftOut = [
    ...callsLeftOut(plan, counted),
    ...measuresLeaveOut(plan, total.now),
    ...(all.length > met.length ? [explainLeftOut('having', all.length - met.length)] : []),
    ...(met.length > top.length
      ? [explainLeftOut('top_per', met.length - top.length, plan.groups[0]?.name)]
      : []),
    ...(hidden > 0 ? [explainLeftOut('limit', hidden)] : []),
    ...(filled.isTooMany ? [explainLeftOut('empty_buckets', 0)] : []),
    ...(spend?.leftOut ?? []),
  ];
  return { ...answer, leftOut, notes: notesOf(plan, answer, { ...counted, groups: filled.groups }, rows) };
}

/** A number without the noise of binary fractions. */
const exact = (value: number): number => Number(value.toPrecision(12));

function difference(after: AnswerValue, before: AnswerValue): number | null {
  return typeof after === 'number' && typeof before === 'number' ? exact(after - before) : null;
}

const pick = (values: readonly PartValue[], { parts }: PlannedMeasure): PartValue[] =>
  parts.map((part) => values[part] ?? null);

type Days = (key: readonly Value[]) => number | null;

/** The days of groups, in the period and in the one that it is compared with. */
interface GroupDays {
  readonly now: Days;
  readonly past: Days;
}

function daysOf(plan: ReadQuestion, { total }: Counted): GroupDays {
  const { groups, period, compared, settings } = plan;
  const now = daysIn(plan, countedStretch(plan, period, total.now));
  if (compared === null) return { now, past: () => null };
  const moved = alignmentOf(groups, period, compared, settings);
  return { now, past: daysIn(plan, countedStretch(plan, compared, []), moved) };
}

/** The measured cells of a group. A period that does not have the group gives null, one that has no calls of it what is empty. */
function measuredCells(
  plan: ReadQuestion,
  { total }: Counted,
  { key, now, past }: CountedGroup,
  inside: { readonly now: boolean; readonly past: boolean },
  daysOfGroups: GroupDays,
): Cells {
  const cells: Cells = {};
  const days = { now: daysOfGroups.now(key), past: daysOfGroups.past(key) };
  const cell = (measure: PlannedMeasure, of: 'now' | 'past'): AnswerValue => {
    const own = of === 'now' ? now : past;
    if (own === null) return inside[of] ? measure.empty : null;
    return measure.value(pick(own, measure), pick(total[of] ?? [], measure), days[of], measure.scale);
  };
  for (const measure of plan.measures) {
    const { column } = measure;
    const value = cell(measure, 'now');
    cells[column] = value;
    if (plan.compared === null) continue;
    const before = cell(measure, 'past');
    cells[`${column}_before`] = before;
    if (measure.number === 'time') continue;
    cells[`${column}_change`] =
      plan.changesPerDay && growsWithTime(measure)
        ? difference(perDay(value, days.now), perDay(before, days.past))
        : difference(value, before);
  }
  return cells;
}

const perDay = (value: AnswerValue, days: number | null): number | null =>
  typeof value !== 'number' || days === null || days === 0 ? null : value / days;

const orNull = (values: readonly PartValue[] | null): readonly PartValue[] | null =>
  values === null || values[0] === 0 ? null : values;

function totalsOf(plan: ReadQuestion, counted: Counted, spend: SpendFound | null): Cells {
  const { now, past } = counted.total;
  const both = { now: true, past: true };
  const days = daysOf({ ...plan, groups: [] }, counted);
  const cells = measuredCells(plan, counted, { key: [], now: orNull(now), past: orNull(past) }, both, days);
  if (spend === null) return cells;
  const { amount, calls } = spend.total;
  return { ...cells, spend: exact(amount), cost_per_call: calls === 0 ? null : exact(amount / calls) };
}

function rowsOf(
  plan: ReadQuestion,
  counted: Counted,
  groups: readonly CountedGroup[],
  spend: SpendFound | null,
): Row[] {
  const { compared, period, settings } = plan;
  const moved = compared === null ? unmoved : alignmentOf(plan.groups, period, compared, settings);
  const days = daysOf(plan, counted);
  return groups.map((group) => {
    const { key } = group;
    const calls = group.now?.[0] ?? 0;
    const inside = {
      now: compared === null || isInside(plan.groups, key, period, unmoved, settings),
      past: compared !== null && isInside(plan.groups, key, compared, moved, settings),
    };
    const cells = measuredCells(plan, counted, group, inside, days);
    if (spend !== null) {
      const amount = spend.of(key[0] ?? null);
      cells.spend = amount;
      cells.cost_per_call = amount === null || calls === 0 ? null : amount / calls;
    }
    return { key, cells, calls };
  });
}

function meetHaving({ having }: ReadQuestion, rows: readonly Row[]): readonly Row[] {
  if (having === null) return rows;
  const judge = compileCondition(having.condition, having.terms, (field) => {
    const name = having.terms.get(field)?.name ?? field;
    return ({ cells }: Row) => cells[name] ?? null;
  });
  return rows.filter((row) => judge(row) === true);
}

/** Rows in the order of the question. What has no value comes last either way; ties are in the order of their groups. */
function sortRows({ order, groups }: ReadQuestion, rows: readonly Row[]): readonly Row[] {
  const readers = [
    ...order.map(({ column, descending }) => {
      const at = groups.findIndex(({ name }) => name === column);
      return {
        descending,
        read: ({ key, cells }: Row): Value => (at >= 0 ? (key[at] ?? null) : (cells[column] ?? null)),
      };
    }),
    ...groups.map((_, at) => ({ descending: false, read: ({ key }: Row): Value => key[at] ?? null })),
  ];
  return [...rows].sort((a, b) => {
    for (const { read, descending } of readers) {
      const found = compareValues(read(a), read(b), descending);
      if (found !== 0) return found;
    }
    return 0;
  });
}

function topOfEach({ topPer }: ReadQuestion, rows: readonly Row[]): readonly Row[] {
  if (topPer === null) return rows;
  const seen = new Map<Value, number>();
  return rows.filter(({ key: [first = null] }) => {
    const before = seen.get(first) ?? 0;
    seen.set(first, before + 1);
    return before < topPer;
  });
}

function shownRow({ groups, settings, personal }: ReadQuestion, { key, cells }: Row): Cells {
  const row: Cells = {};
  groups.forEach((group, i) => {
    const value = groupValue(group, key[i] ?? null, settings);
    row[group.name] =
      group.personal && typeof personal === 'function' && value !== null
        ? personal(group.name, String(value))
        : value;
  });
  return groups.length === 0 ? cells : Object.assign(row, cells);
}

/** Since when calls may be missing: the oldest last sync. Accounts that were never synced count from when they were stored. */
function asOf(statuses: readonly AccountStatus[]): string | null {
  const times = statuses.flatMap(({ syncedAt, storedAt }) => syncedAt ?? storedAt ?? []);
  return times.sort()[0] ?? null;
}

function callsLeftOut({ calls, period }: ReadQuestion, { otherChannel, noTime }: Counted): LeftOut[] {
  const hasPeriod = period.from !== null || period.to !== null;
  const leftOut: LeftOut[] = [];
  if (calls !== 'all' && otherChannel > 0)
    leftOut.push(explainLeftOut(calls === 'website' ? 'extensions' : 'website', otherChannel));
  if (hasPeriod && noTime > 0) leftOut.push(explainLeftOut('no_time', noTime));
  return leftOut;
}

function measuresLeaveOut({ measures }: ReadQuestion, now: readonly PartValue[]): LeftOut[] {
  const found = new Map<LeftOut['code'], number>();
  for (const { leaves, counted } of measures)
    if (leaves !== undefined && counted !== null) found.set(leaves.code, (now[0] ?? 0) - (now[counted] ?? 0));
  return [...found].flatMap(([code, count]) => (count > 0 ? [explainLeftOut(code, count)] : []));
}

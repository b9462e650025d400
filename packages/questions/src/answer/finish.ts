import { formatNaive, type Period } from '@call-attribution/core/time';
import { compareValues, fold, type Value } from '../conditions/condition.ts';
import { compileCondition } from '../conditions/holds.ts';
import { amountText } from '../fields/batch.ts';
import { dayNumber, isBucket, startOfDay } from '../fields/calendar.ts';
import type { Answer, AnswerValue, LeftOut, Note } from '../question/answer.ts';
import { alignmentOf, groupValue, partIn, unmoved } from '../question/buckets.ts';
import type { PartValue } from '../question/measures.ts';
import { shownTime } from '../question/period.ts';
import { growsWithTime, hasBefore, type ReadPlan } from '../question/plan.ts';
import type { PlannedMeasure } from '../question/resolve.ts';
import type { Counted, CountedGroup } from './counted.ts';
import { dataEnds, knownDays, largePart } from './data-ends.ts';
import { countedStretch, daysIn, fillEmptyBuckets } from './days.ts';
import { explainLeftOut, shownValue } from './left-out.ts';
import { notesOf } from './notes.ts';
import { outcomesLeftOut, shownOutcome } from './outcomes-found.ts';
import { findSpend, type SpendFound } from './spend-found.ts';

type Cells = Record<string, AnswerValue>;

interface Row {
  readonly key: readonly Value[];
  readonly cells: Cells;
}

/** Makes the answer of what an engine counted. */
export function finishAnswer(plan: ReadPlan, counted: Counted): Answer {
  const { total } = counted;
  const { period, zones, compared } = plan;
  const spend = plan.spend === null ? null : findSpend(plan, plan.spend, counted);
  const groups = withExpected(plan, spend?.groups ?? counted.groups);
  const filled = fillEmptyBuckets(plan, { ...counted, groups });
  const ends = dataEnds(plan, counted);
  const isPastKnown = compared !== null && isKnown(compared, ends.first);
  const totals = totalsOf(plan, counted, spend, isPastKnown);

  // What is a part of an unknown whole is unknown.
  const past = isPastKnown ? total.past : null;
  const whole = { ...counted, total: { ...total, past } };
  const all =
    plan.groups.length === 0
      ? [{ key: [], cells: totals }]
      : rowsOf(plan, whole, filled.groups, ends.first);
  const met = meetHaving(plan, all);
  const top = topOfEach(plan, sortRows(plan, met));
  const calls = total.now[0] ?? 0;
  const answer = {
    columns: plan.columns,
    rows: top.slice(0, plan.limit).map((row) => shownRow(plan, row)),
    total: shownCells(plan, totals),
    calls,
    groups: met.length,
    extensions: {
      counted: counted.extensions,
      leftOut: plan.calls === 'website' ? counted.otherChannel : 0,
    },
    period: {
      from: shownTime(period.from),
      to: shownTime(period.to),
      timeZone: zones.inZone ?? zones.timeZone,
    },
    compared: compared && { from: formatNaive(compared.from), to: formatNaive(compared.to) },
    // Calls may be missing since the oldest last sync. Accounts that were never synced count from
    // when they were stored.
    asOf:
      counted.accounts.flatMap(({ syncedAt, storedAt }) => syncedAt ?? storedAt ?? []).sort()[0] ??
      null,
    accounts: counted.accounts,
  };
  const known = knownDays(ends);
  const leftOut: LeftOut[] = [];

  const leave = (code: LeftOut['code'], count: number, detail = ''): void => {
    if (count > 0) leftOut.push(explainLeftOut(code, count, detail));
  };

  leave('excluded', counted.excluded, plan.exclude?.name);
  if (plan.calls !== 'all')
    leave(plan.calls === 'website' ? 'extensions' : 'website', counted.otherChannel);
  if (period.from !== null || period.to !== null) leave('no_time', counted.noTime);
  const leaving = new Map<LeftOut['code'], number>();
  for (const { leaves, counted: at } of plan.measures)
    if (leaves) leaving.set(leaves.code, at ?? 0);
  for (const [code, at] of leaving) leave(code, calls - (total.now[at] ?? 0));
  leave('having', all.length - met.length);
  leave('top_per', met.length - top.length, plan.groups[0]?.name);
  leave('limit', top.length - plan.limit);
  if (filled.isTooMany) leftOut.push(explainLeftOut('empty_buckets', 0));
  const { rows = 0, amount = 0 } = plan.spend?.outside ?? {};
  leave('spend_outside', rows, `, ${amountText(amount)} in all,`);
  leftOut.push(...outcomesLeftOut(plan, counted));
  return {
    ...answer,
    known: { from: shownTime(known.from), to: shownTime(known.to) },
    leftOut,
    outcomes: counted.matches.map(shownOutcome),
    notes: [
      ...spendNotes(plan, spend),
      ...notesOf(plan, answer, { ...counted, groups: filled.groups }, ends),
    ],
  };
}

/** The groups, and those that are expected and have no call. */
function withExpected(
  { expect }: ReadPlan,
  groups: readonly CountedGroup[],
): readonly CountedGroup[] {
  const known = new Set(groups.map(({ key: [value = null] }) => fold(shownValue(value))));
  const added: CountedGroup[] = [];
  for (const name of expect) {
    const folded = fold(name);
    if (known.has(folded)) continue;
    known.add(folded);
    added.push({ key: [folded === fold(shownValue(null)) ? null : name], now: null, past: null });
  }

  return added.length === 0 ? groups : [...groups, ...added];
}

/** What a reader should know of spend. */
function spendNotes({ spend }: ReadPlan, found: SpendFound | null): Note[] {
  const said = (spend?.said ?? []).map((message) => ({ code: 'spend', message }) as const);
  if (found === null || found.unknown === '') return said;
  return [...said, { code: 'spend_without_calls', message: found.unknown }];
}

/** A number without the noise of binary fractions. */
const exact = (value: number): number => Number(value.toPrecision(12));

/** What is different in the two periods that are compared. */
interface Sides<T> {
  readonly now: T;
  readonly past: T;
}

/** How many days a group has in each period. */
function daysOf(
  plan: ReadPlan,
  { total }: Counted,
): Sides<(key: readonly Value[]) => number | null> {
  const { groups, period, compared } = plan;
  const now = daysIn(plan, countedStretch(plan, period, total.now));
  if (compared === null) return { now, past: () => null };
  const moved = alignmentOf(groups, period, compared);
  return { now, past: daysIn(plan, countedStretch(plan, compared, []), moved) };
}

/**
 * The measured cells of a group. A period that does not have the group gives null, one that has no
 * calls of it what is empty.
 */
function measuredCells(
  plan: ReadPlan,
  { total }: Counted,
  group: CountedGroup,
  inside: Sides<boolean>,
  own: ReturnType<typeof daysOf>,
): Cells {
  const cells: Cells = {};
  const days = { now: () => own.now(group.key), past: () => own.past(group.key) };

  const cell = (measure: PlannedMeasure, of: 'now' | 'past'): AnswerValue => {
    const own = group[of];
    if (!inside[of]) return null;
    if (own === null) return measure.empty;
    const pick = (values: readonly PartValue[]) =>
      measure.parts.map((part) => values[part] ?? null);
    return measure.value(pick(own), pick(total[of] ?? []), days[of], measure.scale);
  };

  for (const measure of [...plan.measures, ...plan.unnamed]) {
    const { column } = measure;
    const value = cell(measure, 'now');
    cells[column] = value;
    if (!hasBefore(plan, measure)) continue;
    const before = cell(measure, 'past');
    cells[`${column}_before`] = before;
    if (measure.unit === 'time') continue;
    const change = differenceOf(value, before);
    cells[`${column}_change`] = change;
    if (!growsWithTime(measure)) continue;
    const isOfSome = change !== null && typeof before === 'number' && before !== 0;
    cells[`${column}_change_percent`] = isOfSome ? exact((change / before) * 100) : null;
    if (!plan.changesPerDay) continue;
    cells[`${column}_change_per_day`] = differenceOf(
      perDay(value, days.now()),
      perDay(before, days.past()),
    );
  }

  return cells;
}

const differenceOf = (value: AnswerValue, before: AnswerValue): number | null =>
  typeof value === 'number' && typeof before === 'number' ? exact(value - before) : null;

const perDay = (value: AnswerValue, days: number | null): number | null =>
  typeof value !== 'number' || days === null || days === 0 ? null : value / days;

/** Is enough known of a part of the period compared with? Of the time before the first call nothing is. */
function isKnown({ from, to }: Period, first: number | null): boolean {
  if (first === null || from === null || to === null) return true;
  return first - from <= (to - from) * largePart;
}

function totalsOf(
  plan: ReadPlan,
  counted: Counted,
  spend: SpendFound | null,
  hasPast: boolean,
): Cells {
  const orNull = (values: readonly PartValue[] | null) => (values?.[0] ? values : null);
  const group = { now: orNull(counted.total.now), past: orNull(counted.total.past) };
  const days = daysOf({ ...plan, groups: [] }, counted);

  const cellsOf = (isOfSpend: boolean, own: Pick<CountedGroup, 'now' | 'past'>): Cells => {
    const measures = plan.measures.filter((measure) => measure.isOfSpend === isOfSpend);
    const unnamed = plan.unnamed.filter((measure) => measure.isOfSpend === isOfSpend);
    const part = { ...plan, measures, unnamed };
    return measuredCells(part, counted, { ...own, key: [] }, { now: true, past: hasPast }, days);
  };

  return { ...cellsOf(false, group), ...(spend === null ? {} : cellsOf(true, spend.total)) };
}

function rowsOf(
  plan: ReadPlan,
  counted: Counted,
  groups: readonly CountedGroup[],
  first: number | null,
): Row[] {
  const { compared, period } = plan;
  const moved = alignmentOf(plan.groups, period, compared);
  const days = daysOf(plan, counted);

  // The day of the first call is known.
  const byTime = plan.groups.some(({ name }) => isBucket(name));
  const known = byTime && first !== null ? startOfDay(dayNumber(first)) : first;
  return groups.map((group) => {
    const { key } = group;
    const past = compared && partIn(plan.groups, key, compared, moved);
    const inside = {
      now: compared === null || partIn(plan.groups, key, period, unmoved) !== null,
      past: past !== null && isKnown(past, known),
    };
    return { key, cells: measuredCells(plan, counted, group, inside, days) };
  });
}

function meetHaving({ having }: ReadPlan, rows: readonly Row[]): readonly Row[] {
  if (having === null) return rows;
  const judge = compileCondition<Row>(
    having.condition,
    having.terms,
    (column) =>
      ({ cells }) =>
        cells[column] ?? null,
  );
  return rows.filter((row) => judge(row) === true);
}

/**
 * Rows in the order of the question. What has no value comes last either way; ties are in the order
 * of their groups.
 */
function sortRows({ order, groups }: ReadPlan, rows: readonly Row[]): readonly Row[] {
  const sorts = [...order, ...groups.map(({ name }) => ({ column: name, descending: false }))].map(
    ({ column, descending }) => {
      const at = groups.findIndex(({ name }) => name === column);
      const read = ({ key, cells }: Row): Value => (at >= 0 ? key[at] : cells[column]) ?? null;
      return { read, descending };
    },
  );
  return [...rows].sort((a, b) => {
    for (const { read, descending } of sorts) {
      const found = compareValues(read(a), read(b), descending);
      if (found !== 0) return found;
    }
    return 0;
  });
}

function topOfEach({ topPer }: ReadPlan, rows: readonly Row[]): readonly Row[] {
  const seen = new Map<Value, number>();
  return rows.filter(({ key: [first = null] }) => {
    const before = seen.get(first) ?? 0;
    seen.set(first, before + 1);
    return before < topPer;
  });
}

function shownRow(plan: ReadPlan, { key, cells }: Row): Cells {
  const shown = plan.groups.map((group, i) => [group.name, groupValue(group, key[i] ?? null)]);
  return { ...Object.fromEntries(shown), ...shownCells(plan, cells) };
}

/** The cells of the columns: measures that rows are only chosen by have none. */
function shownCells({ columns, unnamed }: ReadPlan, cells: Cells): Cells {
  if (unnamed.length === 0) return cells;
  const names = new Set(columns.map(({ name }) => name));
  return Object.fromEntries(Object.entries(cells).filter(([name]) => names.has(name)));
}

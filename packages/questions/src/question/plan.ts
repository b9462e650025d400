import { checkList } from '@call-attribution/core/options';
import {
  type ClosedPeriod,
  day,
  everything,
  naiveAt,
  type Period,
  periodOf,
  subtract,
} from '@call-attribution/core/time';
import { parse } from '@call-attribution/query-dsl';
import type { Condition, Vocabulary } from '../conditions/condition.ts';
import { selectedBy } from '../conditions/filter.ts';
import { namesIn } from '../conditions/parse.ts';
import { type LeavesWithoutValue, leavesWithoutValue } from '../conditions/without-value.ts';
import { option, refuse } from '../errors.ts';
import type { QuestionField, ReadField } from '../fields/derived.ts';
import { allFields } from '../fields/vocabulary.ts';
import { oneCurrency } from '../outcomes/read-outcomes.ts';
import type { AnswerColumn, Note } from './answer.ts';
import { termsOf, unnamedMeasures, withBases } from './base.ts';
import { readComparison } from './comparison.ts';
import { allCalls, ends, type Part } from './measures.ts';
import { type Need, needsOf, otherCallsOf } from './needs.ts';
import type { Zones } from './period.ts';
import { machineZone, periodNotes, readPeriod, readZones } from './period.ts';
import { type CallSelection, checkQuestion, type Question } from './question.ts';
import type { Order, PlannedMeasure } from './resolve.ts';
import { readField, readMeasure, readOrder, readWhere, wordsWith } from './resolve.ts';
import { isDaily, narrowing, noCostPerCall, type PlannedSpend, planSpend } from './spend.ts';
import { refuseOnlyOfV3 } from './versions.ts';

/**
 * A question, or a list of calls, in which all names and times have been read. What a command, a
 * tool or a page asks is read once, by `planQuestion` or `planCalls`, and from then on only its
 * plan travels.
 */
export interface Plan {
  /**
   * The period. Of one that is compared with another it is the part that is known, and the other
   * the same part.
   */
  readonly period: Period;
  /** The period to compare with. */
  readonly compared: ClosedPeriod | null;
  /** The time zones. */
  readonly zones: Zones;
  /**
   * What the clock shows in the zone of the answer; where nobody has said which that is, in the one
   * of this machine.
   */
  readonly now: number;
  /**
   * The fields of which its condition leaves out calls without a value, by a negation such as `state
   * <> 'TX'`.
   */
  readonly negated: readonly string[];
  /** Which channel of calls. */
  readonly calls: NonNullable<CallSelection['calls']>;
  /** The filter of the API, as it was written. */
  readonly q: string | undefined;
  /** The fields that groups are made by; of a list, those that it is ordered by. */
  readonly groups: readonly QuestionField[];
  /** The conditions of its measures. */
  readonly measured: readonly Condition[];
  /** The columns of the answer, in order; a list has none. */
  readonly columns: readonly AnswerColumn[];
  /** Most rows. */
  readonly limit: number;
  /** Which other calls of a caller it depends on. */
  readonly otherCalls: 'none' | 'earlier' | 'all';
  /** The calls that have to be read for it, in the order of time. */
  readonly needs: readonly Need[];
}

/** A plan with all that the engine works on. */
export interface ReadPlan extends Plan {
  readonly groups: readonly ReadField[];
  /** What has to be said about the period. */
  readonly periodNotes: readonly Note[];
  /** All must hold. */
  readonly conditions: readonly Condition[];
  /** The calls without a value that they leave out by a negation. */
  readonly lenient: LeavesWithoutValue | null;
  /** Fields in minutes that they compare under a name that does not say so, such as `duration`. */
  readonly minutes: readonly string[];
  /** Calls of which this is true are left out and counted; null where there is nothing. */
  readonly exclude: { readonly name: string; readonly condition: Condition } | null;
  /**
   * When calls were made by the clock of their records: a filter of the API is about the times as
   * they were sent, whatever zone the answer is in.
   */
  readonly sent: Period;
  /** The measures, in order; a list has none. */
  readonly measures: readonly PlannedMeasure[];
  /** Measures that rows are only chosen or ordered by: they have no column. */
  readonly unnamed: readonly PlannedMeasure[];
  /** What has to be counted, each once. The number of calls is the first. */
  readonly parts: readonly Part[];
  /** Values of the only group that have a row whether they have calls or not. */
  readonly expect: readonly string[];
  /** The condition on measures. */
  readonly having: { readonly condition: Condition; readonly terms: Vocabulary } | null;
  /** How rows are ordered. */
  readonly order: readonly Order[];
  /** Most rows of each first group. */
  readonly topPer: number;
  /** Measures that add up have a change per day: the periods are months, or differ in length. */
  readonly changesPerDay: boolean;
  /**
   * Stretches of time beside the periods whose calls show what a day usually has. Where they are at
   * hand they are read too, and nothing but `few_calls` depends on them.
   */
  readonly beside: readonly Period[];
  /** The question, as it was asked at a moment; null for a list. */
  readonly asked: { readonly question: Question; readonly options: ReadOptions } | null;
  /** What was spent; null where nobody said. */
  readonly spend: PlannedSpend | null;
  /** What its calls became; null where it measures nothing of that. */
  readonly outcomes: NonNullable<Question['outcomes']> | null;
  /** Whether personal fields are shown. */
  readonly personal: Question['personal'];
}

/** The whole of a plan. A question that was never read is refused. */
export function readPlan(plan: Plan): ReadPlan {
  if ('parts' in plan && 'needs' in plan) return plan as ReadPlan;
  throw refuse`This is no plan: make one with planQuestion(question), or with planCalls(selection) for a list.`;
}

/** What a question is read with. */
export interface ReadOptions {
  /** The instant that words such as `yesterday` are about, in milliseconds. Default: now. */
  readonly now?: number | undefined;
  /**
   * The version of the API that the calls are of: fields that only v3 has are refused in a question
   * about calls of v2. Default: v3.
   */
  readonly version?: 'v2' | 'v3' | undefined;
}

/**
 * The same plan over copies that have no calls after an instant: what is compared is compared up to
 * there, so that a copy of this morning shows no fall at noon.
 */
export function planUpTo(plan: Plan, asOf: number): Plan {
  const { asked } = readPlan(plan);
  if (asked === null || plan.compared === null) return plan;
  return planQuestion(asked.question, asked.options, asOf);
}

/** The fields in minutes that a condition compares under a name that does not say so. */
function minutesIn(text: string, words: Vocabulary): readonly string[] {
  const named = namesIn(text).filter((name) => !name.includes('minute'));
  const terms = named.flatMap((name) => words.get(name)?.name ?? []);
  return [...new Set(terms.filter((name) => name.endsWith('_minutes')))];
}

/** Reads which calls are meant. */
function readSelection(selection: CallSelection, now: number) {
  const zones = readZones(selection);
  const clock = { now, timeZone: zones.inZone ?? zones.timeZone };
  const said = readPeriod(selection, clock);
  const filter =
    selection.q === undefined ? null : selectedBy(parse(selection.q, { version: 'v3' }));
  const words = wordsWith(selection.definitions);
  const where = selection.where === undefined ? null : readWhere(selection.where, words, 'where');
  const lenient = where && leavesWithoutValue(where);
  const conditions = [where, filter?.condition ?? null].filter((each) => each !== null);
  const exclude =
    selection.exclude === undefined
      ? null
      : {
          name: selection.exclude.trim(),
          condition: readWhere(selection.exclude, words, 'exclude'),
        };
  return {
    zones,
    clock,
    said,
    period: { from: said.from, to: said.to, undated: said.undated },
    periodNotes: periodNotes(said, clock),
    now: naiveAt(now, clock.timeZone ?? machineZone()),
    calls: selection.calls ?? (filter && !filter.extensions ? 'website' : 'all'),
    q: selection.q,
    minutes: selection.where === undefined ? [] : minutesIn(selection.where, words),
    lenient,
    negated: lenient?.fields ?? [],
    conditions,
    exclude,
    words,
    tested: exclude === null ? conditions : [...conditions, exclude.condition],
    sent: filter?.period ?? everything,
  };
}

/** Reads a list of calls, and refuses what cannot be read. `order`: such as `talk_minutes desc`. */
export function planCalls(
  selection: CallSelection,
  {
    now = Date.now(),
    version,
    order = 'date_added',
  }: ReadOptions & { readonly order?: string | undefined } = {},
): Plan {
  const { clock: _, words: __, said: ___, tested, ...selected } = readSelection(selection, now);
  const names = [...allFields.values()].map(({ name }) => name);
  const sorts = readOrder(order, [...new Set(names)], 'a call');
  const named = {
    groups: sorts.flatMap(({ column }) => allFields.get(column) ?? []),
    conditions: tested,
    parts: [],
  };
  if (version === 'v2') refuseOnlyOfV3(named);
  const plan: ReadPlan = {
    ...selected,
    groups: named.groups,
    parts: named.parts,
    compared: null,
    measures: [],
    unnamed: [],
    measured: [],
    columns: [],
    expect: [],
    having: null,
    order: sorts,
    limit: mostRows,
    topPer: mostRows,
    changesPerDay: false,
    asked: null,
    beside: [],
    spend: null,
    outcomes: null,
    personal: 'show',
    otherCalls: otherCallsOf(named),
    needs: needsOf(named, [selected.period], selected.zones),
  };
  return plan;
}

/** The groups of a question. */
function readGroups(question: Question): ReadField[] {
  const { groupBy = [], personal, definitions = {}, order, topPer } = question;
  checkList('groupBy', groupBy);
  if (topPer !== undefined && groupBy.length < 2)
    throw refuse`${option('topPer')} goes with two groups or more: it limits the rows of each value of the first. ${option('limit')} limits all rows.`;
  if (order !== undefined && groupBy.length === 0)
    throw refuse`${option('order')} sorts groups, and there are none: name one with ${option('groupBy')}.`;
  if (groupBy.length > 4)
    throw refuse`${option('groupBy')} names ${groupBy.length} groups: 4 at most. Ask twice, or use ${option('where')}.`;
  const defined = groupBy.find((name) => Object.hasOwn(definitions, name));
  if (defined !== undefined)
    throw refuse`${defined} is a definition, which is true of a call or is not: measure count(${defined}).`;
  const groups = groupBy.map((name) => readField(name, 'group by'));
  const hidden = personal !== 'show' ? groups.find((group) => group.personal) : undefined;
  if (hidden !== undefined)
    throw refuse`${hidden.name} is personal data. To count callers use the measure callers; to see the values set ${option('personal')} to 'show'.`;
  return groups;
}

/** What is measured, as it was asked for. */
function readNames({ measures = ['calls'] }: Question): readonly string[] {
  checkList('measures', measures);
  if (measures.length === 0)
    throw refuse`${option('measures')} is empty: name at least one, such as calls.`;
  return measures;
}

/** The order where none is asked for: along time, or the largest first. */
const usualOrder = (groups: readonly ReadField[], columns: readonly AnswerColumn[]): Order[] =>
  groups[0]?.isTime
    ? []
    : columns
        .filter(({ kind }) => kind === 'measure')
        .slice(0, 1)
        .map(({ name }) => ({ column: name, descending: true }));

/**
 * Reads a question, and refuses what cannot be read. `asOf`: the instant up to which calls are
 * known, where that is not now.
 */
export function planQuestion(
  question: Question,
  { now = Date.now(), version }: ReadOptions = {},
  asOf = now,
): Plan {
  checkQuestion(question);
  const { clock, words, tested, said, ...selection } = readSelection(question, now);
  const { zones } = selection;
  const { personal, outcomes = null } = question;
  const groups = readGroups(question);
  const named = readNames(question);
  const parts: Part[] = [];

  const placeOf = (part: Part): number => {
    const id = ({ id, result }: Part) => `${id} ${JSON.stringify(result)}`;
    const at = parts.findIndex((each) => id(each) === id(part));
    return at >= 0 ? at : parts.push(part) - 1;
  };

  placeOf(allCalls);
  const byWeek = groups.some(({ name }) => name === 'week');
  const byDay = isDaily(question.spend);
  const comparison =
    question.compare === undefined
      ? null
      : readComparison(question.compare, said, clock, { asOf, byWeek, byDay });
  const { period, compared, note } = comparison ?? {
    period: selection.period,
    compared: null,
    note: null,
  };
  const asked = { groups, period, whole: selection.period, compared, now: selection.now };
  const narrows = narrowing({ ...selection, conditions: tested });
  const spend = question.spend === undefined ? null : planSpend(question.spend, asked, narrows);

  const read = (text: string): PlannedMeasure => {
    const measure = readMeasure(text, words, placeOf, outcomes !== null);
    if (!measure.isOfSpend) return measure;
    if (spend === null)
      throw refuse`${text.trim()} needs to know what was spent: give it with ${option('spend')}.`;
    if (narrows !== null && measure.name !== 'spend')
      throw refuse`${text.trim()} cannot be measured here. ${noCostPerCall(narrows)} Without it, cost_per(condition) is what a call cost of which a condition is true.`;
    return measure;
  };

  const ofSpend = narrows === null ? ['spend', 'cost_per_call'] : ['spend'];
  if (narrows === null && outcomes !== null) ofSpend.push('cost_per_outcome', 'return_on_ad_spend');
  const ofCalls = withBases(
    named.map(read),
    groups.map(({ name }) => name),
    read,
  );
  const added = spend === null ? [] : ofSpend.map(read);
  const measures = [
    ...ofCalls,
    ...added.filter(({ name }) => !ofCalls.some((measure) => measure.name === name)),
  ];
  const changesPerDay =
    comparison !== null && (comparison.areMonths || lengthOf(period) !== lengthOf(compared));

  const columnsOf = (measure: PlannedMeasure) =>
    hasBefore({ compared, spend }, measure)
      ? comparedColumns(measure, changesPerDay)
      : [measureColumn(measure)];

  const columns = [...groups.map(groupColumn), ...measures.flatMap(columnsOf)];
  refuseTwice(groups, measures, columns);
  const unnamed = unnamedMeasures(question, columns, read);
  if (outcomes !== null && !parts.some(({ needs }) => needs === 'outcomes'))
    throw refuse`${option('outcomes')} is given, and nothing is measured of it: add outcomes, revenue or revenue_per_call to ${option('measures')}.`;
  oneCurrency(outcomes?.all ?? [], 'amounts of two currencies never add up; make a file of each');
  const terms = termsOf(columns, question.having ?? '', read);
  const sortable = [...columns, ...unnamed.flatMap(columnsOf)].map(({ name }) => name);
  const isOpen = period.from === null || period.to === null;
  const isByDay = [...measures, ...unnamed].some(({ name }) => name === 'per_day');
  if (isOpen && (groups.some(({ isTime }) => isTime) || isByDay)) ends.forEach(placeOf);
  if (version === 'v2') refuseOnlyOfV3({ conditions: tested, groups, parts });

  const ofClock = selection.periodNotes.filter(({ code }) => code === 'local_clock');
  const plan: ReadPlan = {
    ...selection,
    asked: { question, options: { now, version } },
    beside: compared !== null || isByDay ? stretchesBefore([period, compared]) : [],
    period,
    periodNotes: note === null ? selection.periodNotes : [...ofClock, note],
    groups,
    measures,
    unnamed,
    parts,
    measured: parts
      .map(({ about }) => about)
      .filter((about) => typeof about === 'object' && about !== null),
    compared,
    changesPerDay,
    spend,
    outcomes,
    columns,
    expect: readExpected(question.expect, groups),
    having:
      question.having === undefined
        ? null
        : { condition: readWhere(question.having, terms, 'having'), terms },
    order:
      question.order === undefined
        ? usualOrder(groups, columns)
        : readOrder(question.order, sortable, 'the answer'),
    limit: readCount('limit', question.limit ?? 1000),
    topPer: readCount('topPer', question.topPer ?? mostRows),
    personal,
    otherCalls: otherCallsOf({ conditions: tested, groups, parts }),
    needs: needsOf(
      { conditions: tested, groups, parts },
      compared === null ? [period] : [period, compared],
      zones,
      outcomes && {
        window: outcomes.window,
        conditions: selection.exclude === null ? [] : [selection.exclude.condition],
      },
    ),
  };
  return plan;
}

const mostRows = 1_000_000;
const mostExpected = 10_000;

/** Which values are expected: those of a group of text, since others cannot be told from a name. */
function readExpected(
  expect: readonly string[] = [],
  groups: readonly ReadField[],
): readonly string[] {
  if (expect.length === 0) return expect;
  const [group] = groups;
  if (groups.length !== 1 || group?.type !== 'text' || group.isTime)
    throw refuse`${option('expect')} goes with one group of text, such as ppc_campaign: it names values of it.`;
  if (expect.length > mostExpected)
    throw refuse`${option('expect')} names ${expect.length} values: ${mostExpected} at most.`;
  return expect;
}

/** The four weeks before each of some periods that begin, apart from the periods themselves. */
function stretchesBefore(periods: readonly (Period | null)[]): readonly Period[] {
  const own = periods.filter((each) => each !== null);
  return own.flatMap(({ from }) => {
    if (from === null) return [];
    const stretch: Period = periodOf(from - 28 * day, from);
    return own.reduce<readonly Period[]>(
      (left, each) => left.flatMap((part) => subtract(part, each)),
      [stretch],
    );
  });
}

const lengthOf = (period: Period | null): number => (period?.to ?? 0) - (period?.from ?? 0);
/** Has a measure a value in the compared period? Spend need not be known of it. */
export const hasBefore = (
  { compared, spend }: Pick<ReadPlan, 'compared' | 'spend'>,
  { isOfSpend }: PlannedMeasure,
): boolean => compared !== null && (!isOfSpend || (spend !== null && spend.past !== null));

/** A number of rows. */
function readCount(name: 'limit' | 'topPer', value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= mostRows) return value;
  throw refuse`${option(name)} is ${JSON.stringify(value)}: expected a whole number from 1 to 1,000,000.`;
}

const groupColumn = ({ name, meaning, isTime }: ReadField): AnswerColumn => ({
  name,
  kind: 'group',
  meaning,
  better: null,
  addsUp: false,
  unit: isTime ? 'time' : 'value',
});

const measureColumn = ({
  column,
  meaning,
  unit,
  better,
  addsUp,
}: PlannedMeasure): AnswerColumn => ({
  name: column,
  kind: 'measure',
  unit,
  meaning,
  better,
  addsUp,
});

/** A measure, what it was before, and how it has changed. Times have no change. */
function comparedColumns(measure: PlannedMeasure, changesPerDay: boolean): AnswerColumn[] {
  const own = measureColumn(measure);
  const { name, unit } = own;
  const meaning = `${own.meaning.replace(/\.$/, '')}, in the period compared with.`;
  const columns: AnswerColumn[] = [
    own,
    { ...own, name: `${name}_before`, kind: 'before', meaning },
  ];
  if (unit === 'time') return columns;
  columns.push({
    ...own,
    name: `${name}_change`,
    kind: 'change',
    meaning: `Difference of ${name} and ${name}_before.`,
  });
  if (!growsWithTime(measure)) return columns;
  columns.push({
    ...own,
    name: `${name}_change_percent`,
    kind: 'change_percent',
    unit: 'percent',
    addsUp: false,
    meaning: `${name}_change in percent of ${name}_before; empty where that is 0.`,
  });
  if (!changesPerDay) return columns;
  columns.push({
    ...own,
    name: `${name}_change_per_day`,
    kind: 'change_per_day',
    unit: unit === 'minutes' || unit === 'money' ? unit : 'number',
    addsUp: false,
    meaning: `Difference of ${name} and ${name}_before, each by the days of its period.`,
  });
  return columns;
}

/** Is there more of a measure in a longer period? */
export const growsWithTime = ({ addsUp, unit }: Pick<PlannedMeasure, 'addsUp' | 'unit'>): boolean =>
  addsUp && unit !== 'share';

/** Rows are objects, so no two columns may have one name. */
function refuseTwice(
  groups: readonly ReadField[],
  measures: readonly PlannedMeasure[],
  columns: readonly AnswerColumn[],
): void {
  const twice = columns.find(
    ({ name }, i) => columns.findIndex((other) => other.name === name) !== i,
  )?.name;
  if (twice === undefined) return;
  if (groups.filter(({ name }) => name === twice).length > 1)
    throw refuse`${option('groupBy')} names ${twice} twice.`;
  const own = measures.filter(({ column }) => column === twice);
  if (own.length > 1) throw refuse`${option('measures')} names ${twice} twice.`;
  const name = own.some((measure) => measure.name === twice) ? twice : 'calls';
  throw refuse`Two columns are called ${twice}. Name the measure with as, such as "${name} as how_many", or group by another field.`;
}

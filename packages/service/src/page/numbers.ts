import {
  formatNaive,
  type Period,
  parseNaive,
  periodOf,
  textOf,
} from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import { type Answer, type AnswerValue, type Question, quote } from '@call-attribution/questions';
import {
  columnTitle,
  formatCount,
  formatCounted,
  formatPeriod,
  judgeChange,
} from '@call-attribution/questions/chart';
import {
  type PageBucket,
  type PageCause,
  type PageChange,
  type PageDimension,
  type PageGroup,
  type PageMeasures,
  type PageNumbers,
  type PageQuestion,
  type PageSummary,
  pageDimensions,
} from './question.ts';

// The questions that the page asks, and what it makes of the answers.

/**
 * Which calls a question is about: those of the definitions that were chosen, and with one of the
 * values to keep of each field but one.
 */
export function keptCalls(
  { only, chosen, definitions, exclude }: PageQuestion,
  except?: PageDimension,
): Pick<Question, 'where' | 'definitions' | 'exclude'> {
  const parts: string[] = [...chosen];
  for (const [field, values] of only) {
    if (field === except) continue;
    const tests = values.map(
      (text) => `${field} ${text === null ? 'IS NULL' : `== ${quote(text)}`}`,
    );
    parts.push(`(${tests.join(' OR ')})`);
  }

  return {
    definitions,
    ...(exclude === null ? {} : { exclude }),
    ...(parts.length === 0 ? {} : { where: parts.join(' AND ') }),
  };
}

/** The calls of the period. None are in one that ends where it begins, whatever its days. */
function callsOf(question: PageQuestion, except?: PageDimension): Question {
  const { filter, selection, period } = question;
  const { from, to } = isEmpty(period) ? { from: null, to: null } : textOf(period);
  return {
    calls: selection.extensions === false ? 'website' : 'all',
    q: printFilter({ clauses: filter.clauses.filter(({ field }) => field !== 'date_added') }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...keptCalls(question, except),
  };
}

/**
 * The questions about the measures of all calls: compared with the period before, where there is
 * one. `isCut`: only a part of the period is compared, so that the whole is another question.
 */
function pageTotals(question: PageQuestion, isCut: boolean): Question[] {
  const total: Question = {
    ...callsOf(question),
    measures: ['calls', 'missed', 'missed_rate', 'talk_mean', 'first_time_callers'],
  };
  const beside = { ...total, ...compared(question) };
  return isCut ? [beside, total] : [beside];
}

/** The calls of each definition that can be chosen. */
const pageSwitches = (question: PageQuestion): Question => ({
  ...callsOf(question),
  measures: ['calls', ...question.switches.map((name) => `count(${name}) as ${name}`)],
});

/** Does it end before it begins? */
export const isEmpty = ({ from, to }: Period): boolean =>
  from !== null && to !== null && from >= to;

/** The questions of the page about the calls of its period, in the order of their answers. */
export const pageQuestions = (
  question: PageQuestion,
  { by, isCut }: { readonly by: PageBucket; readonly isCut: boolean },
): Question[] => [
  pageSwitches(question),
  { ...callsOf(question), groupBy: [by], measures: ['calls', 'missed'], limit: mostBuckets },
  { ...callsOf(question), groupBy: ['weekday', 'hour'], measures: ['calls'] },
  ...pageDimensions.map((name) => pageGroups(question, name, mostValues)),
  ...pageTotals(question, isCut),
];

/**
 * The question about the most frequent values of a field. The values to keep of a field do not
 * apply to its own groups.
 */
export const pageGroups = (
  question: PageQuestion,
  name: PageDimension,
  limit: number,
): Question => ({
  ...callsOf(question, name),
  groupBy: [name],
  measures: ['calls', 'missed'],
  limit,
});

/** The questions about the calls of each value of a field in the period compared with. */
export const causeQuestions = (
  question: PageQuestion,
  { from, to }: NonNullable<PageSummary['comparedWith']>,
): Question[] =>
  pageDimensions.map((name) => ({
    ...callsOf({ ...question, period: periodOf(parseNaive(from), parseNaive(to)) }),
    groupBy: [name],
    measures: ['calls'],
    limit: mostValues,
  }));

/**
 * The numbers of the page, made of the answers to `pageQuestions`, and of what is known of all
 * calls.
 */
export function pageSummary(
  question: PageQuestion,
  by: PageBucket,
  answers: readonly Answer[],
  { none, earliest, latest }: Pick<PageSummary, 'none' | 'earliest' | 'latest'>,
): Omit<PageNumbers, 'only' | 'cause'> {
  const [switches, chart, hours] = answers;
  const groups = groupsIn(answers);
  const [beside, whole = beside] = answers.slice(3 + pageDimensions.length);
  const comparedWith = beside?.compared ?? null;
  return {
    total: measuresOf(whole, ''),
    part: comparedWith && measuresOf(beside, ''),
    before: beside?.total.calls_before == null ? null : measuresOf(beside, '_before'),
    comparedWith,
    changes: {
      calls: changeOf(beside, 'calls'),
      missed: changeOf(beside, 'missed_rate'),
      talkMean: changeOf(beside, 'talk_mean'),
      firstTimeCallers: changeOf(beside, 'first_time_callers'),
    },
    notes: [...comparisonOf(beside), ...notesOf([chart, beside])],
    definitions: Object.fromEntries(
      question.switches.map((name) => [name, Number(switches?.total[name] ?? 0)]),
    ),
    excluded: whole?.leftOut.find(({ code }) => code === 'excluded')?.count ?? 0,
    extensionsLeftOut: chart?.extensions.leftOut ?? 0,
    by,
    buckets: (chart?.rows ?? [])
      .filter((row) => typeof row[by] === 'string')
      .map((row) => ({ from: String(row[by]), ...countsOf(row) })),
    hours: (hours?.rows ?? []).flatMap(({ weekday, hour, calls }) =>
      weekday == null || !calls
        ? []
        : [{ weekday: String(weekday), hour: Number(hour), calls: Number(calls) }],
    ),
    groups: perDimension((name, i) => groupsOf(groups[i], name).slice(0, shownValues)),
    values: perDimension((_, i) => groups[i]?.groups ?? 0),
    none,
    earliest,
    latest,
  };
}

/**
 * Whether there are many more or fewer calls than before: by more than a tenth, by more than 20, and
 * by more than twice what chance makes of such numbers.
 */
export function isChanged({ part, before }: Pick<PageNumbers, 'part' | 'before'>): boolean {
  if (part === null || before === null || before.calls === 0) return false;
  return isLarge(part.calls, before.calls);
}

function isLarge(calls: number, before: number): boolean {
  const change = Math.abs(calls - before);
  return change > before / 10 && change > 20 && change > 2 * Math.sqrt(calls + before);
}

/**
 * The group that changed most in the direction of all calls, by the answers to `pageQuestions` and
 * to `causeQuestions`. One that has all calls of both periods explains nothing, nor do calls that
 * have no value.
 */
export function causeOf(
  { only }: PageQuestion,
  { part, before: past }: Pick<PageNumbers, 'part' | 'before'>,
  answers: readonly Answer[],
  pastAnswers: readonly Answer[],
): PageCause | null {
  const all = part?.calls ?? 0;
  const allBefore = past?.calls ?? 0;
  const found = pageDimensions.flatMap((field, i): PageCause[] => {
    const callsIn = (answer: Answer | undefined) =>
      new Map(groupsOf(answer, field).map(({ value, calls }) => [value, calls]));
    const now = callsIn(groupsIn(answers)[i]);
    const then = callsIn(pastAnswers[i]);

    // The groups of a field have its other values, too.
    const kept = only.get(field) ?? [...new Set([...now.keys(), ...then.keys()])];
    return kept.flatMap((value) => {
      const calls = now.get(value) ?? 0;
      const before = then.get(value) ?? 0;
      const isAll = calls === all && before === allBefore;
      if (value === null || isAll || !isLarge(calls, before)) return [];
      return calls > before === all > allBefore ? [{ field, value, calls, before }] : [];
    });
  });
  const size = ({ calls, before }: PageCause) => Math.abs(calls - before);
  return found.sort((one, other) => size(other) - size(one))[0] ?? null;
}

/** The answers about the values of fields, among those to `pageQuestions`. */
const groupsIn = (answers: readonly Answer[]) => answers.slice(3, 3 + pageDimensions.length);

/**
 * What happened since the period before, in a sentence. Where nothing is compared, or the calls
 * begin within that period, there are as many calls as there are.
 */
export function glanceOf(numbers: PageNumbers): string {
  const { total, part, before, cause, comparedWith, earliest } = numbers;
  const isKnown = String(earliest).slice(0, 10) <= String(comparedWith?.from).slice(0, 10);
  if (part === null || before === null || before.calls === 0 || !isKnown)
    return `${formatCounted(total.calls, 'call')} in this time.`;
  const then = ({ calls, before: past }: { readonly calls: number; readonly before: number }) =>
    `${formatCount(calls)} instead of ${formatCount(past)}.`;
  const all = { calls: part.calls, before: before.calls };
  if (!isChanged(numbers)) return `About as many calls as before: ${then(all)}`;
  const percent = Math.round((100 * Math.abs(all.calls - all.before)) / all.before);
  const changed = `${percent}% ${all.calls > all.before ? 'more' : 'fewer'} calls than before`;
  if (cause === null) return `${changed}: ${then(all)}`;
  const field = columnTitle(cause.field).toLowerCase();
  return `${changed}, most of all with ${field} ${cause.value}: ${then(cause)}`;
}

/** The values of a field, of the answer about them. */
export const groupsOf = (answer: Answer | undefined, name: PageDimension): PageGroup[] =>
  (answer?.rows ?? []).map((row) => ({ value: shownText(row[name]), ...countsOf(row) }));

const countsOf = (row: Answer['total']) => ({
  calls: Number(row.calls ?? 0),
  missed: Number(row.missed ?? 0),
});

/** What the numbers are compared with, in a sentence. */
function comparisonOf(total: Answer | undefined): string[] {
  if (total?.compared == null) return ['Choose a time to compare with the one before it.'];
  const part = total.notes.find(({ code }) => code === 'part_compared');
  return [part?.message ?? `Compared with ${formatPeriod(total.compared)}.`];
}

/** Notes that the page shows; on days without calls it has the chart. */
const shownNotes: ReadonlySet<string> = new Set([
  'first_call',
  'last_call',
  'new_callers',
  'few_calls',
]);

/** What answers say of what their numbers are counted of. */
function notesOf(answers: readonly (Answer | undefined)[]): string[] {
  const notes = answers.flatMap((answer) => answer?.notes ?? []);
  const said = notes.flatMap(({ code, message }) => (shownNotes.has(code) ? [message] : []));
  return [...new Set(said)].slice(0, 3);
}

/** The measures of the answer about all calls; `_before` gives those of the period before. */
function measuresOf(answer: Answer | undefined, of: '' | '_before'): PageMeasures {
  const found = (measure: string) => answer?.total[`${measure}${of}`] ?? null;
  const mean = found('talk_mean');
  return {
    calls: Number(found('calls')),
    missed: Number(found('missed')),
    talkMean: typeof mean === 'number' ? mean : null,
    firstTimeCallers: Number(found('first_time_callers')),
  };
}

/** How a measure has changed since the period before. */
function changeOf(answer: Answer | undefined, name: string): PageChange | null {
  const { columns = [], total = {} } = answer ?? {};
  const column = columns.find((each) => each.name === name);
  const change = total[`${name}_change`];
  const before = total[`${name}_before`];
  if (typeof change !== 'number' || typeof before !== 'number') return null;
  const perDay = total[`${name}_change_per_day`];
  const judged = judgeChange(column, change, typeof perDay === 'number' ? perDay : change);
  const base = column?.unit === 'share' ? 1 : before;
  const size = (100 * change) / base;
  const digits = Math.abs(size) < 10 ? 1 : 0;
  return base === 0 ? null : { size: Number(size.toFixed(digits)), judged };
}

const shownText = (value: AnswerValue | undefined): string | null =>
  value == null ? null : String(value);

/** Something for each dimension, made from its name and its place in `pageDimensions`. */
function perDimension<T>(of: (name: PageDimension, place: number) => T): Record<PageDimension, T> {
  return Object.fromEntries(pageDimensions.map((name, i) => [name, of(name, i)])) as Record<
    PageDimension,
    T
  >;
}

/** The most frequent values of a field that the page shows. */
const shownValues = 100;
/** The most frequent values of a field that are compared with those of the period before. */
const mostValues = 5_000;
/** The most columns of the chart. */
const mostBuckets = 2_000;
/** Columns that can be told apart well. */
const clearBuckets = 70;
/** From fine to coarse, with the least number of days of each. */
const bucketDays = [
  ['day', 1],
  ['week', 7],
  ['month', 28],
] as const;

/**
 * The columns of the chart: those that are wanted, unless there would be too many of them, or those
 * that show the period best.
 */
export function pageBucket(
  question: PageQuestion,
  wanted: PageBucket | 'auto',
  { earliest, latest }: Pick<PageSummary, 'earliest' | 'latest'>,
): PageBucket {
  const dates = datesOf(question.period, earliest, latest);
  const days = dates === null ? 0 : daysBetween(dates.first, dates.last);
  const least = bucketDays.find(([by]) => by === wanted)?.[1] ?? 1;
  const most = wanted === 'auto' ? clearBuckets : mostBuckets;
  return bucketDays.find(([, length]) => length >= least && days / length <= most)?.[0] ?? 'month';
}

/**
 * The dates of the first and the last day of a period; where it is open, of the first and the last
 * call.
 */
function datesOf(
  { from, to }: Period,
  earliest: string | null,
  latest: string | null,
): { first: string; last: string } | null {
  const first = from === null ? earliest : formatNaive(from);
  const last = to === null ? latest : formatNaive(to - 1);
  return first === null || last === null || first > last
    ? null
    : { first: first.slice(0, 10), last: last.slice(0, 10) };
}

/** The number of days from one date to another, both included. */
function daysBetween(first: string, last: string): number {
  return (parseNaive(`${last} 00:00:00`) - parseNaive(`${first} 00:00:00`)) / 86_400_000 + 1;
}

const firstYear = parseNaive('0001-01-01 00:00:00');

/** Compares with the period before; with none where it is open, or that one cannot be written. */
function compared({ period: { from, to } }: PageQuestion): Pick<Question, 'compare'> {
  const isClosed = from !== null && to !== null && from < to && 2 * from - to >= firstYear;
  return isClosed ? { compare: 'previous' } : {};
}

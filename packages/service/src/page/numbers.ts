import {
  formatNaive,
  type Period,
  parseNaive,
  periodBefore,
  second,
  textOf,
} from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import { type Answer, type AnswerValue, type Question, quote } from '@call-attribution/questions';
import {
  type PageBucket,
  type PageDimension,
  type PageGroup,
  type PageMeasures,
  type PageQuestion,
  type PageSummary,
  pageDimensions,
} from './question.ts';

// The questions that the page asks, and what it makes of the answers.

/**
 * The condition that calls have one of the values to keep of each field but one; none when nothing
 * is narrowed.
 */
function keptValues(only: PageQuestion['only'], except?: PageDimension): Pick<Question, 'where'> {
  const parts: string[] = [];
  for (const [field, values] of only) {
    if (field === except) continue;
    const tests = values.map(
      (text) => `${field} ${text === null ? 'IS NULL' : `== ${quote(text)}`}`,
    );
    parts.push(`(${tests.join(' OR ')})`);
  }

  return parts.length === 0 ? {} : { where: parts.join(' AND ') };
}

/**
 * The questions about the measures of all calls: compared with the period before, where there is
 * one. `isCut`: only a part of the period is compared, so that the whole is another question.
 */
export function pageTotals(question: PageQuestion, isCut: boolean): Question[] {
  const total: Question = {
    ...callsOf(question),
    measures: ['calls', 'missed', 'talk_mean', 'first_time_callers'],
    ...keptValues(question.only),
  };
  if (!isComparable(question)) return [total];
  const compared: Question = { ...total, compare: 'previous' };
  return isCut ? [compared, total] : [compared];
}

/** The calls of the period. None are in one that ends where it begins, whatever its days. */
function callsOf({ filter, selection, period }: PageQuestion): Question {
  const { from, to } = isEmpty(period) ? { from: null, to: null } : textOf(period);
  return {
    calls: selection.extensions === false ? 'website' : 'all',
    q: printFilter({ clauses: filter.clauses.filter(({ field }) => field !== 'date_added') }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
  };
}

/** Does it end before it begins? */
export const isEmpty = ({ from, to }: Period): boolean =>
  from !== null && to !== null && from >= to;

/** The questions of the page about the calls of its period: first that of the chart. */
export function pageQuestions(question: PageQuestion, by: PageBucket): Question[] {
  return [
    {
      ...callsOf(question),
      groupBy: [by],
      measures: ['calls', 'missed'],
      limit: mostBuckets,
      ...keptValues(question.only),
    },
    ...pageDimensions.map((name) => pageGroups(question, name, shownValues)),
  ];
}

/**
 * The question about the most frequent values of a field. The values to keep of a field do not
 * apply to its own groups.
 */
export const pageGroups = (
  question: PageQuestion,
  name: PageDimension,
  limit: number,
): Question => ({
  ...callsOf(question),
  groupBy: [name],
  measures: ['calls', 'missed'],
  limit,
  ...keptValues(question.only, name),
});

/**
 * The numbers of the page, made of the answers to `pageQuestions` and `pageTotals`, and of what is
 * known of all calls.
 */
export function pageSummary(
  by: PageBucket,
  [chart, ...groups]: readonly Answer[],
  { none, earliest, latest }: Pick<PageSummary, 'none' | 'earliest' | 'latest'>,
): Omit<PageSummary, 'only'> {
  const [compared, whole = compared] = groups.splice(pageDimensions.length);
  const past = compared?.compared ?? null;
  const { calls_change_per_day: calls, first_time_callers_change_per_day: callers } =
    compared?.total ?? {};
  return {
    total: measuresOf(whole),
    part: past && measuresOf(compared),
    before: past && measuresOf(compared, '_before'),
    changePerDay: {
      calls: typeof calls === 'number' ? calls : null,
      firstTimeCallers: typeof callers === 'number' ? callers : null,
    },
    comparedWith: past && {
      first: past.from.slice(0, 10),
      last: formatNaive(parseNaive(past.to) - second).slice(0, 10),
    },
    notes: notesOf([compared, chart]),
    extensionsLeftOut: chart?.extensions.leftOut ?? 0,
    by,
    buckets: (chart?.rows ?? [])
      .filter((row) => typeof row[by] === 'string')
      .map((row) => ({ from: String(row[by]), ...countsOf(row) })),
    groups: perDimension((name, i) => groupsOf(groups[i], name)),
    values: perDimension((_, i) => groups[i]?.groups ?? 0),
    none,
    earliest,
    latest,
  };
}

/** The values of a field, of the answer about them. */
export const groupsOf = (answer: Answer | undefined, name: PageDimension): PageGroup[] =>
  (answer?.rows ?? []).map((row) => ({ value: shownText(row[name]), ...countsOf(row) }));

const countsOf = (row: Answer['total']) => ({
  calls: Number(row.calls ?? 0),
  missed: Number(row.missed ?? 0),
});

/** Notes that the page shows; on days without calls it has the chart. */
const shownNotes: ReadonlySet<string> = new Set([
  'part_compared',
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

/** The measures of the answer about all calls; `end`: of the period compared with. */
function measuresOf(answer: Answer | undefined, end: '' | '_before' = ''): PageMeasures {
  const of = (name: string): AnswerValue => answer?.total[`${name}${end}`] ?? null;
  const mean = of('talk_mean');
  return {
    calls: Number(of('calls') ?? 0),
    missed: Number(of('missed') ?? 0),
    talkMean: typeof mean === 'number' ? mean : null,
    firstTimeCallers: Number(of('first_time_callers') ?? 0),
  };
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

/** Is there a period before it that can be written? */
function isComparable({ period: { from, to } }: Pick<PageQuestion, 'period'>): boolean {
  return from !== null && to !== null && from < to && periodBefore(from, to).from >= firstYear;
}

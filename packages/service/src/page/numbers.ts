import { addDays, formatNaive, parseNaive, startOfPeriodBefore } from '@call-attribution/core/time';
import type { Answer, AnswerValue, Condition, Question } from '@call-attribution/questions';
import {
  type PageBucket,
  type PageDimension,
  type PageGroup,
  type PageMeasures,
  type PageQuestion,
  type PageSummary,
  pageDimensions,
} from './question.ts';

// The page asks the same questions wherever its calls are, and makes its numbers of the answers.

/** The most frequent values of a field that the page gets. */
const mostGroups = 100;

/** The condition that calls have one of the values to keep of each field but one. Null when nothing is narrowed. */
export function keptValues(only: PageQuestion['only'], except?: PageDimension): Condition | null {
  const parts = [...only].flatMap(([field, values]): Condition[] => {
    if (field === except) return [];
    const texts = values.map((value) => value ?? '');
    const named: Condition = {
      kind: 'in',
      field,
      values: texts.map((text) => ({ type: 'text', text })),
      exact: true,
    };
    return texts.includes('') ? [{ kind: 'or', parts: [named, { kind: 'null', field }] }] : [named];
  });
  return parts.length === 0 ? null : { kind: 'and', parts };
}

/** The question about the measures of all calls. */
export const pageTotals = ({ selection, only }: PageQuestion): Question => ({
  measures: ['calls', 'missed', 'talk_mean', 'first_time_callers'],
  calls: selection.extensions ? 'all' : 'website',
  ...whereOf(keptValues(only)),
});

const whereOf = (where: Question['where'] | null): Pick<Question, 'where'> =>
  where == null ? {} : { where };

/** All questions of the page about the calls of its period: first that of the days, whose total is that of the page. */
export function pageQuestions(question: PageQuestion): Question[] {
  const { selection, only } = question;
  const measures = ['calls', 'missed'];
  const calls: Question['calls'] = selection.extensions ? 'all' : 'website';
  return [
    { ...pageTotals(question), groupBy: ['day'], limit: 1_000_000 },
    // The values to keep of a field do not apply to its own groups.
    ...pageDimensions.map((name) => ({
      groupBy: [name],
      measures,
      calls,
      limit: mostGroups,
      ...whereOf(keptValues(only, name)),
    })),
  ];
}

/** The numbers of the page, made of the answers to its questions and of what is known of all calls. Of the period before they say nothing. */
export function pageSummary(
  question: PageQuestion,
  by: PageBucket | 'auto',
  [days, ...groups]: readonly Answer[],
  { all, earliest, latest }: Pick<PageSummary, 'all' | 'earliest' | 'latest'>,
): PageSummary {
  const perDay = (days?.rows ?? []).flatMap((row) =>
    typeof row.day === 'string' ? [{ day: row.day, ...countsOf(row) }] : [],
  );
  const lists = groups.map(groupsOf);
  return {
    total: pageMeasures(days),
    before: null,
    extensionsLeftOut: days?.extensions.leftOut ?? 0,
    ...summaryOfTime(question, by, earliest, latest, perDay),
    groups: perDimension((i) => lists[i]?.list ?? []),
    values: perDimension((i) => lists[i]?.count ?? 0),
    ...{ all, earliest, latest },
  };
}

const countsOf = (row: Answer['total']) => ({
  calls: Number(row.calls ?? 0),
  missed: Number(row.missed ?? 0),
});

/** The measures of the answer about all calls. */
export function pageMeasures(answer: Answer | undefined): PageMeasures {
  const { talk_mean: mean, first_time_callers: first, ...counts } = answer?.total ?? {};
  return {
    ...countsOf(counts),
    talkMean: typeof mean === 'number' ? mean : null,
    firstTimeCallers: Number(first ?? 0),
  };
}

/** To the page an empty value is none. What is none comes after others of as many calls. */
function groupsOf(answer: Answer | undefined, dimension: number): { list: PageGroup[]; count: number } {
  const { rows = [], groups = 0 } = answer ?? {};
  const name = pageDimensions[dimension] ?? '';
  const all = rows.map((row): PageGroup => ({ value: textOf(row[name]), ...countsOf(row) }));
  const list = all.filter(({ value }) => value !== null);
  const empty = all.filter(({ value }) => value === null);
  if (empty.length === 0) return { list, count: groups };
  const sum = (of: 'calls' | 'missed') => empty.reduce((total, each) => total + each[of], 0);
  list.push({ value: null, calls: sum('calls'), missed: sum('missed') });
  return { list: list.sort((a, b) => b.calls - a.calls), count: groups - empty.length + 1 };
}

const textOf = (value: AnswerValue | undefined): string | null =>
  value === null || value === undefined || value === '' ? null : String(value);

/** Something for each dimension, made from its place in `pageDimensions`. */
function perDimension<T>(of: (dimension: number) => T): Record<PageDimension, T> {
  return Object.fromEntries(pageDimensions.map((name, i) => [name, of(i)])) as Record<PageDimension, T>;
}

const mostBuckets = 2_000;

/** The column of the chart that holds a day, by its first day. */
function bucketStart(by: PageBucket, date: string): string {
  if (by === 'day') return date;
  if (by === 'month') return `${date.slice(0, 7)}-01`;
  const weekday = (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7;
  return addDays(date, -weekday);
}

function nextBucket(by: PageBucket, date: string): string {
  if (by === 'day') return addDays(date, 1);
  return by === 'week' ? addDays(date, 7) : bucketStart('month', addDays(date, 31));
}

/** The columns that show so many days best: at most about seventy. */
function bucketFor(days: number): PageBucket {
  return days <= 70 ? 'day' : days <= 490 ? 'week' : 'month';
}

/** The calls of one day. */
interface PageDay {
  /** The day, `YYYY-MM-DD`. */
  readonly day: string;
  /** How many calls. */
  readonly calls: number;
  /** How many of them nobody answered. */
  readonly missed: number;
}

/** All columns from the one with the first date to the one with the last, with zero where there are no calls. */
function fillBuckets(
  by: PageBucket,
  first: string,
  last: string,
  days: Iterable<PageDay>,
): PageSummary['buckets'] {
  const sums = new Map<string, { calls: number; missed: number }>();
  for (const { day, calls, missed } of days) {
    const start = bucketStart(by, day);
    const sum = sums.get(start) ?? { calls: 0, missed: 0 };
    sums.set(start, { calls: sum.calls + calls, missed: sum.missed + missed });
  }
  const buckets: { from: string; calls: number; missed: number }[] = [];
  for (
    let from = bucketStart(by, first);
    from <= last && buckets.length < mostBuckets;
    from = nextBucket(by, from)
  )
    buckets.push({ from, ...(sums.get(from) ?? { calls: 0, missed: 0 }) });
  return buckets;
}

/** The dates of the first and the last day of a period; where it is open, of the first and the last call. */
function datesOf(
  { from, to }: Pick<PageQuestion, 'from' | 'to'>,
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

/** The days of the period before, as the page names them. */
function comparedWith(question: Pick<PageQuestion, 'from' | 'to'>): PageSummary['comparedWith'] {
  const period = periodBefore(question);
  return period === null ? null : datesOf(period, null, null);
}

/** The period before, or null when the period is open. */
export function periodBefore({
  from,
  to,
}: Pick<PageQuestion, 'from' | 'to'>): { from: number; to: number } | null {
  return from === null || to === null || from >= to
    ? null
    : { from: startOfPeriodBefore(from, to), to: from };
}

/** What a summary says of its time: the buckets of the chart, and the dates of the period before. */
function summaryOfTime(
  question: PageQuestion,
  wanted: PageBucket | 'auto',
  earliest: string | null,
  latest: string | null,
  days: Iterable<PageDay>,
): Pick<PageSummary, 'by' | 'buckets' | 'comparedWith'> {
  const dates = datesOf(question, earliest, latest);
  const by =
    wanted === 'auto' ? bucketFor(dates === null ? 0 : daysBetween(dates.first, dates.last)) : wanted;
  const buckets = dates === null ? [] : fillBuckets(by, dates.first, dates.last, days);
  return { by, buckets, comparedWith: comparedWith(question) };
}

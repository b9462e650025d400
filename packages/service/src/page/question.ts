import { addDays, formatNaive, parseNaive, startOfPeriodBefore } from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import type { Condition } from '@call-attribution/questions';
import type { Account, AccountCredential, NumericFilter } from '@call-attribution/store';

/** The fields that the page breaks calls down by, and narrows them with. */
export const pageDimensions = [
  'ppc_campaign',
  'ppc_keywords',
  'landing_page',
  'referrer',
  'channel',
] as const;

/** A field that the page breaks calls down by. */
export type PageDimension = (typeof pageDimensions)[number];

/** A stretch of time that one column of the chart stands for. */
export type PageBucket = 'day' | 'week' | 'month';

/** Which calls the page shows. */
export interface PageQuestion {
  /** The version of the API whose filters are meant: v2 has calls of both channels, v3 needs `inc_gce:1`. */
  readonly version: 'v2' | 'v3';
  /** The filter, checked. */
  readonly filter: Filter;
  /** The same as numbers. */
  readonly selection: NumericFilter;
  /** The filtered period in naive milliseconds, half-open; null where it is open. */
  readonly from: number | null;
  /** The first moment after the period. */
  readonly to: number | null;
  /** Values to keep, by field; null is a call without a value. Calls have to match all fields. */
  readonly only: ReadonlyMap<PageDimension, readonly (string | null)[]>;
}

/** What is measured of calls. */
export interface PageMeasures {
  /** How many calls. */
  readonly calls: number;
  /** Calls that nobody answered: `talk_minutes` is 0. */
  readonly missed: number;
  /** Mean of `talk_minutes`, missed calls included; null without calls. */
  readonly talkMean: number | null;
  /** Callers whose first call to the account is among the calls. */
  readonly firstTimeCallers: number;
}

/** The calls of one value of a field. */
export interface PageGroup {
  /** The value; null for calls without one. */
  readonly value: string | null;
  /** How many calls. */
  readonly calls: number;
  /** How many of them nobody answered. */
  readonly missed: number;
}

/** The numbers of the page. */
export interface PageSummary {
  /** The calls of the period that match. */
  readonly total: PageMeasures;
  /** The same of the period before; null when the period is open. */
  readonly before: PageMeasures | null;
  /** The first and the last day of the period before. */
  readonly comparedWith: { readonly first: string; readonly last: string } | null;
  /** Calls that match but for having come through a call extension. */
  readonly extensionsLeftOut: number;
  /** What the columns of the chart are. */
  readonly by: PageBucket;
  /** Calls by time, without gaps. */
  readonly buckets: readonly { readonly from: string; readonly calls: number; readonly missed: number }[];
  /** The most frequent values of each field. Values to keep of a field do not apply to its own groups. */
  readonly groups: Readonly<Record<PageDimension, readonly PageGroup[]>>;
  /** How many values each field has. */
  readonly values: Readonly<Record<PageDimension, number>>;
  /** Calls of the account, whatever is selected. */
  readonly all: number;
  /** Time of the first call of the account; null without calls. */
  readonly earliest: string | null;
  /** Time of the last call; null without calls. */
  readonly latest: string | null;
}

/** Calls of the table: as many of them as were requested, newest first, and how many there are. */
export interface PageCalls {
  /** All calls that match; null where the numbers of the page say it, and counting them again would take as long. */
  readonly total: number | null;
  /** The calls, as records. */
  readonly calls: AsyncIterable<object> | Iterable<object>;
}

/** A part of the calls, newest first. */
export interface PageCut {
  /** Calls to skip. */
  readonly offset: number;
  /** Calls at most. */
  readonly limit: number;
}

/** Where the page reads: calls of an account, summed up and listed. */
export interface PageSource {
  /** Who sends this credential, for a service without a store. Default: the accounts of the store. */
  findAccount?(credential: AccountCredential): Promise<Account | null>;
  /** The numbers of the page, as they become known: all of them first, and then some that replace the first ones. */
  summary(
    account: string,
    question: PageQuestion,
    by: PageBucket | 'auto',
    signal: AbortSignal,
  ): AsyncIterable<PageSummary | Partial<PageSummary>>;
  /** The calls of the table. */
  calls(account: string, question: PageQuestion, cut: PageCut): Promise<PageCalls>;
  /** One call as a record of v3, or null. */
  call(account: string, sid: string): Promise<object | null>;
}

/** Something for each dimension, made from its place in `pageDimensions`. */
export function perDimension<T>(of: (dimension: number) => T): Record<PageDimension, T> {
  return Object.fromEntries(pageDimensions.map((name, i) => [name, of(i)])) as Record<PageDimension, T>;
}

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

/** The most frequent values of a field that the page gets. */
export const mostGroups = 100;

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
export interface PageDay {
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
export function summaryOfTime(
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

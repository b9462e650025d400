import type { Period } from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import type { Definitions } from '@call-attribution/questions';
import type { Selection } from '@call-attribution/store';

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
  /** The filter of v3, checked. */
  readonly filter: Filter;
  /** The same as the store reads it. */
  readonly selection: Selection;
  /** The period of the filter. */
  readonly period: Period;
  /**
   * Values to keep, by field; null is a call without the field, and an empty text another value.
   * Calls have to match all fields.
   */
  readonly only: ReadonlyMap<PageDimension, readonly (string | null)[]>;
  /** Names for conditions. */
  readonly definitions: Definitions;
  /** Definitions that calls have to meet. */
  readonly chosen: readonly string[];
  /** Definitions whose calls are counted, since they can be chosen. */
  readonly switches: readonly string[];
  /** The definition of calls that do not count; null when all do. */
  readonly exclude: string | null;
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

/** How a measure has changed. */
export interface PageChange {
  /** In percent of what it was, of a share in percentage points; rounded. */
  readonly size: number;
  /** Whether that is good; null where nobody can say. */
  readonly judged: 'better' | 'worse' | null;
}

/** A group of calls that explains a change. */
export interface PageCause {
  /** The field, and its value. */
  readonly field: PageDimension;
  readonly value: string;
  /** Its calls, and those of the period before. */
  readonly calls: number;
  readonly before: number;
}

/** The calls of one value of a field. */
export interface PageGroup {
  /** The value as it was sent: null where a call has none, or an empty text. */
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
  /** The same of the part of the period that is compared; null when the period is open. */
  readonly part: PageMeasures | null;
  /** The same of the period before, up to the same part; null when the period is open. */
  readonly before: PageMeasures | null;
  /** What of the period before is compared, half-open. */
  readonly comparedWith: { readonly from: string; readonly to: string } | null;
  /** How each measure has changed; null where there is nothing to compare. */
  readonly changes: Readonly<Record<keyof PageMeasures, PageChange | null>>;
  /** What happened since the period before, in a sentence. */
  readonly glance: string;
  /** The calls of each definition that can be chosen, by its name. */
  readonly definitions: Readonly<Record<string, number>>;
  /** Calls that match but for the definition that is excluded. */
  readonly excluded: number;
  /**
   * What the numbers are compared with, and what they are counted of where that could mislead:
   * sentences.
   */
  readonly notes: readonly string[];
  /** Calls that match but for having come through a call extension. */
  readonly extensionsLeftOut: number;
  /** What the columns of the chart are. */
  readonly by: PageBucket;
  /** Calls by time, without gaps, each with its day, the Monday of its week, or its month. */
  readonly buckets: readonly {
    readonly from: string;
    readonly calls: number;
    readonly missed: number;
  }[];
  /** Calls by weekday and hour, where there are any. */
  readonly hours: readonly {
    readonly weekday: string;
    readonly hour: number;
    readonly calls: number;
  }[];
  /**
   * The most frequent values of each field. Values to keep of a field do not apply to its own
   * groups.
   */
  readonly groups: Readonly<Record<PageDimension, readonly PageGroup[]>>;
  /** How many values each field has. */
  readonly values: Readonly<Record<PageDimension, number>>;
  /** Which calls the copy has, where a sync has filled it with a filter, in words; else null. */
  readonly only: string | null;
  /** Why the account has no calls, as a sentence; null when it has some. */
  readonly none: string | null;
  /** Time of the first call of the account; null without calls. */
  readonly earliest: string | null;
  /** Time of the last call; null without calls. */
  readonly latest: string | null;
}

/** The numbers of the page before somebody looks at them. */
export interface PageNumbers extends Omit<PageSummary, 'glance'> {
  /**
   * The group that changed most where there are many more or fewer calls than before, if one stands
   * out.
   */
  readonly cause: PageCause | null;
}

/** Calls of the table: as many of them as were requested, newest first, and how many there are. */
export interface PageCalls {
  /**
   * All calls that match; null where the numbers of the page say it, and counting them again would
   * take as long.
   */
  readonly total: number | null;
  /** The calls, as records. */
  readonly calls: AsyncIterable<object> | Iterable<object>;
}

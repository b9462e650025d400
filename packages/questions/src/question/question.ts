import { checkNames } from '@call-attribution/core/options';
import type { ClosedPeriod } from '@call-attribution/core/time';
import type { Definitions } from '../conditions/definitions.ts';
import type { Outcome } from '../outcomes/outcome.ts';

/** Which calls to count, in which period. */
export interface CallSelection {
  /**
   * First moment, `2026-10-01`, `2026-10-01 08:30:00` or `yesterday`; `28d` is from the midnight 28
   * days ago to now. Default: the first call.
   */
  readonly from?: string | undefined;
  /**
   * End of the period: a date or `last month` is included, a time ends the period just before it.
   * Default: after the last call.
   */
  readonly to?: string | undefined;
  /**
   * The period as people say it, instead of `from` and `to`: `yesterday`, `last month`, `this
   * week`, `last 28 days`, `2026-Q3`,
   * `2026-10`, `2026-10-01 to 2026-10-15`, `since 2026-10-01`.
   */
  readonly period?: string | undefined;
  /**
   * The IANA time zone that the times of the records are in. The API does not say it; only `inZone`
   * needs it.
   */
  readonly timeZone?: string | undefined;
  /** Report in this time zone: `from`, `to` and groups by time are then in it. Needs `timeZone`. */
  readonly inZone?: string | undefined;
  /** Calls from visits of a website, calls through call extensions, or all. Default all. */
  readonly calls?: 'all' | 'website' | 'extensions' | undefined;
  /** A condition on any field, such as `talk_minutes >= 2 AND state IN ('TX', 'CA')`. */
  readonly where?: string | undefined;
  /**
   * Names of your own for conditions, such as `{ lead: 'talk_minutes >= 2' }`: a name stands
   * wherever a condition may.
   */
  readonly definitions?: Definitions | undefined;
  /**
   * A definition, or another condition, of calls that do not count, such as `office`: those of which
   * it is true are left out, and the answer says how many they are.
   */
  readonly exclude?: string | undefined;
  /**
   * A filter in the language of the API, as a v3 server would read it: without `inc_gce:1`, calls
   * through call extensions are left out unless `calls` is given.
   */
  readonly q?: string | undefined;
}

/** What was spent on one thing in one stretch of time. */
export interface SpendAmount {
  /** The row of the file that says so. */
  readonly row: number;
  /** On what: a name for each field of the spend, null for none. */
  readonly names: readonly (string | null)[];
  /** When; null where only the file as a whole says. */
  readonly period: ClosedPeriod | null;
  /** How much, in the one currency of the file. */
  readonly amount: number;
}

/** What a tool says was spent. */
export interface Spend {
  /** What sentences call it, such as `google.csv`. */
  readonly called: string;
  /** What should be known of how it was read, as a sentence. */
  readonly said: string;
  /** Their currency; null where the file does not name it. */
  readonly currency: string | null;
  /** What the names of its amounts are of: some of `ppc_campaign`, `ppc_adgroup`, `ppc_keywords`. */
  readonly fields: readonly string[];
  /** The days that it says it is of; null where it does not say. */
  readonly covers: ClosedPeriod | null;
  /** The amounts. */
  readonly amounts: readonly SpendAmount[];
}

/** A question: which calls, grouped by what, what of each group, and which groups to show. */
export interface Question extends CallSelection {
  /**
   * Up to four fields or derived ones, such as `ppc_campaign`, `day` or `caller_type`. Default: one
   * group of all calls.
   */
  readonly groupBy?: readonly string[] | undefined;
  /**
   * What to measure: names such as `calls`, `missed_rate`, `median(rank)` or `share(rank >= 4)`, of
   * the table of `measures`. ` as name` after it names the column. Default `['calls']`.
   */
  readonly measures?: readonly string[] | undefined;
  /**
   * Values of the only group, which is of text, that have a row even where they have no call, with
   * 0: campaigns that should ring. Compared in any case.
   */
  readonly expect?: readonly string[] | undefined;
  /** A condition on the measures of a group, such as `calls >= 10 AND missed_rate > 0.2`. */
  readonly having?: string | undefined;
  /**
   * Columns to sort by, such as `calls desc, ppc_campaign`. Default: time in its order, otherwise
   * most of the first measure first.
   */
  readonly order?: string | undefined;
  /** Rows at most. The answer says how many groups there are. Default 1,000. */
  readonly limit?: number | undefined;
  /** Rows at most for each value of the first of several groups, in the order of `order`. */
  readonly topPer?: number | undefined;
  /**
   * Another period to compare with: the one before it, the same a year earlier, or one of your own,
   * such as `last month`. Each measure then has `..._before` and `..._change` next to it.
   */
  readonly compare?: 'previous' | 'year' | (string & {}) | undefined;
  /**
   * What was spent: adds the measures `spend` and `cost_per_call`. As files say it, it goes with
   * groups by campaign, ad group or keyword, alone or with days, weeks or months. As amounts by the
   * names of the values of one group, it is about the whole period. Names mean values in any case;
   * personal ones are named as they are, whatever mask shows them.
   */
  readonly spend?: readonly Spend[] | Readonly<Record<string, number>> | undefined;
  /**
   * What calls became later, from `readOutcomes`, and how many milliseconds a call may lie before it
   * (see `usualWindow`): what `outcomes`, `revenue` and `revenue_per_call` measure.
   */
  readonly outcomes?: { readonly all: readonly Outcome[]; readonly window: number } | undefined;
  /** Groups by personal data, such as `ani`, are shown. Without it such a question is refused. */
  readonly personal?: 'show' | undefined;
}

const questionNames: readonly (keyof Question)[] = [
  'from',
  'to',
  'period',
  'timeZone',
  'inZone',
  'calls',
  'where',
  'definitions',
  'exclude',
  'q',
  'groupBy',
  'measures',
  'expect',
  'having',
  'order',
  'limit',
  'topPer',
  'compare',
  'spend',
  'outcomes',
  'personal',
];

/** Refuses names that a question does not have: it would be answered as another question. */
export const checkQuestion = (question: Question): void => checkNames(question, questionNames);

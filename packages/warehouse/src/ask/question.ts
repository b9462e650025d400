import type { Condition } from '../where/condition.ts';

/** What can be measured of each group of calls. */
export type MeasureName =
  | 'calls'
  | 'share'
  | 'missed'
  | 'missed_rate'
  | 'talk_sum'
  | 'talk_mean'
  | 'talk_median'
  | 'talk_p90'
  | 'callers'
  | 'repeat_callers'
  | 'first_time_callers'
  | 'lag_median'
  | 'first'
  | 'last'
  | 'value';

/** A measure by name, or the number of different values of a field. */
export type Measure = MeasureName | { readonly distinct: string };

/** One rule: all that it names must hold. Patterns take `*` for any run of characters; case does not matter. */
export interface WorthRule {
  /** A condition, as in `where`. */
  readonly where?: string | Condition | undefined;
  /** Least talk minutes. */
  readonly minMinutes?: number | undefined;
  /** Talk minutes below this. */
  readonly maxMinutes?: number | undefined;
  /** Pattern of the campaign name (`ppc_campaign`). */
  readonly campaign?: string | undefined;
  /** Pattern of the label of the dialed number (`phone_label`). */
  readonly label?: string | undefined;
  /** What a call is worth. */
  readonly value: number;
}

/** A rule table: the first rule that holds gives the value of a call. */
export interface WorthRules {
  /** The first rule that applies to a call gives its value. */
  readonly rules: readonly WorthRule[];
  /** Value when no rule holds. Without it such calls have no value, and the answer says how many there are. */
  readonly otherwise?: number | undefined;
}

/** Which calls to count, in which period. */
export interface CallSelection {
  /** First moment, `2026-10-01` or `2026-10-01 08:30:00`. Default: the first call. */
  readonly from?: string | undefined;
  /** End of the period: a date includes that day, a time ends the period just before it. Default: after the last call. */
  readonly to?: string | undefined;
  /** The IANA time zone that the times of the records are in. The API does not say it; only `inZone` needs it. */
  readonly timeZone?: string | undefined;
  /** Report in this time zone: `from`, `to` and groups by time are then in it. Needs `timeZone`. */
  readonly inZone?: string | undefined;
  /** Accounts to count. Default: all. */
  readonly accounts?: readonly string[] | undefined;
  /** Calls from visits of a website, calls through call extensions, or all. Default all. */
  readonly calls?: 'all' | 'website' | 'extensions' | undefined;
  /** A condition on any field, such as `talk_minutes >= 2 AND state IN ('TX', 'CA')`. */
  readonly where?: string | Condition | undefined;
  /**
   * A filter in the language of the API, as a v3 server would read it: without `inc_gce:1`, calls through call
   * extensions are left out unless `calls` is given.
   */
  readonly q?: string | undefined;
}

/** What ends a question early. */
export interface QuestionLimits {
  /** Ends the question. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds the question may take. Default 60,000. */
  readonly timeLimit?: number | undefined;
}

/** A question to the warehouse: which calls, grouped by what, what of each group, and which groups to show. */
export interface Question extends CallSelection, QuestionLimits {
  /** Up to four fields or derived ones, such as `ppc_campaign`, `day` or `caller_type`. Default: one group of all calls. */
  readonly groupBy?: readonly string[] | undefined;
  /** What to measure. Default `['calls']`. */
  readonly measures?: readonly Measure[] | undefined;
  /** A condition on the measures of a group, such as `calls >= 10 AND missed_rate > 0.2`. */
  readonly having?: string | undefined;
  /**
   * Columns to sort by, such as `calls desc, ppc_campaign`. Default: time in its order, otherwise most of the first
   * measure first.
   */
  readonly order?: string | undefined;
  /** Rows at most. The answer says how many groups there are. Default 1,000. */
  readonly limit?: number | undefined;
  /** Rows at most for each value of the first group, in the order of `order`. */
  readonly topPer?: number | undefined;
  /**
   * Another period to compare with: the one before it, the same a year earlier, or one of your own. Each measure then has
   * `..._before` and `..._change` next to it.
   */
  readonly compare?: 'previous' | 'year' | { readonly from: string; readonly to: string } | undefined;
  /**
   * What was spent on each value of the only group, by the text that answers show for it (`2026-05`, `Mon`, `8`, `true`): adds
   * `spend` and `cost_per_call`. Personal values are named as they are, whatever mask shows them.
   */
  readonly spend?: Readonly<Record<string, number>> | undefined;
  /** The rule table of the measure `value`. */
  readonly values?: WorthRules | undefined;
  /**
   * What to do with a group by personal data, such as `ani`: show it, or show what a function makes of it, such as a mask.
   * Without it such a question is refused.
   */
  readonly personal?: 'show' | ((field: string, value: string) => string) | undefined;
}

/** A value in an answer. */
export type AnswerValue = string | number | boolean | null;

/** A column of an answer. */
export interface AnswerColumn {
  /** The key of the column in each row. */
  readonly name: string;
  /** What the column holds: a group, a measure, the measure of the period before, or the change since then. */
  readonly kind: 'group' | 'measure' | 'before' | 'change';
  /** What the values count or measure. */
  readonly unit: 'value' | 'time' | 'calls' | 'callers' | 'minutes' | 'share' | 'money' | 'count';
  /** What the column says, in one sentence. */
  readonly meaning: string;
}

/** Why some calls or rows are not in an answer. */
export interface LeftOut {
  /** Why: a stable code. */
  readonly code:
    | 'no_time'
    | 'extensions'
    | 'website'
    | 'no_talk_minutes'
    | 'no_caller_number'
    | 'no_lag'
    | 'no_value'
    | 'groups'
    | 'empty_buckets'
    | 'spend_without_calls';
  /** How many calls, or rows for `groups`, or names for `spend_without_calls`. */
  readonly count: number;
  /** The same as a sentence. */
  readonly message: string;
}

/** How fresh an account is. */
export interface AccountStatus {
  /** Id of the account. */
  readonly account: string;
  /** How many of its calls are stored. */
  readonly calls: number;
  /** First and last time of a call, as the API wrote them. */
  readonly first: string | null;
  /** `date_added` of its latest call; null without calls. */
  readonly last: string | null;
  /** When calls were last stored, as an ISO instant. */
  readonly storedAt: string | null;
  /** When a sync last ran to its end, as an ISO instant. Null when none has yet, or when the calls came from files. */
  readonly syncedAt: string | null;
}

/** The answer to a question. */
export interface Answer {
  /** The columns of the rows, groups first. */
  readonly columns: readonly AnswerColumn[];
  /** One row for each group, by column name. */
  readonly rows: readonly Readonly<Record<string, AnswerValue>>[];
  /** The same measures over all calls that are counted, whatever rows are shown. */
  readonly total: Readonly<Record<string, AnswerValue>>;
  /** How many calls the answer covers. */
  readonly calls: number;
  /** How many groups there are, shown or not. */
  readonly groups: number;
  /** The period that was counted; null where it was left open. `timeZone` is null when nobody said which it is. */
  readonly period: {
    readonly from: string | null;
    readonly to: string | null;
    readonly timeZone: string | null;
  };
  /** The period the measures are compared with; null without `compare`. */
  readonly compared: { readonly from: string; readonly to: string } | null;
  /** The oldest last sync among the accounts counted, as an ISO instant: calls after it may be missing. */
  readonly asOf: string | null;
  /** The accounts that were read, each with its calls and its last sync. */
  readonly accounts: readonly AccountStatus[];
  /** What is not in the numbers, with how many calls and why. */
  readonly leftOut: readonly LeftOut[];
  /** What else a reader should know, one sentence each. */
  readonly notes: readonly string[];
}

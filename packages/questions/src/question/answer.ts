import type { Unmatched } from '../outcomes/match-outcomes.ts';

// What a question is answered with.

/** A value in an answer. */
export type AnswerValue = string | number | boolean | null;

/** A column of an answer. */
export interface AnswerColumn {
  /** The key of the column in each row. */
  readonly name: string;
  /**
   * What the column holds: a group, a measure, the measure of the period before, or the change
   * since then: as a difference, in percent, or as the difference of what there is a day.
   */
  readonly kind: 'group' | 'measure' | 'before' | 'change' | 'change_percent' | 'change_per_day';
  /** What the values count or measure. */
  readonly unit:
    | 'value'
    | 'time'
    | 'calls'
    | 'callers'
    | 'minutes'
    | 'share'
    | 'percent'
    | 'money'
    | 'count'
    | 'number';
  /** What the column says, in one sentence. */
  readonly meaning: string;
  /**
   * Of a measure and its change: whether more of it is better or worse. Null where nobody can say.
   */
  readonly better: 'more' | 'less' | null;
  /** Of a measure: the values of groups add up to that of all calls. */
  readonly addsUp: boolean;
}

/** Why some calls or rows are not in an answer. */
export interface LeftOut {
  /** Why: a stable code. */
  readonly code:
    | 'no_time'
    | 'excluded'
    | 'extensions'
    | 'website'
    | 'no_talk_minutes'
    | 'no_caller_number'
    | 'no_lag'
    | 'having'
    | 'top_per'
    | 'limit'
    | 'empty_buckets'
    | 'spend_outside'
    | 'outcomes';
  /**
   * How many calls, or groups for `having`, `top_per` and `limit`, or amounts for `spend_outside`,
   * or outcomes.
   */
  readonly count: number;
  /** The same as a sentence. */
  readonly message: string;
}

/** What else a reader of an answer should know. */
export interface Note {
  /** What it is about: a stable code. */
  readonly code:
    | 'no_time_zone'
    | 'local_clock'
    | 'unfinished'
    | 'part_compared'
    | 'per_day'
    | 'empty_days'
    | 'no_match'
    | 'missing_field'
    | 'no_value'
    | 'new_callers'
    | 'few_calls'
    | 'minutes'
    | 'first_call'
    | 'last_call'
    | 'not_synced'
    | 'spend'
    | 'spend_without_calls';
  /** The note as a sentence. */
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
  /** Where a copy begins that was filled from a time on, as the API writes times; else null. */
  readonly since: string | null;
  /** When calls were last stored, as an ISO instant. */
  readonly storedAt: string | null;
  /**
   * When a sync last ran to its end, as an ISO instant. Null when none has yet, or when the calls
   * came from files.
   */
  readonly syncedAt: string | null;
}

/** An outcome with its call, or why there is none. */
export interface FoundOutcome {
  /** The file and row that it is from. */
  readonly place: string;
  /** When it was, on the clock of the account; of a date alone the beginning of that day. */
  readonly time: string;
  /** What it was worth. */
  readonly value: number;
  /** The currency of that; null where the file names none. */
  readonly currency: string | null;
  /** The account of its call, which the next two are of; null where there is none. */
  readonly account: string | null;
  /** The session id of its call. */
  readonly sid: string | null;
  /** When the call was. */
  readonly date_added: string | null;
  /** Why it counts for no call; null where it does. */
  readonly why: Unmatched | 'cancelled' | null;
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
  /**
   * How many groups meet `having`, shown or not, empty buckets of time included. Those that do not
   * are counted in `leftOut`.
   */
  readonly groups: number;
  /**
   * How many calls through call extensions are counted, and how many are left out; both are 0 where
   * there are none.
   */
  readonly extensions: { readonly counted: number; readonly leftOut: number };
  /**
   * The period that was counted; null where it was left open. `timeZone` is null when nobody said
   * which it is.
   */
  readonly period: {
    readonly from: string | null;
    readonly to: string | null;
    readonly timeZone: string | null;
  };
  /**
   * The days in which calls are known, where they begin or end within the period: days, weeks and
   * months that lie partly beyond are no whole ones. Null where an end is that of the period.
   */
  readonly known: { readonly from: string | null; readonly to: string | null };
  /** The period the measures are compared with; null without `compare`. */
  readonly compared: { readonly from: string; readonly to: string } | null;
  /**
   * The oldest last sync among the accounts counted, as an ISO instant: calls after it may be
   * missing.
   */
  readonly asOf: string | null;
  /** The accounts that were read, each with its calls and its last sync. */
  readonly accounts: readonly AccountStatus[];
  /** What is not in the numbers, with how many calls and why. */
  readonly leftOut: readonly LeftOut[];
  /** What else a reader should know. */
  readonly notes: readonly Note[];
  /** The outcomes of a question that measures what calls became; otherwise empty. */
  readonly outcomes: readonly FoundOutcome[];
}

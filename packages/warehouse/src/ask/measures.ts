import type { AnswerColumn, LeftOut } from './answer.ts';
import type { MeasureName } from './question.ts';

/** How a measure is computed and shown. Percentiles are the value at rank `ceil(p * n)`: always one that occurs. */
export interface MeasureSpec {
  readonly meaning: string;
  readonly unit: AnswerColumn['unit'];
  /**
   * The aggregate over the calls of a group, or, with `perCaller`, over its callers: a row for each with its number of
   * calls as `n`. The columns of the calls are those of `base` in `compose.ts`.
   */
  readonly sql: string;
  readonly perCaller?: true;
  /** What a group without calls has. */
  readonly empty: 0 | null;
  readonly number: 'whole' | 'tenths' | 'float' | 'time';
  /** Calls that the measure cannot take into account: how to count them, and what to say about them. */
  readonly leaves?: LeftOut['code'];
}

// One expression for both: DuckDB then sorts the values once.
const talkQuantiles = 'quantile_disc(talk, [0.5, 0.9])';

/** All measures by name. */
export const measureSpecs: Readonly<Record<MeasureName, MeasureSpec>> = {
  calls: { meaning: 'Number of calls.', unit: 'calls', sql: 'count(*)', empty: 0, number: 'whole' },
  share: {
    meaning: 'Part of all counted calls, 0 to 1.',
    unit: 'share',
    sql: 'count(*)',
    empty: 0,
    number: 'float',
  },
  missed: {
    meaning: 'Calls that nobody answered: talk_minutes is 0.',
    unit: 'calls',
    sql: 'count(*) FILTER (WHERE talk = 0)',
    empty: 0,
    number: 'whole',
    leaves: 'no_talk_minutes',
  },
  missed_rate: {
    meaning: 'Part of the calls that nobody answered, 0 to 1.',
    unit: 'share',
    sql: 'count(*) FILTER (WHERE talk = 0) / nullif(count(talk), 0)',
    empty: null,
    number: 'float',
    leaves: 'no_talk_minutes',
  },
  talk_sum: {
    meaning: 'Sum of talk_minutes.',
    unit: 'minutes',
    sql: 'coalesce(sum(talk), 0)',
    empty: 0,
    number: 'tenths',
    leaves: 'no_talk_minutes',
  },
  talk_mean: {
    meaning: 'Mean of talk_minutes, missed calls included.',
    unit: 'minutes',
    sql: 'sum(talk)::DOUBLE / nullif(count(talk), 0)',
    empty: null,
    number: 'float',
    leaves: 'no_talk_minutes',
  },
  talk_median: {
    meaning: 'Median of talk_minutes, missed calls included; of two in the middle the smaller one.',
    unit: 'minutes',
    sql: `${talkQuantiles}[1]`,
    empty: null,
    number: 'tenths',
    leaves: 'no_talk_minutes',
  },
  talk_p90: {
    meaning: 'Talk minutes that nine in ten calls do not exceed, missed calls included.',
    unit: 'minutes',
    sql: `${talkQuantiles}[2]`,
    empty: null,
    number: 'tenths',
    leaves: 'no_talk_minutes',
  },
  callers: {
    meaning: 'Different callers, by the digits of their number.',
    unit: 'callers',
    sql: 'count(*)',
    perCaller: true,
    empty: 0,
    number: 'whole',
    leaves: 'no_caller_number',
  },
  repeat_callers: {
    meaning: 'Callers with more than one call in the group.',
    unit: 'callers',
    sql: 'count(*) FILTER (WHERE n > 1)',
    perCaller: true,
    empty: 0,
    number: 'whole',
    leaves: 'no_caller_number',
  },
  first_time_callers: {
    meaning: 'Callers whose first call to the account, of all that the warehouse holds, is in the group.',
    unit: 'callers',
    sql: 'count(*) FILTER (WHERE is_first)',
    empty: 0,
    number: 'whole',
    leaves: 'no_caller_number',
  },
  lag_median: {
    meaning: 'Median of the minutes from the first visit to the call.',
    unit: 'minutes',
    sql: 'quantile_disc(lag, 0.5) * 0.1',
    empty: null,
    number: 'tenths',
    leaves: 'no_lag',
  },
  first: {
    meaning: 'Time of the first call.',
    unit: 'time',
    sql: 'min(called)',
    empty: null,
    number: 'time',
  },
  last: { meaning: 'Time of the last call.', unit: 'time', sql: 'max(called)', empty: null, number: 'time' },
  value: {
    meaning: 'Sum of what the calls are worth by the rule table.',
    unit: 'money',
    sql: 'coalesce(sum(worth), 0)',
    empty: 0,
    number: 'float',
    leaves: 'no_value',
  },
};

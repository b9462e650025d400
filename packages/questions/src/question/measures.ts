import { formatNaive } from '@call-attribution/core/time';
import type { Condition } from '../conditions/condition.ts';
import type { AnswerColumn, AnswerValue, LeftOut } from './answer.ts';

/**
 * What is counted of the calls of a group. Measures are made of these; each engine counts them, and nothing else.
 * Talk is in tenths of a minute, times and the lag in milliseconds.
 */
export type Part =
  | { readonly kind: PlainPart }
  /** The value at rank `ceil(part / of * n)` of the tenths of talk. */
  | { readonly kind: 'talk_rank'; readonly part: number; readonly of: number }
  /** How many different values a field has, and how many calls have none. An empty one is none. */
  | { readonly kind: 'distinct' | 'without'; readonly field: string }
  /** Of how many calls a condition is true, and of how many it can be said. */
  | { readonly kind: 'holds' | 'judged'; readonly condition: Condition };

/** Parts that need nothing more to be said. */
export type PlainPart =
  | 'calls'
  | 'extensions'
  | 'talked'
  | 'missed'
  | 'talk_sum'
  | 'callers'
  | 'repeat_callers'
  | 'with_caller'
  | 'first_time'
  | 'with_lag'
  | 'lag_median'
  | 'first'
  | 'last';

/** What an engine counted of a part. */
export type PartValue = number | null;

/** How a measure is computed and shown. Percentiles are the value at rank `ceil(p * n)`: always one that occurs. */
export interface MeasureSpec {
  /** What it says of a group. */
  readonly meaning: string;
  /** Its unit. */
  readonly unit: AnswerColumn['unit'];
  /** What it is made of. */
  readonly parts: readonly Part[];
  /** Makes it of the values of its parts in a group, and in all groups of the period. */
  readonly value: (own: readonly PartValue[], whole: readonly PartValue[]) => AnswerValue;
  /** What a group without calls has. */
  readonly empty: 0 | null;
  /** What kind of number it is. */
  readonly number: 'whole' | 'tenths' | 'float' | 'time';
  /** Calls that the measure cannot take into account: why, and the part that counts those it can. */
  readonly leaves?: { readonly code: LeftOut['code']; readonly counted: Part };
}

const count = (value: PartValue | undefined): number => value ?? 0;
const ratio = (part: PartValue | undefined, of: PartValue | undefined): number | null =>
  count(of) === 0 ? null : count(part) / count(of);
const tenths = (value: PartValue | undefined): number | null =>
  value === null || value === undefined ? null : value / 10;
const timeText = (value: PartValue | undefined): string | null =>
  value === null || value === undefined ? null : shownMoment(value);

/** A naive time as answers show it: with a fraction of a second only where there is one. */
export function shownMoment(millis: number): string {
  const fraction = millis - Math.floor(millis / 1000) * 1000;
  return `${formatNaive(millis)}${fraction === 0 ? '' : `.${String(fraction).padStart(3, '0').replace(/0+$/, '')}`}`;
}

const calls: Part = { kind: 'calls' };
const talked: Part = { kind: 'talked' };
const talkLeaves = { code: 'no_talk_minutes', counted: talked } as const;
const callerLeaves = { code: 'no_caller_number', counted: { kind: 'with_caller' } } as const;
const counted = (kind: PlainPart, meaning: string, unit: AnswerColumn['unit']): MeasureSpec => ({
  meaning,
  unit,
  parts: [{ kind }],
  value: ([own]) => count(own),
  empty: 0,
  number: 'whole',
});

/** All measures that have a name of their own. */
export const measureSpecs = {
  calls: counted('calls', 'Number of calls.', 'calls'),
  share: {
    meaning: 'Part of all counted calls, 0 to 1.',
    unit: 'share',
    parts: [calls],
    value: ([own], [whole]) => ratio(own, whole),
    empty: 0,
    number: 'float',
  },
  missed: {
    ...counted('missed', 'Calls that nobody answered: talk_minutes is 0.', 'calls'),
    leaves: talkLeaves,
  },
  missed_rate: {
    meaning: 'Part of the calls that nobody answered, 0 to 1.',
    unit: 'share',
    parts: [{ kind: 'missed' }, talked],
    value: ([missed, all]) => ratio(missed, all),
    empty: null,
    number: 'float',
    leaves: talkLeaves,
  },
  talk_sum: {
    meaning: 'Sum of talk_minutes.',
    unit: 'minutes',
    parts: [{ kind: 'talk_sum' }],
    value: ([sum]) => count(sum) / 10,
    empty: 0,
    number: 'tenths',
    leaves: talkLeaves,
  },
  talk_mean: {
    meaning: 'Mean of talk_minutes, missed calls included.',
    unit: 'minutes',
    parts: [{ kind: 'talk_sum' }, talked],
    value: ([sum, all]) => (count(all) === 0 ? null : count(sum) / 10 / count(all)),
    empty: null,
    number: 'float',
    leaves: talkLeaves,
  },
  talk_median: {
    meaning: 'Median of talk_minutes, missed calls included; of two in the middle the smaller one.',
    unit: 'minutes',
    parts: [{ kind: 'talk_rank', part: 1, of: 2 }],
    value: ([value]) => tenths(value),
    empty: null,
    number: 'tenths',
    leaves: talkLeaves,
  },
  talk_p90: {
    meaning: 'Talk minutes that nine in ten calls do not exceed, missed calls included.',
    unit: 'minutes',
    parts: [{ kind: 'talk_rank', part: 9, of: 10 }],
    value: ([value]) => tenths(value),
    empty: null,
    number: 'tenths',
    leaves: talkLeaves,
  },
  callers: {
    ...counted('callers', 'Different callers, by the digits of their number.', 'callers'),
    leaves: callerLeaves,
  },
  repeat_callers: {
    ...counted('repeat_callers', 'Callers with more than one call in the group.', 'callers'),
    leaves: callerLeaves,
  },
  first_time_callers: {
    ...counted(
      'first_time',
      'Callers whose first call to the account, of all calls that are known, is in the group.',
      'callers',
    ),
    leaves: callerLeaves,
  },
  lag_median: {
    meaning: 'Median of the minutes from the first visit to the call, in tenths.',
    unit: 'minutes',
    parts: [{ kind: 'lag_median' }],
    value: ([lag]) => (lag === null || lag === undefined ? null : Math.floor((lag + 3000) / 6000) / 10),
    empty: null,
    number: 'tenths',
    leaves: { code: 'no_lag', counted: { kind: 'with_lag' } },
  },
  first: {
    meaning: 'Time of the first call.',
    unit: 'time',
    parts: [{ kind: 'first' }],
    value: ([time]) => timeText(time),
    empty: null,
    number: 'time',
  },
  last: {
    meaning: 'Time of the last call.',
    unit: 'time',
    parts: [{ kind: 'last' }],
    value: ([time]) => timeText(time),
    empty: null,
    number: 'time',
  },
} as const satisfies Readonly<Record<string, MeasureSpec>>;

/** A measure that has a name of its own. */
export type MeasureName = keyof typeof measureSpecs;

/** Names that people use for measures. */
export const otherMeasureNames: Readonly<Record<string, MeasureName>> = {
  call_count: 'calls',
  count: 'calls',
  missed_calls: 'missed',
  unanswered: 'missed',
  miss_rate: 'missed_rate',
  minutes: 'talk_sum',
  talk_minutes: 'talk_sum',
  talk_time: 'talk_sum',
  average_talk: 'talk_mean',
  mean_talk: 'talk_mean',
  median_talk: 'talk_median',
  unique_callers: 'callers',
  returning_callers: 'repeat_callers',
  new_callers: 'first_time_callers',
  first_call: 'first',
  last_call: 'last',
};

/** The number of different values of a field. */
export const distinctSpec = (field: string): MeasureSpec => ({
  meaning: `Number of different values of ${field}, an empty one not counted.`,
  unit: 'count',
  parts: [{ kind: 'distinct', field }],
  value: ([own]) => count(own),
  empty: 0,
  number: 'whole',
});

/** How many calls have no value of a field. */
export const withoutSpec = (field: string): MeasureSpec => ({
  meaning: `Calls in which ${field} is missing or empty.`,
  unit: 'calls',
  parts: [{ kind: 'without', field }],
  value: ([own]) => count(own),
  empty: 0,
  number: 'whole',
});

/** Of how many calls a condition is true. */
export const countSpec = (condition: Condition, text: string): MeasureSpec => ({
  meaning: `Calls of which it is true that ${text}.`,
  unit: 'calls',
  parts: [{ kind: 'holds', condition }],
  value: ([own]) => count(own),
  empty: 0,
  number: 'whole',
});

/** The part of the calls of which a condition is true, among those of which it can be said. */
export const shareSpec = (condition: Condition, text: string): MeasureSpec => ({
  meaning: `Part of the calls of which it is true that ${text}, among those of which it can be said, 0 to 1.`,
  unit: 'share',
  parts: [
    { kind: 'holds', condition },
    { kind: 'judged', condition },
  ],
  value: ([own, all]) => ratio(own, all),
  empty: null,
  number: 'float',
});

/** The part of the missed calls after which the caller called again in time. */
export function calledBackSpec(hours: string): MeasureSpec {
  const missed: Condition = { kind: 'flag', field: 'missed' };
  const again: Condition = {
    kind: 'compare',
    field: 'hours_until_next_call',
    operator: '<=',
    value: { type: 'number', text: hours },
  };
  const known: Condition = { kind: 'not', part: { kind: 'null', field: 'caller_nth' } };
  return {
    meaning: `Part of the missed calls with a caller number after which the caller called again within ${hours} hours, 0 to 1.`,
    unit: 'share',
    parts: [
      { kind: 'holds', condition: { kind: 'and', parts: [missed, again] } },
      { kind: 'holds', condition: { kind: 'and', parts: [missed, known] } },
    ],
    value: ([own, all]) => ratio(own, all),
    empty: null,
    number: 'float',
  };
}

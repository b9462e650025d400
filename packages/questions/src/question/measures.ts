import { formatNaive, minute } from '@call-attribution/core/time';
import type { Condition } from '../conditions/condition.ts';
import type { AnswerColumn, AnswerValue, LeftOut } from './answer.ts';

// The one table of measures. Help, completion, pages, assistants, charts, the documentation and the law of tests follow from it.

/**
 * What is counted of the calls of a group. Measures are made of these. Times are in milliseconds.
 */
export type Part =
  | { readonly kind: PlainPart }
  /**
   * The value at rank `ceil(part / of * n)` of a number field, in steps of which `scale` make 1: so the numbers are whole, and sums of
   * them exact.
   */
  | {
      readonly kind: 'rank';
      readonly field: string;
      readonly scale: number;
      readonly part: number;
      readonly of: number;
    }
  /** The sum of a number field, and how many calls have a number there. */
  | { readonly kind: 'sum' | 'known'; readonly field: string; readonly scale: number }
  /** How many different values a field has, and how many calls have none. An empty one is none. */
  | { readonly kind: 'distinct' | 'without'; readonly field: string }
  /** Of how many calls a condition is true. */
  | { readonly kind: 'holds'; readonly condition: Condition }
  /**
   * Missed calls with a caller number, at least so many hours before what is known ends; those after which the caller called again
   * within these hours; and those after which a call of the caller was answered within them.
   */
  | { readonly kind: 'followed' | 'called_again' | 'reached'; readonly hours: number };

/** Parts that need nothing more to be said. */
export type PlainPart =
  | 'calls'
  | 'extensions'
  | 'missed'
  | 'answered'
  | 'judged'
  | 'callers'
  | 'repeat_callers'
  | 'with_caller'
  | 'first_time'
  | 'first'
  | 'last';

/** What an engine counted of a part. */
export type PartValue = number | null;

/** What stands in the brackets of a measure, as far as the measure asks for it. */
export interface Argument {
  /** As it was written. */
  readonly text: string;
  /** The own name of the field. */
  readonly field: string;
  /** How many steps of a number field make 1. */
  readonly scale: number;
  /** The condition, checked. */
  readonly condition: Condition;
  /** The number of hours. */
  readonly hours: number;
}

/** A measure. Percentiles are the value at rank `ceil(p * n)`: always one that occurs. */
export interface Measure {
  /** Its name, and that of its column; a measure with an argument has that in its column too. */
  readonly name: string;
  /** What stands in its brackets: a field, a field that is a number and no id, a condition, or a number of hours. */
  readonly argument?: 'field' | 'number' | 'condition' | 'hours';
  /** What it says of a group, in a sentence; `{}` stands for the argument. */
  readonly meaning: string;
  /** Its unit. That of a number field is minutes where the name of the field says so. */
  readonly unit: AnswerColumn['unit'];
  /** What kind of number it is. */
  readonly number: 'whole' | 'tenths' | 'float' | 'time';
  /** Whether more of it is better or worse; null where nobody can say. */
  readonly better: 'more' | 'less' | null;
  /** The values of groups add up to that of all calls. */
  readonly addsUp: boolean;
  /** What a group without calls has. */
  readonly empty: 0 | null;
  /** What it is made of. */
  parts(argument: Argument): readonly Part[];
  /** Makes it of its parts in a group and in all calls of the period, of the days of the group, and of the steps of its field. */
  value(
    own: readonly PartValue[],
    whole: readonly PartValue[],
    days: number | null,
    scale: number,
  ): AnswerValue;
  /** Calls that it cannot take into account: why, and the part that counts those it can. */
  readonly leaves?: { readonly code: LeftOut['code']; readonly counted: Part };
}

type Value = Measure['value'];
const plain =
  (...kinds: PlainPart[]) =>
  (): readonly Part[] =>
    kinds.map((kind) => ({ kind }));
const count: Value = ([own]) => own ?? 0;
const ratio = (part: PartValue | undefined, of: PartValue | undefined, scale = 1): number | null =>
  of ? (part ?? 0) / scale / of : null;
const inSteps: Value = ([value = null], _whole, _days, scale) => (value === null ? null : value / scale);
const meanOf: Value = ([sum, known], _whole, _days, scale) => ratio(sum, known, scale);

/** A naive time as answers show it: with a fraction of a second only where there is one. */
export function shownMoment(millis: number): string {
  const fraction = millis - Math.floor(millis / 1000) * 1000;
  return `${formatNaive(millis)}${fraction === 0 ? '' : `.${String(fraction).padStart(3, '0').replace(/0+$/, '')}`}`;
}

const ofTalk = { field: 'talk_minutes', scale: 10 };
const ofLag = { field: 'lag_minutes', scale: minute };
const rank = (field: string, scale: number, part: number, of: number): readonly Part[] => [
  { kind: 'rank', field, scale, part, of },
];
const talkSum: Part = { kind: 'sum', ...ofTalk };
const talked: Part = { kind: 'known', ...ofTalk };

// What measures have in common: numbers of calls or callers, parts of a whole, minutes of talk, times, and what is made of a number.
const own = { better: null, addsUp: false, empty: null } as const;
const counted = { ...own, number: 'whole', empty: 0, value: count } as const;
const calls = { ...counted, unit: 'calls', addsUp: true } as const;
const leavesTalk = { leaves: { code: 'no_talk_minutes', counted: talked } } as const;
const leavesCallers = { leaves: { code: 'no_caller_number', counted: { kind: 'with_caller' } } } as const;
const callers = { ...counted, unit: 'callers', ...leavesCallers } as const;
const share = {
  ...own,
  unit: 'share',
  number: 'float',
  value: ([part, all]: readonly PartValue[]) => ratio(part, all),
} as const;
const rate = { ...share, ...leavesTalk } as const;
const talk = { ...own, unit: 'minutes', number: 'tenths', ...leavesTalk } as const;
const inTenths: Value = ([tenths = null]) => (tenths === null ? null : tenths / 10);
const shownAt: Value = ([at = null]) => (at === null ? null : shownMoment(at));
const time = { ...own, unit: 'time', number: 'time', value: shownAt } as const;
const ofNumber = { ...own, argument: 'number', unit: 'number', number: 'float', value: inSteps } as const;

const byMissed =
  'by all missed calls with a caller number that are at least {} h before the last sync, 0 to 1.';

/** All measures. */
export const measures: readonly Measure[] = [
  { ...calls, name: 'calls', meaning: 'Number of calls.', better: 'more', parts: plain('calls') },
  {
    ...{ ...share, name: 'share', addsUp: true, empty: 0 },
    meaning: 'Part of all counted calls, 0 to 1.',
    parts: plain('calls'),
    value: ([calls], [all]) => ratio(calls, all),
  },
  {
    ...{ ...counted, name: 'per_day', unit: 'number', number: 'float', better: 'more' },
    meaning: 'Calls by the days of the period, up to its end or now.',
    parts: plain('calls'),
    value: ([calls = null], _, days) => (days === null || days <= 0 ? null : (calls ?? 0) / days),
  },
  {
    ...{ ...calls, name: 'missed', better: 'less', ...leavesTalk, parts: plain('missed') },
    meaning: 'Calls that nobody answered: talk_minutes is 0.',
  },
  {
    ...{ ...calls, name: 'answered', better: 'more', ...leavesTalk, parts: plain('answered') },
    meaning: 'Calls that were answered: talk_minutes is above 0.',
  },
  {
    ...{ ...rate, name: 'missed_rate', better: 'less', parts: plain('missed', 'judged') },
    meaning: 'Missed calls by answered and missed calls, 0 to 1.',
  },
  {
    ...{ ...rate, name: 'answered_rate', better: 'more', parts: plain('answered', 'judged') },
    meaning: 'Answered calls by answered and missed calls, 0 to 1.',
  },
  {
    ...{ ...talk, name: 'talk_sum', addsUp: true, empty: 0, parts: () => [talkSum] },
    meaning: 'Sum of talk_minutes.',
    value: ([tenths]) => (tenths ?? 0) / 10,
  },
  {
    ...{ ...talk, name: 'talk_mean', number: 'float', parts: () => [talkSum, talked] },
    meaning: 'Mean of talk_minutes, missed calls included.',
    value: ([sum, known]) => ratio(sum, known, 10),
  },
  {
    ...{ ...talk, name: 'talk_median', parts: () => rank('talk_minutes', 10, 1, 2), value: inTenths },
    meaning: 'Median of talk_minutes, missed calls included; of two in the middle the smaller one.',
  },
  {
    ...{ ...talk, name: 'talk_p90', parts: () => rank('talk_minutes', 10, 9, 10), value: inTenths },
    meaning: 'Talk minutes that nine in ten calls do not exceed, missed calls included.',
  },
  {
    ...{ ...callers, name: 'callers', better: 'more', parts: plain('callers') },
    meaning: 'Different callers, by the digits of their number.',
  },
  {
    ...{ ...callers, name: 'repeat_callers', parts: plain('repeat_callers') },
    meaning: 'Callers with more than one call in the group.',
  },
  {
    ...{ ...callers, name: 'first_time_callers', better: 'more', parts: plain('first_time') },
    meaning: 'Callers whose first call to the account, of all calls that are known, is in the group.',
  },
  {
    ...{ ...own, name: 'lag_median', unit: 'minutes', number: 'tenths' },
    meaning: 'Median of the minutes from the first visit to the call, in tenths.',
    parts: () => rank('lag_minutes', minute, 1, 2),
    value: ([lag = null]) => (lag === null ? null : Math.floor((lag + 3000) / 6000) / 10),
    leaves: { code: 'no_lag', counted: { kind: 'known', ...ofLag } },
  },
  { ...time, name: 'first', meaning: 'Time of the first call.', parts: plain('first') },
  { ...time, name: 'last', meaning: 'Time of the last call.', parts: plain('last') },
  {
    ...{ ...counted, name: 'distinct', argument: 'field', unit: 'count' },
    meaning: 'Number of different values of {}, an empty one not counted.',
    parts: ({ field }) => [{ kind: 'distinct', field }],
  },
  {
    ...{ ...calls, name: 'without', argument: 'field' },
    meaning: 'Calls in which {} is missing or empty.',
    parts: ({ field }) => [{ kind: 'without', field }],
  },
  {
    ...{ ...calls, name: 'count', argument: 'condition' },
    meaning: 'Calls of which {} is true.',
    parts: ({ condition }) => [{ kind: 'holds', condition }],
  },
  {
    ...{ ...share, name: 'share', argument: 'condition' },
    meaning: 'Calls of which {} is true by all calls of the group, 0 to 1. What is unknown is not true.',
    parts: ({ condition }) => [{ kind: 'holds', condition }, { kind: 'calls' }],
  },
  {
    ...{ ...ofNumber, name: 'median', parts: ({ field, scale }) => rank(field, scale, 1, 2) },
    meaning: 'Median of {}; of two in the middle the smaller one.',
  },
  {
    ...{ ...ofNumber, name: 'mean', meaning: 'Mean of {}.', value: meanOf },
    parts: ({ field, scale }) => [
      { kind: 'sum', field, scale },
      { kind: 'known', field, scale },
    ],
  },
  {
    ...{ ...ofNumber, name: 'p90', parts: ({ field, scale }) => rank(field, scale, 9, 10) },
    meaning: 'What {} does not exceed in nine of ten calls.',
  },
  {
    ...{ ...share, name: 'called_again_within', argument: 'hours' },
    meaning: `Missed calls whose caller called again within {} h, ${byMissed}`,
    parts: ({ hours }) => [
      { kind: 'called_again', hours },
      { kind: 'followed', hours },
    ],
  },
  {
    ...{ ...share, name: 'reached_within', argument: 'hours', better: 'more' },
    meaning: `Missed calls whose caller had an answered call within {} h, ${byMissed}`,
    parts: ({ hours }) => [
      { kind: 'reached', hours },
      { kind: 'followed', hours },
    ],
  },
];

/** The columns that `spend` adds. */
export const spendColumns: readonly AnswerColumn[] = [
  {
    ...{ name: 'spend', kind: 'measure', unit: 'money', better: null, addsUp: true },
    meaning:
      'What was spent. The total is that of the groups with calls or spend that are found, shown or not.',
  },
  {
    ...{ name: 'cost_per_call', kind: 'measure', unit: 'money', better: 'less', addsUp: false },
    meaning: 'What was spent, per call. The total counts only the calls of groups with spend.',
  },
];

const words = { field: 'field', number: 'field', condition: 'condition', hours: 'hours' } as const;

/** How a measure is written: `calls`, `median(field)`. */
export const measureForm = ({ name, argument }: Measure): string =>
  argument === undefined ? name : `${name}(${words[argument]})`;

/** All measures as they are written, for a help text. */
export const measureForms: readonly string[] = measures.map(measureForm);

/** A measure by its name, with or without an argument. */
export const findMeasure = (name: string, hasArgument: boolean): Measure | undefined =>
  measures.find((each) => each.name === name && (each.argument !== undefined) === hasArgument);

/** What is known of a column of an answer by its name alone, such as `missed_rate_change` or `median_rank`; undefined for others. */
export function measureColumn(
  column: string,
): Pick<AnswerColumn, 'name' | 'kind' | 'unit' | 'better' | 'addsUp'> | undefined {
  const spent = spendColumns.find(({ name }) => name === column);
  if (spent !== undefined) return spent;
  const [, base = column, suffix] = /^(.*?)(?:_(before|change))?$/s.exec(column) ?? [];
  const kind = suffix === 'before' || suffix === 'change' ? suffix : 'measure';
  const measure = measures.find((each) => {
    if (each.argument === undefined) return each.name === base;
    return base.startsWith(each.argument === 'condition' ? `${each.name}(` : `${each.name}_`);
  });
  if (measure === undefined) return undefined;
  const { better, addsUp } = measure;
  return { name: column, kind, unit: unitOf(measure, base), better, addsUp };
}

/** The unit of a measure: of a number field it is minutes where the name of the field says so. */
export const unitOf = ({ unit }: Measure, field: string): AnswerColumn['unit'] =>
  unit === 'number' && field.endsWith('_minutes') ? 'minutes' : unit;

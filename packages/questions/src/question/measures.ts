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
  /** Names that people use for it. */
  readonly otherNames?: readonly string[];
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

const plain =
  (...kinds: PlainPart[]) =>
  (): readonly Part[] =>
    kinds.map((kind) => ({ kind }));
const count = (value: PartValue | undefined): number => value ?? 0;
const ratio = (part: PartValue | undefined, of: PartValue | undefined): number | null =>
  count(of) === 0 ? null : count(part) / count(of);
const scaled = (value: PartValue | undefined, scale: number): number | null =>
  value === null || value === undefined ? null : value / scale;
const timeText = (value: PartValue | undefined): string | null =>
  value === null || value === undefined ? null : shownMoment(value);

/** A naive time as answers show it: with a fraction of a second only where there is one. */
export function shownMoment(millis: number): string {
  const fraction = millis - Math.floor(millis / 1000) * 1000;
  return `${formatNaive(millis)}${fraction === 0 ? '' : `.${String(fraction).padStart(3, '0').replace(/0+$/, '')}`}`;
}

const [ofTalk, ofLag] = [
  { field: 'talk_minutes', scale: 10 },
  { field: 'lag_minutes', scale: minute },
];
const talked = { kind: 'known', ...ofTalk } as const;
const talkSum = { kind: 'sum', ...ofTalk } as const;
const noTalk = { code: 'no_talk_minutes', counted: talked } as const;
const noCaller = { code: 'no_caller_number', counted: { kind: 'with_caller' } } as const;
const plainKind = { better: null, addsUp: false, empty: null } as const;

/** Numbers of calls or callers, parts of a whole, minutes of talk, times, and what is made of a number field. */
const counted = {
  ...plainKind,
  number: 'whole',
  empty: 0,
  value: ([own]: readonly PartValue[]) => count(own),
} as const;
const calls = { ...counted, unit: 'calls', addsUp: true } as const;
const callers = { ...counted, unit: 'callers', leaves: noCaller } as const;
const part = {
  ...plainKind,
  unit: 'share',
  number: 'float',
  value: ([own, all]: readonly PartValue[]) => ratio(own, all),
} as const;
const talk = { ...plainKind, unit: 'minutes', leaves: noTalk } as const;
const time = {
  ...plainKind,
  unit: 'time',
  number: 'time',
  value: ([at]: readonly PartValue[]) => timeText(at),
} as const;
const field = { ...plainKind, argument: 'number', unit: 'number', number: 'float' } as const;
const ranked: Measure['value'] = ([value], _whole, _days, scale) => scaled(value, scale);

const byMissed =
  'by all missed calls with a caller number that are at least {} h before the last sync, 0 to 1.';

/** All measures. */
export const measures: readonly Measure[] = [
  {
    ...{ ...calls, name: 'calls', otherNames: ['call_count', 'count'], better: 'more' },
    meaning: 'Number of calls.',
    parts: plain('calls'),
  },
  {
    ...{ ...part, name: 'share', addsUp: true, empty: 0 },
    meaning: 'Part of all counted calls, 0 to 1.',
    parts: plain('calls'),
    value: ([own], [whole]) => ratio(own, whole),
  },
  {
    ...{
      ...counted,
      name: 'per_day',
      otherNames: ['calls_per_day'],
      unit: 'number',
      number: 'float',
      better: 'more',
    },
    meaning: 'Calls by the days of the period, up to its end or now.',
    parts: plain('calls'),
    value: ([own], _, days) => (days === null || days <= 0 ? null : count(own) / days),
  },
  {
    ...{
      ...calls,
      name: 'missed',
      otherNames: ['missed_calls', 'unanswered'],
      better: 'less',
      leaves: noTalk,
    },
    meaning: 'Calls that nobody answered: talk_minutes is 0.',
    parts: plain('missed'),
  },
  {
    ...{ ...calls, name: 'answered', otherNames: ['answered_calls'], better: 'more', leaves: noTalk },
    meaning: 'Calls that were answered: talk_minutes is above 0.',
    parts: plain('answered'),
  },
  {
    ...{ ...part, name: 'missed_rate', otherNames: ['miss_rate'], better: 'less', leaves: noTalk },
    meaning: 'Missed calls by answered and missed calls, 0 to 1.',
    parts: plain('missed', 'judged'),
  },
  {
    ...{ ...part, name: 'answered_rate', otherNames: ['answer_rate'], better: 'more', leaves: noTalk },
    meaning: 'Answered calls by answered and missed calls, 0 to 1.',
    parts: plain('answered', 'judged'),
  },
  {
    ...{ ...talk, name: 'talk_sum', number: 'tenths', addsUp: true, empty: 0 },
    otherNames: ['minutes', 'talk_minutes', 'talk_time'],
    meaning: 'Sum of talk_minutes.',
    parts: () => [talkSum],
    value: ([sum]) => count(sum) / 10,
  },
  {
    ...{ ...talk, name: 'talk_mean', otherNames: ['average_talk', 'mean_talk'], number: 'float' },
    meaning: 'Mean of talk_minutes, missed calls included.',
    parts: () => [talkSum, talked],
    value: ([sum, all]) => (count(all) === 0 ? null : count(sum) / 10 / count(all)),
  },
  {
    ...{ ...talk, name: 'talk_median', otherNames: ['median_talk'], number: 'tenths' },
    meaning: 'Median of talk_minutes, missed calls included; of two in the middle the smaller one.',
    parts: () => [{ kind: 'rank', ...ofTalk, part: 1, of: 2 }],
    value: ([value]) => scaled(value, 10),
  },
  {
    ...{ ...talk, name: 'talk_p90', number: 'tenths' },
    meaning: 'Talk minutes that nine in ten calls do not exceed, missed calls included.',
    parts: () => [{ kind: 'rank', ...ofTalk, part: 9, of: 10 }],
    value: ([value]) => scaled(value, 10),
  },
  {
    ...{ ...callers, name: 'callers', otherNames: ['unique_callers'], better: 'more' },
    meaning: 'Different callers, by the digits of their number.',
    parts: plain('callers'),
  },
  {
    ...{ ...callers, name: 'repeat_callers', otherNames: ['returning_callers'] },
    meaning: 'Callers with more than one call in the group.',
    parts: plain('repeat_callers'),
  },
  {
    ...{ ...callers, name: 'first_time_callers', otherNames: ['new_callers'], better: 'more' },
    meaning: 'Callers whose first call to the account, of all calls that are known, is in the group.',
    parts: plain('first_time'),
  },
  {
    ...{ ...plainKind, name: 'lag_median', unit: 'minutes', number: 'tenths' },
    meaning: 'Median of the minutes from the first visit to the call, in tenths.',
    parts: () => [{ kind: 'rank', ...ofLag, part: 1, of: 2 }],
    value: ([lag]) => (lag === null || lag === undefined ? null : Math.floor((lag + 3000) / 6000) / 10),
    leaves: { code: 'no_lag', counted: { kind: 'known', ...ofLag } },
  },
  {
    ...time,
    name: 'first',
    otherNames: ['first_call'],
    meaning: 'Time of the first call.',
    parts: plain('first'),
  },
  {
    ...time,
    name: 'last',
    otherNames: ['last_call'],
    meaning: 'Time of the last call.',
    parts: plain('last'),
  },
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
    ...{ ...part, name: 'share', argument: 'condition' },
    meaning: 'Calls of which {} is true by all calls of the group, 0 to 1. What is unknown is not true.',
    parts: ({ condition }) => [{ kind: 'holds', condition }, { kind: 'calls' }],
  },
  {
    ...{ ...field, name: 'median' },
    meaning: 'Median of {}; of two in the middle the smaller one.',
    parts: ({ field, scale }) => [{ kind: 'rank', field, scale, part: 1, of: 2 }],
    value: ranked,
  },
  {
    ...{ ...field, name: 'mean' },
    meaning: 'Mean of {}.',
    parts: ({ field, scale }) => [
      { kind: 'sum', field, scale },
      { kind: 'known', field, scale },
    ],
    value: ([sum, all], _, __, scale) => (count(all) === 0 ? null : count(sum) / scale / count(all)),
  },
  {
    ...{ ...field, name: 'p90' },
    meaning: 'What {} does not exceed in nine of ten calls.',
    parts: ({ field, scale }) => [{ kind: 'rank', field, scale, part: 9, of: 10 }],
    value: ranked,
  },
  {
    ...{ ...part, name: 'called_again_within', argument: 'hours' },
    meaning: `Missed calls whose caller called again within {} h, ${byMissed}`,
    parts: ({ hours }) => [
      { kind: 'called_again', hours },
      { kind: 'followed', hours },
    ],
  },
  {
    ...{ ...part, name: 'reached_within', argument: 'hours', better: 'more' },
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

/** A measure by any of its names, with or without an argument. */
export const findMeasure = (name: string, hasArgument: boolean): Measure | undefined =>
  measures.find(
    (each) =>
      (each.argument !== undefined) === hasArgument &&
      (each.name === name || each.otherNames?.includes(name) === true),
  );

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
const unitOf = ({ unit }: Measure, field: string): AnswerColumn['unit'] =>
  unit === 'number' && field.endsWith('_minutes') ? 'minutes' : unit;

/** A measure of a question. */
export interface MeasureSpec
  extends Pick<Measure, 'meaning' | 'unit' | 'number' | 'better' | 'addsUp' | 'empty' | 'leaves'> {
  /** What it is made of. */
  readonly parts: readonly Part[];
  /** Makes it of its parts in a group and in all calls of the period, and of the days of the group. */
  readonly value: (
    own: readonly PartValue[],
    whole: readonly PartValue[],
    days: number | null,
  ) => AnswerValue;
}

/** A measure with what stands in its brackets. */
export function specOf(measure: Measure, argument: Argument): MeasureSpec {
  const { meaning, number, better, addsUp, empty, leaves, value, parts } = measure;
  return {
    meaning: meaning.replaceAll('{}', () => argument.text),
    unit: unitOf(measure, argument.field),
    ...{ number, better, addsUp, empty },
    ...(leaves === undefined ? {} : { leaves }),
    parts: parts(argument),
    value: (own, whole, days) => value(own, whole, days, argument.scale),
  };
}

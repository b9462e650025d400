import { formatNaive, hour, minute } from '@call-attribution/core/time';
import type { Condition, Value } from '../conditions/condition.ts';
import { type Batch, valueSteps } from '../fields/batch.ts';
import type { AnswerColumn, AnswerValue, LeftOut } from './answer.ts';

// The one table of measures. Help, completion, pages, assistants, charts, the documentation and the
// law of tests follow from it.

/**
 * What is counted of the calls of a group. Measures are made of these; times are in milliseconds.
 */
export interface Part {
  /** Parts with one id share what they count, and differ in `result` at most. */
  readonly id: string;
  /**
   * What it is counted of: a field by its own name, or a condition. Null for the calls themselves.
   */
  readonly about: string | Condition | null;
  /**
   * What else has to be known of a call: the number of its caller, the calls of its caller before
   * it, all of them, or what became of it.
   */
  readonly needs: 'caller' | 'earlier' | 'all' | 'outcomes' | null;
  /**
   * What becomes of the values of calls: their sum, the least, the greatest, the one at rank
   * `ceil(rank[0] / rank[1] * n)`, or how many different ones occur at least so many `times`.
   */
  readonly result:
    | 'sum'
    | 'least'
    | 'greatest'
    | { readonly rank: readonly [number, number] }
    | { readonly times: number };
  /** What a call counts; `value` is what the field or the condition says of it. */
  of(value: Value, call: Batch): Value;
}

/** What an engine counted of a part. */
export type PartValue = number | null;

/** What stands in the brackets of a measure, as far as the measure asks for it. */
export interface Argument {
  /** The own name of the field. */
  field: string;
  /** How many steps of a number field make 1. */
  scale: number;
  /** The condition, checked. */
  condition: Condition;
  /** The number of hours. */
  hours: number;
}

/** A measure. Percentiles are the value at rank `ceil(p * n)`: always one that occurs. */
export interface Measure {
  /** Its name, and that of its column; a measure with an argument has that in its column too. */
  readonly name: string;
  /**
   * What stands in its brackets: a field, a field that is a number and no id, a condition, or a
   * number of hours.
   */
  readonly argument?: 'field' | 'number' | 'condition' | 'hours';
  /** What it says of a group, in a sentence; `{}` stands for the argument. */
  readonly meaning: string;
  /** Its unit. That of a number field is minutes where the name of the field says so. */
  readonly unit: AnswerColumn['unit'];
  /** Whether more of it is better or worse; null where nobody can say. */
  readonly better: 'more' | 'less' | null;
  /** The values of groups add up to that of all calls. */
  readonly addsUp: boolean;
}

/** A measure, and how it is counted. */
export interface CountedMeasure extends Measure {
  /** What a group without calls has. */
  readonly empty: 0 | null;
  /** How many steps of what is counted make 1; of a number field they are those of the field. */
  readonly scale: number;
  /** What it is made of. */
  parts(argument: Argument): readonly Part[];
  /**
   * Makes it of its parts in a group and in all calls of the period, of the days of the group, and
   * of the steps of its field.
   */
  value(
    own: readonly PartValue[],
    whole: readonly PartValue[],
    days: () => number | null,
    scale: number,
  ): AnswerValue;
  /** Its second part counts the calls that it is a part of, which are not all calls of the group. */
  readonly hasBase?: true;
  /** Calls that it cannot take into account: why, and the part that counts those it can. */
  readonly leaves?: { readonly code: LeftOut['code']; readonly counted: Part };
}

/** A naive time as answers show it: with a fraction of a second only where there is one. */
export function shownMoment(millis: number): string {
  const fraction = millis - Math.floor(millis / 1000) * 1000;
  return `${formatNaive(millis)}${fraction === 0 ? '' : `.${String(fraction).padStart(3, '0').replace(/0+$/, '')}`}`;
}

const part = (
  id: string,
  about: Part['about'],
  of: Part['of'],
  { needs = null, result = 'sum' }: Partial<Pick<Part, 'needs' | 'result'>> = {},
): Part => ({ id, about, of, needs, result });
const afterOthers = { needs: 'earlier' } as const;
const amongAll = { needs: 'all' } as const;

/** The calls of a group: the first part of every question. */
export const allCalls = part('calls', null, () => 1);
/** The times of the first and the last call. */
export const ends = [
  part('first', null, (_, { time }) => time, { result: 'least' }),
  part('last', null, (_, { time }) => time, { result: 'greatest' }),
] as const;
const missed = part('missed', 'talk_minutes', (talk) => Number(talk === 0));
const answered = part('answered', 'talk_minutes', (talk) =>
  Number(talk !== null && Number(talk) > 0),
);
const judged = part('judged', 'talk_minutes', (talk) => Number(talk !== null && Number(talk) >= 0));
const callersOf = (times: number): Part =>
  part('callers', null, (_, { caller }) => caller, { needs: 'caller', result: { times } });
const withCaller = part('with_caller', null, (_, { caller }) => Number(caller >= 0), {
  needs: 'caller',
});
const firstTime = part(
  'first_time',
  null,
  (_, { sequence }) => Number(sequence?.nth === 1),
  afterOthers,
);

// Of number fields whole numbers are counted, in steps of which `scale` make 1: so sums are exact.
const steps = (value: Value, scale: number): number | null =>
  typeof value === 'number' ? Math.round(value * scale) : null;
const sumOf = (field: string, scale: number): Part =>
  part(`sum ${field}`, field, (value) => steps(value, scale));
const knownOf = (field: string): Part =>
  part(`known ${field}`, field, (value) => Number(typeof value === 'number'));
const rankOf = (field: string, scale: number, ...rank: [number, number]): Part =>
  part(`rank ${field}`, field, (value) => steps(value, scale), { result: { rank } });
const withoutOf = (field: string): Part =>
  part(`without ${field}`, field, (value) => Number(value === null || value === ''));
/**
 * What was spent, in steps of which `valueSteps` make 1. No call says it: it is put in where the calls are counted, null
 * for a group of which nobody said.
 */
export const spentPart: Part = part('spent', null, () => null);
const distinctOf = (field: string): Part =>
  part(`distinct ${field}`, field, (value) => value, { result: { times: 1 } });
/** The calls of which a condition is true. */
export const holds = (condition: Condition): Part =>
  part(JSON.stringify(condition), condition, (value) => Number(value === true));

/**
 * Missed calls of which it is known whether their caller called again in time, or was reached; and
 * those of which it is so.
 */
const follows = (hours: number, until: 'untilEnd' | 'untilNext' | 'untilAnswered'): Part => {
  const within = hours * hour;

  const isSo: Part['of'] = (talk, { sequence }) => {
    const known = sequence?.untilEnd ?? null;
    const next = sequence?.[until] ?? null;
    if (talk !== 0 || known === null || known < within || next === null) return 0;
    return until === 'untilEnd' || next <= within ? 1 : 0;
  };

  return part(`${until} ${hours}`, 'talk_minutes', isSo, amongAll);
};

// What measures have in common: numbers of calls or callers, parts of a whole, minutes of talk,
// times, and what is made of a number.
type Make = CountedMeasure['value'];
const ratio = (some: PartValue | undefined, of: PartValue | undefined, scale = 1): number | null =>
  of ? (some ?? 0) / scale / of : null;
const scaled: Make = ([value = null], _whole, _days, scale) =>
  value === null ? null : value / scale;
const meanOf: Make = ([sum, known], _whole, _days, scale) => ratio(sum, known, scale);

const costOf: Make = ([amount = null, calls], _whole, _days, scale) =>
  amount === null || !calls ? null : amount / (scale * calls);

/** What measures of a kind have in common. */
type Kind = Omit<CountedMeasure, 'name' | 'meaning' | 'parts'>;

const countIn: Make = ([count]) => count ?? 0;
const shareOf: Make = ([some, all]) => ratio(some, all);
const shownAt: Make = ([at = null]) => (at === null ? null : shownMoment(at));

// biome-ignore format: one kind a line
const kinds = {
  calls: { unit: 'calls', better: null, addsUp: true, empty: 0, scale: 1, value: countIn },
  perDay: { unit: 'number', better: 'more', addsUp: false, empty: 0, scale: 1, value: countIn },
  callers: { unit: 'callers', better: null, addsUp: false, empty: 0, scale: 1, value: countIn },
  values: { unit: 'count', better: null, addsUp: false, empty: 0, scale: 1, value: countIn },
  share: { unit: 'share', better: null, addsUp: false, empty: null, scale: 1, value: shareOf },
  talk: { unit: 'minutes', better: null, addsUp: false, empty: null, scale: 10, value: scaled },
  lag: { unit: 'minutes', better: null, addsUp: false, empty: null, scale: 1, value: scaled },
  time: { unit: 'time', better: null, addsUp: false, empty: null, scale: 1, value: shownAt },
  money: { unit: 'money', better: 'more', addsUp: true, empty: 0, scale: valueSteps, value: scaled },
  number: { unit: 'number', better: null, addsUp: false, empty: null, scale: 1, value: scaled },
  cost: { unit: 'money', better: 'less', addsUp: false, empty: null, scale: valueSteps, value: costOf },
} satisfies Readonly<Record<string, Kind>>;

/** A measure: what is said here of its own holds, whatever those of its kind have in common. */
const measure = (
  kind: keyof typeof kinds,
  name: string,
  meaning: string,
  parts: CountedMeasure['parts'],
  its: Partial<Omit<CountedMeasure, 'name' | 'meaning' | 'parts'>> = {},
): CountedMeasure => ({ ...kinds[kind], ...its, name, meaning, parts });

const leaves = { code: 'no_talk_minutes', counted: knownOf('talk_minutes') } as const;
const leavesUnknown = { code: 'no_caller_number', counted: withCaller } as const;
const leavesLag = { code: 'no_lag', counted: knownOf('lag_minutes') } as const;
const perDay: Make = ([calls], _, daysOf) => ((daysOf() ?? 0) > 0 ? ratio(calls, daysOf()) : null);
const lagShown: Make = ([lag = null]) =>
  lag === null ? null : Math.floor((lag + 3000) / 6000) / 10;
const byMissed =
  'divided by all missed calls with a caller number that are at least {} h before the last sync, 0 to 1.';

/** All measures. */
// biome-ignore format: one measure a line
export const measures: readonly CountedMeasure[] = [
  measure('calls', 'calls', 'Number of calls.', () => [allCalls], { better: 'more' }),
  measure('share', 'share', 'Part of all counted calls, 0 to 1.', () => [allCalls], { addsUp: true, empty: 0, value: ([calls], [all]) => ratio(calls, all) }),
  measure('perDay', 'per_day', 'Calls divided by the days of the period, up to its end or now.', () => [allCalls], { value: perDay }),
  measure('calls', 'missed', 'Calls that nobody answered: talk_minutes is 0.', () => [missed], { better: 'less', leaves }),
  measure('calls', 'answered', 'Calls that were answered: talk_minutes is above 0.', () => [answered], { better: 'more', leaves }),
  measure('share', 'missed_rate', 'Missed calls divided by answered and missed calls, 0 to 1.', () => [missed, judged], { better: 'less', leaves }),
  measure('share', 'answered_rate', 'Answered calls divided by answered and missed calls, 0 to 1.', () => [answered, judged], { better: 'more', leaves }),
  measure('talk', 'talk_sum', 'Sum of talk_minutes.', () => [sumOf('talk_minutes', 10)], { addsUp: true, empty: 0, leaves }),
  measure('talk', 'talk_mean', 'Mean of talk_minutes, missed calls included.', () => [sumOf('talk_minutes', 10), knownOf('talk_minutes')], { value: meanOf, leaves }),
  measure('talk', 'talk_median', 'Median of talk_minutes, missed calls included; of two in the middle the smaller one.', () => [rankOf('talk_minutes', 10, 1, 2)], { leaves }),
  measure('talk', 'talk_p90', 'Talk minutes that nine in ten calls do not exceed, missed calls included.', () => [rankOf('talk_minutes', 10, 9, 10)], { leaves }),
  measure('callers', 'callers', 'Different callers, by the digits of their number.', () => [callersOf(1)], { better: 'more', leaves: leavesUnknown }),
  measure('callers', 'repeat_callers', 'Callers with more than one call in the group.', () => [callersOf(2)], { leaves: leavesUnknown }),
  measure('callers', 'first_time_callers', 'Callers whose first call to the account, of all calls that are known, is in the group.', () => [firstTime], { better: 'more', addsUp: true, leaves: leavesUnknown }),
  measure('lag', 'lag_median', 'Median of the minutes from the first visit to the call, in tenths.', () => [rankOf('lag_minutes', minute, 1, 2)], { value: lagShown, leaves: leavesLag }),
  measure('time', 'first', 'Time of the first call.', () => [ends[0]]),
  measure('time', 'last', 'Time of the last call.', () => [ends[1]]),
  measure('values', 'distinct', 'Number of different values of {}, an empty one not counted.', ({ field }) => [distinctOf(field)], { argument: 'field' }),
  measure('calls', 'without', 'Calls in which {} is missing or empty.', ({ field }) => [withoutOf(field)], { argument: 'field' }),
  measure('calls', 'count', 'Calls of which {} is true.', ({ condition }) => [holds(condition)], { argument: 'condition' }),
  measure('share', 'share', 'Calls of which {} is true, divided by all calls of the group, 0 to 1. What is unknown is not true.', ({ condition }) => [holds(condition), allCalls], { argument: 'condition' }),
  measure('number', 'median', 'Median of {}; of two in the middle the smaller one.', ({ field, scale }) => [rankOf(field, scale, 1, 2)], { argument: 'number' }),
  measure('number', 'mean', 'Mean of {}.', ({ field, scale }) => [sumOf(field, scale), knownOf(field)], { argument: 'number', value: meanOf }),
  measure('number', 'p90', 'What {} does not exceed in nine of ten calls.', ({ field, scale }) => [rankOf(field, scale, 9, 10)], { argument: 'number' }),
  measure('share', 'called_again_within', `Missed calls whose caller called again within {} h, ${byMissed}`, ({ hours }) => [follows(hours, 'untilNext'), follows(hours, 'untilEnd')], { argument: 'hours', hasBase: true }),
  measure('share', 'reached_within', `Missed calls whose caller had an answered call within {} h, ${byMissed}`, ({ hours }) => [follows(hours, 'untilAnswered'), follows(hours, 'untilEnd')], { argument: 'hours', hasBase: true, better: 'more' }),
];

const became = { needs: 'outcomes' } as const;
const outcomes = part('outcomes', null, (_, { sequence }) => sequence?.sold.outcomes ?? 0, became);
const revenue = part('revenue', null, (_, { sequence }) => sequence?.sold.revenue ?? 0, became);
const revenuePerCall: Make = ([sum, calls], _whole, _days, scale) => ratio(sum, calls, scale);

const returnOf: Make = ([sum, spent]) => ratio(sum, spent);

/** Measures of what calls became, for questions with `outcomes`. */
// biome-ignore format: one measure a line
export const outcomeMeasures: readonly CountedMeasure[] = [
  measure('values', 'outcomes', 'Outcomes, such as sales, that belong to the calls of the group.', () => [outcomes], { better: 'more', addsUp: true }),
  measure('money', 'revenue', 'Value of these outcomes.', () => [revenue]),
  measure('money', 'revenue_per_call', 'Value of these outcomes divided by the calls of the group.', () => [revenue, allCalls], { addsUp: false, empty: null, value: revenuePerCall }),
  measure('cost', 'cost_per_outcome', 'What was spent, per outcome. The total is that of the names that something was spent on.', () => [spentPart, outcomes]),
  measure('number', 'return_on_ad_spend', 'Value of the outcomes divided by what was spent. The total is that of the names that something was spent on.', () => [revenue, spentPart], { better: 'more', value: returnOf }),
];

/** Measures of what was spent, for questions with `spend`. */
// biome-ignore format: one measure a line
export const spendMeasures: readonly CountedMeasure[] = [
  measure('cost', 'spend', 'What was spent, whatever calls are counted.', () => [spentPart], { better: null, addsUp: true, value: scaled }),
  measure('cost', 'cost_per_call', 'What was spent, per call. The total is that of the names that something was spent on.', () => [spentPart, allCalls]),
  measure('cost', 'cost_per', 'What was spent, per call of which {} is true. The total is that of the names that something was spent on.', ({ condition }) => [spentPart, holds(condition)], { argument: 'condition' }),
];

/** Other names of measures. */
export const measureAliases: ReadonlyMap<string, string> = new Map([
  ['cost', 'spend'],
  ['roas', 'return_on_ad_spend'],
]);

/** How a measure is written: `calls`, `median(field)`. */
export function measureForm({ name, argument }: Measure): string {
  if (argument === undefined) return name;
  return `${name}(${argument === 'number' ? 'field' : argument})`;
}

/** All measures as they are written, for a help text. */
export const measureForms: readonly string[] = measures.map(measureForm);

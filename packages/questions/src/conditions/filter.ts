import {
  everything,
  formatNaive,
  intersect,
  type Period,
  parseNaive,
  periodOf,
  second,
  textOf,
} from '@call-attribution/core/time';
import {
  type Bound,
  type FilterInput,
  type RangeClause,
  toFilter,
} from '@call-attribution/query-dsl';
import { refuse } from '../errors.ts';
import { type Condition, type Literal, type Operator, quote } from './condition.ts';

/** What a filter of the API selects. */
export interface FilteredCalls {
  /** The stretch of time, on the clock of the records: every call where no range of dates is asked. */
  readonly period: Period;
  /** What else has to be true of a call; null for nothing. */
  readonly condition: Condition | null;
  /** Calls through call extensions are asked for: `inc_gce:1`. */
  readonly extensions: boolean;
}

/**
 * What a filter of the API selects: the one way from that language to periods and conditions.
 *
 * @example
 * selectedBy('talk_minutes:[2 TO *],inc_gce:1').extensions; // true
 */
export function selectedBy(filter: FilterInput): FilteredCalls {
  let period: Period = everything;
  let extensions = false;
  const parts: Condition[] = [];
  for (const clause of toFilter(filter).clauses) {
    if (clause.kind === 'flag') extensions = true;
    // Ranges that have nothing in common select nothing: an empty stretch does the same.
    else if (clause.field === 'date_added')
      period = intersect(period, datesOf(clause)) ?? periodOf(0, 0);
    else parts.push(...testsOf(clause));
  }

  return { period, condition: parts.length === 0 ? null : { kind: 'and', parts }, extensions };
}

/** The period of a range of dates. A filter on the date finds no call without one. */
const datesOf = ({ lower, upper }: RangeClause): Period =>
  periodOf(lower && momentAt(lower, !lower.inclusive), upper && momentAt(upper, upper.inclusive));

/** The moment of a bound, or that of the second after it: calls have times of whole seconds. */
const momentAt = (bound: Bound, isNext: boolean): number =>
  millisOf(bound.text) + (isNext ? second : 0);

function millisOf(text: string): number {
  const millis = text.length === 19 ? parseNaive(text) : Number.NaN;
  if (!Number.isNaN(millis)) return millis;
  throw refuse`A filter compares a time with ${JSON.stringify(text.slice(0, 40))}, which is no time YYYY-MM-DD HH:MM:SS.`;
}

/** The tests of a range of any other field. */
function testsOf({ field, lower, upper }: RangeClause): Condition[] {
  if (lower === null && upper === null) return [{ kind: 'not', part: { kind: 'null', field } }];
  const tests: Condition[] = [];
  if (lower !== null) tests.push(comparison(field, lower.inclusive ? '>=' : '>', lower));
  if (upper !== null) tests.push(comparison(field, upper.inclusive ? '<=' : '<', upper));
  return tests;
}

const comparison = (field: string, operator: Operator, bound: Bound): Condition => ({
  kind: 'compare',
  field,
  operator,
  value: literalOf(bound),
});

const literalOf = ({ text }: Bound): FilterBound =>
  text.includes(':')
    ? { type: 'time', millis: millisOf(text), isWholeDay: false }
    : { type: 'number', text };

/**
 * What a filter selects, as a condition is written; empty for every call. Call extensions are no
 * condition: `calls` says whether they are counted.
 *
 * @example
 * conditionText(selectedBy('talk_minutes:[2 TO 9}')); // talk_minutes >= 2 AND talk_minutes < 9
 */
export function conditionText({ period, condition }: FilteredCalls): string {
  const { from, to } = textOf(period);
  const parts: string[] = [];
  if (period.undated === 'without' && from === null && to === null)
    parts.push('date_added IS NOT NULL');
  if (from !== null) parts.push(`date_added >= ${quote(from)}`);
  if (to !== null) parts.push(`date_added < ${quote(to)}`);
  for (const { field, operator, value } of filterTests(condition))
    parts.push(value === null ? `${field} IS NOT NULL` : `${field} ${operator} ${shown(value)}`);
  return parts.join(' AND ');
}

const shown = (bound: FilterBound): string =>
  bound.type === 'time' ? quote(formatNaive(bound.millis)) : bound.text;

/** What a filter compares with. */
export type FilterBound = Extract<Literal, { type: 'number' | 'time' }>;

/** A test of the condition of a filter. */
export interface FilterTest {
  /** The field. */
  readonly field: string;
  /** How it is compared. */
  readonly operator: Operator;
  /** With what; null where the field only has to have a value. */
  readonly value: FilterBound | null;
}

/** The condition of a filter as the tests that all have to be true. */
export function filterTests(condition: Condition | null): readonly FilterTest[] {
  if (condition === null) return [];
  if ('parts' in condition) return condition.parts.flatMap(filterTests);
  if (condition.kind === 'compare') {
    const { field, operator, value } = condition;
    if (value.type === 'number' || value.type === 'time') return [{ field, operator, value }];
  }

  if (condition.kind === 'not' && condition.part.kind === 'null')
    return [{ field: condition.part.field, operator: '<>', value: null }];
  throw new TypeError(`A filter of the API has no condition of the kind ${condition.kind}.`);
}

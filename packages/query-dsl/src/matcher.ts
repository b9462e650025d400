import { isDate } from './bounds.ts';
import type { Bound, FilterInput } from './filter.ts';
import { intersect, type Range } from './ranges.ts';

/** How to recognize records of calls made through call extensions. */
export interface CallExtensions {
  /** The field that holds the channel: `channel`. */
  readonly channel: string;
  /** Whether a value of that field means a call extension. */
  isExtension(value: unknown): boolean;
}

/** How `matcher` treats calls made through call extensions. */
export interface MatcherOptions {
  /**
   * Do what v3 does: without `inc_gce:1` in the filter, records of call extensions do not match. If
   * this is left out,
   * `inc_gce:1` has no effect and channels are not looked at.
   */
  readonly callExtensions?: CallExtensions | undefined;
}

type Test = (record: Readonly<Record<string, unknown>>) => boolean;

/**
 * Compiles a filter to a predicate over records as the API sends them: decimal strings compare as
 * numbers, dates as strings, and null is never in a range. Ranges on one field are merged first, so
 * fifty clauses cost no more than three.
 *
 * @example
 * const matches = matcher(parse('talk_minutes:[2 TO *]'));
 * records.filter(matches);
 */
export function matcher(
  filter: FilterInput,
  options: MatcherOptions = {},
): (record: object) => boolean {
  const { ranges, flagged } = intersect(filter);
  const tests = ranges.map(toTest);
  const extensions = options.callExtensions;
  if (extensions !== undefined && !flagged)
    tests.push((record) => !extensions.isExtension(record[extensions.channel]));
  return (record) => {
    for (const test of tests) if (!test(record as Readonly<Record<string, unknown>>)) return false;
    return true;
  };
}

function toTest({ field, lower, upper }: Range): Test {
  const bound = lower ?? upper;
  if (bound === null) return (record) => record[field] !== null && record[field] !== undefined;
  return isDate(bound) ? dateTest(field, lower, upper) : decimalTest(field, lower, upper);
}

function dateTest(field: string, lower: Bound | null, upper: Bound | null): Test {
  const from = lower?.text ?? '';

  // Above every date.
  const to = upper?.text ?? '\uffff';
  const withFrom = lower?.inclusive !== false;
  const withTo = upper?.inclusive !== false;
  return (record) => {
    const value = record[field];
    if (typeof value !== 'string') return false;
    return (
      (value > from || (withFrom && value === from)) && (value < to || (withTo && value === to))
    );
  };
}

function decimalTest(field: string, lower: Bound | null, upper: Bound | null): Test {
  const from = lower === null ? Number.NEGATIVE_INFINITY : Number(lower.text);
  const to = upper === null ? Number.POSITIVE_INFINITY : Number(upper.text);
  const withFrom = lower?.inclusive !== false;
  const withTo = upper?.inclusive !== false;
  return (record) => {
    const value = toNumber(record[field]);
    return (
      (value > from || (withFrom && value === from)) && (value < to || (withTo && value === to))
    );
  };
}

const decimal = /^-?\d+(?:\.\d+)?$/;

// Number('') and Number(null) are 0, which would let empty values into ranges around 0.
function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && decimal.test(value) ? Number(value) : Number.NaN;
}

import type { Bound, FilterLike } from './filter.ts';
import { intersect, isDate, type Range } from './ranges.ts';

/** How the records of call extensions are told from the others. */
export interface CallExtensions {
  /** The field that holds the channel: `channel`. */
  readonly channel: string;
  isExtension(value: unknown): boolean;
}

/** Options of `matcher`. */
export interface MatcherOptions {
  /**
   * What v3 does: without `inc_gce:1` in the filter, records of call extensions do not match. Left out, `inc_gce:1` has
   * no effect and channels are not looked at.
   */
  readonly callExtensions?: CallExtensions | undefined;
}

type Test = (record: Readonly<Record<string, unknown>>) => boolean;

/**
 * Compiles a filter to a predicate over records in wire form: decimal strings compare as numbers, dates as text, and
 * null is never in a range. Ranges on one field are merged first, so fifty parts cost no more than three.
 */
export function matcher(filter: FilterLike, options: MatcherOptions = {}): (record: object) => boolean {
  return compile(filter, options) as (record: object) => boolean;
}

function compile(filter: FilterLike, options: MatcherOptions): Test {
  const { ranges, flagged } = intersect(filter);
  const tests = ranges.map(toTest);
  const extensions = options.callExtensions;
  if (extensions !== undefined && !flagged) {
    const { channel } = extensions;
    tests.push((record) => !extensions.isExtension(record[channel]));
  }
  const [first, second] = tests;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  if (tests.length === 2) return (record) => first(record) && second(record);
  return (record) => {
    for (const test of tests) if (!test(record)) return false;
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
  // Above every other text.
  const to = upper?.text ?? '\uffff';
  const withFrom = lower?.inclusive !== false;
  const withTo = upper?.inclusive !== false;
  return (record) => {
    const value = record[field];
    if (typeof value !== 'string') return false;
    return (value > from || (withFrom && value === from)) && (value < to || (withTo && value === to));
  };
}

function decimalTest(field: string, lower: Bound | null, upper: Bound | null): Test {
  const from = lower === null ? Number.NEGATIVE_INFINITY : Number(lower.text);
  const to = upper === null ? Number.POSITIVE_INFINITY : Number(upper.text);
  const withFrom = lower?.inclusive !== false;
  const withTo = upper?.inclusive !== false;
  return (record) => {
    const value = toNumber(record[field]);
    return (value > from || (withFrom && value === from)) && (value < to || (withTo && value === to));
  };
}

const decimal = /^-?\d+(?:\.\d+)?$/;

// Number('') and Number(null) are 0, which would let empty values into ranges around 0.
function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && decimal.test(value) ? Number(value) : Number.NaN;
}

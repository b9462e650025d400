import { type Bound, type FilterLike, filterOf } from './filter.ts';

/** The one range that all ranges on a field leave. */
export interface Range {
  readonly field: string;
  lower: Bound | null;
  upper: Bound | null;
}

/** Whether a bound is a date and not a number. */
export const isDate = (bound: Bound): boolean => bound.text[4] === '-';

/** Below 0, 0 or above 0 as the values of two bounds of one field compare. */
export function compare(left: Bound, right: Bound): number {
  const dates = isDate(left);
  if (dates !== isDate(right)) {
    throw new TypeError(`The bounds ${left.text} and ${right.text} on one field mix dates and numbers.`);
  }
  if (!dates) return Number(left.text) - Number(right.text);
  return left.text < right.text ? -1 : left.text > right.text ? 1 : 0;
}

const tighter = (old: Bound | null, bound: Bound | null, side: 1 | -1): Bound | null => {
  if (old === null || bound === null) return old ?? bound;
  const order = compare(bound, old) * side;
  return order > 0 || (order === 0 && !bound.inclusive) ? bound : old;
};

/** Intersects the ranges of each field, in the order in which fields first appear. */
export function intersect(filter: FilterLike): { ranges: Range[]; flagged: boolean } {
  const ranges = new Map<string, Range>();
  let flagged = false;
  for (const clause of filterOf(filter).clauses) {
    if (clause.kind === 'flag') flagged = true;
    else {
      const { field, lower, upper } = clause;
      const range = ranges.get(field) ?? { field, lower: null, upper: null };
      range.lower = tighter(range.lower, lower, 1);
      range.upper = tighter(range.upper, upper, -1);
      ranges.set(field, range);
    }
  }
  return { ranges: [...ranges.values()], flagged };
}

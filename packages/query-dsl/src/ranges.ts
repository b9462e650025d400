import { compare } from './bounds.ts';
import type { Bound, Clause, Filter, FilterInput } from './filter.ts';
import { toFilter } from './parse.ts';

/** The one range that all ranges on a field leave. */
export interface Range {
  readonly field: string;
  lower: Bound | null;
  upper: Bound | null;
}

/** Intersects the ranges of each field, in the order in which the fields first appear. */
export function intersect(filter: FilterInput): { ranges: Range[]; flagged: boolean } {
  const ranges = new Map<string, Range>();
  let flagged = false;
  for (const clause of toFilter(filter).clauses) {
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

function tighter(old: Bound | null, bound: Bound | null, side: 1 | -1): Bound | null {
  if (old === null || bound === null) return old ?? bound;
  const order = compare(bound, old) * side;
  return order > 0 || (order === 0 && !bound.inclusive) ? bound : old;
}

/**
 * A filter that matches the same records with at most one clause for each field. Ranges that have
 * nothing in common become one that matches nothing, such as `[3 TO 3}`.
 *
 * @example
 * printFilter(simplify(parse('talk_minutes:[1 TO 9],talk_minutes:{2 TO *]'))); // talk_minutes:{2
 * TO 9]
 */
export function simplify(filter: FilterInput): Filter {
  const { ranges, flagged } = intersect(filter);
  const clauses: Clause[] = ranges.map(({ field, lower, upper }) => {
    const empty = lower !== null && upper !== null && compare(lower, upper) > 0;
    return {
      kind: 'range',
      field,
      lower: lower && { text: lower.text, inclusive: empty || lower.inclusive },
      upper: empty
        ? { text: lower.text, inclusive: false }
        : upper && { text: upper.text, inclusive: upper.inclusive },
    };
  });
  if (flagged) clauses.push({ kind: 'flag', field: 'inc_gce' });
  return { clauses };
}

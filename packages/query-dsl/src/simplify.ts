import type { Clause, Filter, FilterLike } from './filter.ts';
import { compare, intersect } from './ranges.ts';

/**
 * A filter that matches the same records with at most one part for each field. Ranges that share nothing become one
 * that nothing matches, such as `[3 TO 3}`.
 */
export function simplify(filter: FilterLike): Filter {
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

import type { Bound, Filter } from './filter.ts';
import { shortest } from './shortest.ts';

const printBound = (bound: Bound | null): string => {
  const text = bound ? shortest(bound.text) : '*';
  // An edited tree must not be able to say more than one bound.
  if (/[^-\d.: *]/.test(text)) throw new TypeError(`Bad bound: ${text}`);
  return text;
};

/** The canonical text of a filter: no blanks around commas, `[` and `]` at open ends, numbers in their shortest form. */
export const print = (filter: Filter): string =>
  filter.clauses
    .map((clause) =>
      clause.kind === 'flag'
        ? 'inc_gce:1'
        : `${clause.field}:${clause.lower?.inclusive === false ? '{' : '['}${printBound(clause.lower)} TO ${printBound(clause.upper)}${clause.upper?.inclusive === false ? '}' : ']'}`,
    )
    .join(',');

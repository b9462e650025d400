import { shortest } from './decimal.ts';
import { type Bound, type FilterLike, filterOf } from './filter.ts';

const fieldPattern = /^[A-Za-z_]\w*$/;
const boundPattern = /^(?:-?\d+(?:\.\d+)?|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/;

const printBound = (bound: Bound | null, field: string): string => {
  if (bound === null) return '*';
  const { text } = bound;
  // An edited tree must not be able to say more than one bound.
  if (!boundPattern.test(text)) {
    throw new TypeError(
      `Cannot print the bound ${JSON.stringify(text)} of ${field}: give a number or YYYY-MM-DD HH:MM:SS.`,
    );
  }
  return text.length === 19 && text[4] === '-' ? text : shortest(text);
};

/** The canonical text of a filter: no blanks around commas, `[` and `]` at open ends, numbers in their shortest form. */
export function print(filter: FilterLike): string {
  let out = '';
  for (const clause of filterOf(filter).clauses) {
    if (out !== '') out += ',';
    if (clause.kind === 'flag') {
      out += 'inc_gce:1';
      continue;
    }
    const { field, lower, upper } = clause;
    if (!fieldPattern.test(field)) throw new TypeError(`Cannot print the field ${JSON.stringify(field)}.`);
    out += `${field}:${lower?.inclusive === false ? '{' : '['}${printBound(lower, field)} TO `;
    out += `${printBound(upper, field)}${upper?.inclusive === false ? '}' : ']'}`;
  }
  return out;
}

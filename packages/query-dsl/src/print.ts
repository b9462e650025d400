import { shortest } from './bounds.ts';
import { FilterArgumentError, FilterSyntaxError } from './errors.ts';
import type { Bound, FilterInput } from './filter.ts';
import { toFilter } from './parse.ts';
import { toProblem } from './problem.ts';

/**
 * The canonical text of a filter: no spaces around commas, `[` and `]` at open ends, numbers in
 * their shortest form.
 *
 * @example
 * printFilter(parse('talk_minutes:{* TO 05.0] , inc_gce:1')); // talk_minutes:[* TO 5],inc_gce:1
 */
export function printFilter(filter: FilterInput): string {
  return toFilter(filter)
    .clauses.map((clause) => {
      if (clause.kind === 'flag') return 'inc_gce:1';
      const { field, lower, upper } = clause;
      const open = lower?.inclusive === false ? '{' : '[';
      const close = upper?.inclusive === false ? '}' : ']';
      return `${field}:${open}${printBound(lower)} TO ${printBound(upper)}${close}`;
    })
    .join(',');
}

function printBound(bound: Bound | null): string {
  if (bound === null) return '*';
  const text = shortest(bound.text);

  // A tree edited by hand must not be able to say more than one bound.
  if (/[^-\d.: ]/.test(text)) {
    throw new FilterArgumentError(
      `The bound ${JSON.stringify(text.slice(0, 40))} is neither a number nor a date YYYY-MM-DD HH:MM:SS.`,
    );
  }

  return text;
}

/**
 * The filter as the value of the query parameter `q`, percent-encoded; a space is `%20`, never `+`.
 */
export function toQueryParam(filter: FilterInput): string {
  return encodeURIComponent(printFilter(filter));
}

/**
 * Decodes the value of the query parameter `q`, exactly once. A `+` becomes a space, as HTML forms
 * write it. Throws a
 * `FilterSyntaxError` for a string that is not percent-encoded UTF-8.
 *
 * @example
 * parse(fromQueryParam('talk_minutes%3A%5B2+TO+5%5D'));
 */
export function fromQueryParam(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    const start = Math.max(0, encoded.search(/%(?![\da-f]{2})/i));
    const sentence = 'This is not percent-encoded UTF-8. A percent sign is encoded as "%25".';
    throw new FilterSyntaxError(
      toProblem(encoded, { code: 'syntax', start, end: start + 1, expected: ['%25'], sentence }),
    );
  }
}

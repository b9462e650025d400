import { FilterSyntaxError } from './error.ts';
import { type FilterLike, filterOf } from './filter.ts';
import { print } from './print.ts';
import { type Problem, report } from './problem.ts';

/** The filter as the value of the query parameter `q`: a blank is `%20`, never `+`. */
export function toQueryParam(filter: FilterLike): string {
  return encodeURIComponent(print(filterOf(filter)));
}

/** Decodes the value of the query parameter `q`, exactly once. A `+` is a blank, as HTML forms write it. */
export function fromQueryParam(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    const problems: Problem[] = [];
    const start = Math.max(0, encoded.search(/%(?![\da-f]{2})/i));
    const message = 'This is not percent-encoded UTF-8.';
    report({ text: encoded, problems }, 'encoded', start, 1, ['%20'], undefined, message);
    throw new FilterSyntaxError(problems[0] as Problem);
  }
}

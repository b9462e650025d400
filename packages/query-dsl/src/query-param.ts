import type { FilterLike } from './filter.ts';
import { print } from './print.ts';

/** The filter as the value of the query parameter `q`: a blank is `%20`, never `+`. */
export function toQueryParam(filter: FilterLike): string {
  return encodeURIComponent(print(filter));
}

/** Decodes the value of the query parameter `q`, once. A `+` is a blank, as HTML forms write it. */
export function fromQueryParam(encoded: string): string {
  return encoded.replaceAll('+', ' ').replace(/(?:%[\da-f]{2})+/gi, (bytes) => decodeURIComponent(bytes));
}

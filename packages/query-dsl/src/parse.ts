import { FilterSyntaxError } from './error.ts';
import { type Filter, type FilterLike, filterOf } from './filter.ts';
import type { Problem } from './problem.ts';
import { type ParseOptions, read } from './read.ts';

/** Reads a filter, or throws a `FilterSyntaxError` that says where the text is wrong and how to mend it. */
export function parse(text: string, options: ParseOptions = {}): Filter {
  const filter = read(text, options);
  if (filter) return filter;
  const problems: Problem[] = [];
  read(text, options, problems);
  throw new FilterSyntaxError(problems[0] as Problem);
}

/** The filter behind a text, a tree or a builder. A text is parsed. */
export function toFilter(input: string | FilterLike, options?: ParseOptions): Filter {
  return typeof input === 'string' ? parse(input, options) : filterOf(input);
}
